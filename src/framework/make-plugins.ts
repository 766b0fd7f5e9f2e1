import { pluginsAtPoint } from './enabled-plugin.ts';
import type { EnabledPlugin, PointsConfiguration } from './enabled-plugin.ts';
import { extensionPoints, implementsPoint } from './extension-point.ts';
import type { ExtensionPoint } from './extension-point.ts';
import { makePlugin } from './make-plugin.ts';
import type { Plugin, PluginFactory } from './plugin.ts';
import type { PluginHandle } from './plugin-handle.ts';
import { ProfileProblems } from './profile-error.ts';

/** plugin name -> its factory */
export type PluginRegistry = ReadonlyMap<string, PluginFactory>;

export interface ProfilePlugins {
  readonly schedulerName: string;
  /** Plugins enabled at all their points, except where `points` differs. */
  readonly enabled: readonly EnabledPlugin[];
  readonly points?: PointsConfiguration;
  readonly registry: PluginRegistry;
  readonly handle: PluginHandle;
}

/** The plugins of a profile, with one instance per name. */
export interface MadePlugins {
  /** Plugins that run at some point, or that implement no point, in order. */
  readonly plugins: readonly Plugin[];
  /** point -> the plugins that run there, in order */
  readonly at: Readonly<Record<ExtensionPoint, readonly Plugin[]>>;
  /** plugin -> weight of its scores */
  readonly weights: ReadonlyMap<Plugin, number>;
}

/** Creates the plugins of a profile. Throws a ProfileError with all problems. */
export function makePlugins(options: ProfilePlugins): MadePlugins {
  const { enabled, points = {} } = options;
  const problems = new ProfileProblems();
  const instances = instantiate(options, problems);
  const at = Object.fromEntries(
    extensionPoints.map((point) => [point, runningAt(point, instances, options, problems)]),
  ) as unknown as MadePlugins['at'];
  problems.throwAny();
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

/** Returns configured name -> plugin, those enabled at all points first, without plugins whose creation failed. */
function instantiate(options: ProfilePlugins, problems: ProfileProblems): ReadonlyMap<string, Plugin> {
  const { schedulerName, enabled, points = {}, registry, handle } = options;
  const instances = new Map<string, Plugin>();
  /** Names of plugins that were created or whose creation failed. */
  const tried = new Set<string>();
  const add = (list: readonly EnabledPlugin[], point?: ExtensionPoint): void => {
    const names = new Set<string>();
    for (const { name, weight = 1, args } of list) {
      const reject = (text: string): void =>
        problems.add({ schedulerName, text, plugin: name, ...(point !== undefined && { point }) });
      const where = point === undefined ? '' : ` at ${point}`;
      if (names.has(name)) reject(`plugin ${name} is enabled twice${where}`);
      if (!(weight >= 1)) reject(`weight of ${name} must be at least 1, not ${weight}`);
      names.add(name);
      if (tried.has(name)) continue;
      tried.add(name);
      const factory = registry.get(name);
      if (factory === undefined) {
        reject(`unknown plugin ${name}; known plugins: ${[...registry.keys()].join(', ')}`);
        continue;
      }
      const made = problems.collect(() => makePlugin(name, factory, args, handle));
      if (made !== undefined) instances.set(name, made);
    }
  };
  add(enabled);
  for (const point of extensionPoints) add(points[point]?.enabled ?? [], point);
  return instances;
}

function runningAt(
  point: ExtensionPoint,
  instances: ReadonlyMap<string, Plugin>,
  { schedulerName, enabled, points = {} }: ProfilePlugins,
  problems: ProfileProblems,
): readonly Plugin[] {
  const implementing = (name: string): boolean => {
    const plugin = instances.get(name);
    return plugin !== undefined && implementsPoint(plugin, point);
  };
  const here = points[point];
  for (const { name } of here?.enabled ?? []) {
    const plugin = instances.get(name);
    if (plugin === undefined || implementsPoint(plugin, point)) continue;
    const own = extensionPoints.filter((other) => implementsPoint(plugin, other));
    const advice = `it implements ${own.join(', ') || 'no extension point'}`;
    problems.add({
      schedulerName,
      text: `plugin ${name} does not implement ${point}; ${advice}`,
      plugin: name,
      point,
    });
  }
  const everywhere = enabled.map(({ name }) => name);
  return pluginsAtPoint({ everywhere, here, implementing }).flatMap((name) => instances.get(name) ?? []);
}
