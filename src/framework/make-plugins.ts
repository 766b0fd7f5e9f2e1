import { pluginsAtPoint } from './enabled-plugin.ts';
import type { EnabledPlugin, PointsConfiguration } from './enabled-plugin.ts';
import { extensionPoints, implementsPoint } from './extension-point.ts';
import type { ExtensionPoint } from './extension-point.ts';
import { makePlugin } from './make-plugin.ts';
import type { Plugin, PluginFactory } from './plugin.ts';
import type { PluginHandle } from './plugin-handle.ts';
import { ProfileError } from './profile-error.ts';

/** plugin name -> its factory */
export type PluginRegistry = ReadonlyMap<string, PluginFactory>;

export interface ProfilePlugins {
  readonly schedulerName: string;
  /** Enabled at all their points, but for what `points` says. */
  readonly enabled: readonly EnabledPlugin[];
  readonly points?: PointsConfiguration;
  readonly registry: PluginRegistry;
  readonly handle: PluginHandle;
}

/** The plugins of a profile, one of each that is named anywhere. */
export interface MadePlugins {
  /** Those that have something to do, or no point of their own, in order. */
  readonly plugins: readonly Plugin[];
  /** point -> the plugins that run there, in order */
  readonly at: Readonly<Record<ExtensionPoint, readonly Plugin[]>>;
  /** plugin -> what its scores are multiplied by */
  readonly weights: ReadonlyMap<Plugin, number>;
}

/** Throws ProfileError, or another UserError that a plugin's factory throws. */
export function makePlugins(options: ProfilePlugins): MadePlugins {
  const { enabled, points = {} } = options;
  const instances = instantiate(options);
  const at = Object.fromEntries(
    extensionPoints.map((point) => [point, runningAt(point, instances, options)]),
  ) as unknown as MadePlugins['at'];
  const weights = new Map<Plugin, number>();
  for (const { name, weight = 1 } of [...enabled, ...(points.score?.enabled ?? [])]) {
    weights.set(instances.get(name)!, weight);
  }
  const plugins = [...instances.values()].filter((plugin) => {
    const own = extensionPoints.filter((point) => implementsPoint(plugin, point));
    return own.length === 0 || own.some((point) => at[point].includes(plugin));
  });
  return { plugins, at, weights };
}

/** configured name -> plugin, those that are enabled everywhere first */
function instantiate(options: ProfilePlugins): ReadonlyMap<string, Plugin> {
  const { schedulerName, enabled, points = {}, registry, handle } = options;
  const instances = new Map<string, Plugin>();
  const add = (list: readonly EnabledPlugin[], where: string): void => {
    const names = new Set<string>();
    for (const { name, weight = 1, args } of list) {
      if (names.has(name)) throw problem(schedulerName, `plugin ${name} is enabled twice${where}`);
      if (!(weight >= 1)) throw problem(schedulerName, `weight of ${name} must be at least 1, not ${weight}`);
      names.add(name);
      if (instances.has(name)) continue;
      const factory = registry.get(name);
      if (factory === undefined) {
        throw problem(schedulerName, `no plugin is called ${name}; known are ${[...registry.keys()].join(', ')}`);
      }
      instances.set(name, makePlugin(name, factory, args, handle));
    }
  };
  add(enabled, '');
  for (const point of extensionPoints) add(points[point]?.enabled ?? [], ` at ${point}`);
  return instances;
}

function runningAt(
  point: ExtensionPoint,
  instances: ReadonlyMap<string, Plugin>,
  { schedulerName, enabled, points = {} }: ProfilePlugins,
): readonly Plugin[] {
  const implementing = (name: string): boolean => implementsPoint(instances.get(name)!, point);
  const here = points[point];
  for (const { name } of here?.enabled ?? []) {
    if (implementing(name)) continue;
    const own = extensionPoints.filter((other) => implementsPoint(instances.get(name)!, other));
    const advice = `its points are ${own.join(', ') || 'none'}`;
    throw problem(schedulerName, `plugin ${name} has nothing to do at ${point}; ${advice}`);
  }
  const everywhere = enabled.map(({ name }) => name);
  return pluginsAtPoint({ everywhere, here, implementing }).map((name) => instances.get(name)!);
}

function problem(schedulerName: string, text: string): ProfileError {
  return new ProfileError(`profile ${schedulerName}: ${text}`);
}
