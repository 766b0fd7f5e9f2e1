import { pluginsAtPoint } from '../framework/enabled-plugin.ts';
import type { EnabledPlugin, PointPlugins, PointsConfiguration } from '../framework/enabled-plugin.ts';
import { extensionPoints } from '../framework/extension-point.ts';
import type { ExtensionPoint } from '../framework/extension-point.ts';
import type { FieldPath } from '../plugins/field-path.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import type { ConfigurationVersion } from './configuration-schema.ts';
import type { KnownPlugins } from './known-plugin.ts';
import { fieldOf } from './raw-value.ts';
import { readPluginConfig } from './read-plugin-config.ts';
import { readPluginSets, sortsByPriority } from './read-plugin-sets.ts';
import type { NamedPlugin, PluginSet, ProfileChecks, SetName } from './read-plugin-sets.ts';

/** The plugins of one profile: those of the file, combined with the defaults of its version. */
export interface ProfilePluginsReading {
  readonly plugins: readonly EnabledPlugin[];
  readonly points: PointsConfiguration;
  /** The queueSort plugin with its arguments; undefined if it is unknown, or if an error was reported. */
  readonly sorter: { readonly name: string; readonly args: unknown } | undefined;
}

/** Reads the plugins and the pluginConfig of the profile at `path`. It reports errors, and omits invalid plugins. */
export function readProfilePlugins(
  profile: unknown,
  path: FieldPath,
  version: ConfigurationVersion,
  checks: ProfileChecks,
): ProfilePluginsReading {
  const { known } = checks;
  const sets = readPluginSets(fieldOf(profile, 'plugins'), [...path, 'plugins'], checks);
  const config = readPluginConfig(fieldOf(profile, 'pluginConfig'), [...path, 'pluginConfig'], checks);
  const { multiPoint, points } = version === 'v1beta2' ? mergeEachPoint(sets, known) : mergeMultiPoint(sets, known);
  const withArgs = (plugin: NamedPlugin, counts: boolean): EnabledPlugin => {
    const args = config.args.get(plugin.name);
    return { name: plugin.name, ...(counts && { weight: plugin.weight }), ...(args !== undefined && { args }) };
  };
  const plugins = multiPoint.map((plugin) => withArgs(plugin, true));
  const named = Object.fromEntries(
    extensionPoints.flatMap((point): [ExtensionPoint, PointPlugins][] => {
      const { enabled, disabled } = points[point];
      if (enabled.length === 0 && disabled.length === 0) return [];
      const here = {
        ...(enabled.length > 0 && { enabled: enabled.map((plugin) => withArgs(plugin, point === 'score')) }),
        ...(disabled.length > 0 && { disabled }),
      };
      return [[point, here]];
    }),
  );
  const running = (point: ExtensionPoint): readonly string[] =>
    pluginsAtPoint({
      everywhere: plugins.map(({ name }) => name),
      here: named[point],
      implementing: (name) => known.get(name)?.points?.includes(point) === true,
    });
  // A plugin of the caller may implement any point, unless that is disabled.
  const mayHave = (point: ExtensionPoint): boolean =>
    plugins.some(({ name }) => known.get(name)?.points === undefined) && named[point]?.disabled?.includes('*') !== true;
  const enabledSomewhere = new Set([
    ...plugins.map(({ name }) => name),
    ...Object.values(named).flatMap(({ enabled = [] }) => enabled.map(({ name }) => name)),
  ]);
  for (const [name, place] of config.places) {
    if (!known.has(name) || enabledSomewhere.has(name)) continue;
    checks.warn([...place, 'name'], `has no effect: ${name} is not enabled in this profile`);
  }
  if (running('bind').length === 0 && !mayHave('bind')) {
    checks.report([...path, 'plugins', 'bind'], 'must leave at least one bind plugin: enable DefaultBinder');
  }
  const sorters = running('queueSort');
  if (sorters.length > 1 || (sorters.length === 0 && !mayHave('queueSort'))) {
    const found = sorters.length === 0 ? 'none: enable PrioritySort' : `${sorters.join(' and ')}: disable all but one`;
    checks.report([...path, 'plugins', 'queueSort'], `must leave exactly one queueSort plugin, not ${found}`);
  }
  const [sorter] = sorters;
  const isCertain = sorters.length === 1 && sorter !== undefined;
  return { plugins, points: named, sorter: isCertain ? { name: sorter, args: config.args.get(sorter) } : undefined };
}

interface MergedSets {
  readonly multiPoint: readonly NamedPlugin[];
  readonly points: Readonly<Record<ExtensionPoint, PluginSet>>;
}

/** For v1 and v1beta3: the defaults are enabled at all their points. */
function mergeMultiPoint(sets: Readonly<Record<SetName, PluginSet>>, known: KnownPlugins): MergedSets {
  const multiPoint = merge(
    defaultPlugins.map(({ name, weight = 1 }) => ({ name, weight })),
    sets.multiPoint,
  );
  return { multiPoint, points: { ...sets, queueSort: withPrioritySort(sets, multiPoint, known) } };
}

/** plugin -> its weight in v1beta2, if not 1 */
const oldWeights: ReadonlyMap<string, number> = new Map([['PodTopologySpread', 2]]);

/** For v1beta2: each point has its own defaults, and there is no multiPoint. */
function mergeEachPoint(sets: Readonly<Record<SetName, PluginSet>>, known: KnownPlugins): MergedSets {
  const points = Object.fromEntries(
    extensionPoints.map((point) => {
      const defaults = defaultPlugins
        .filter(({ points }) => points.includes(point))
        .map(({ name }) => ({ name, weight: oldWeights.get(name) ?? 1 }));
      const set = point === 'queueSort' ? prioritySortFor(sets.queueSort, known) : sets[point];
      return [point, { enabled: merge(defaults, set), disabled: [] }];
    }),
  ) as unknown as MergedSets['points'];
  return { multiPoint: [], points };
}

/**
 * Combines enabled plugins with the defaults as kube-scheduler does: a default that is enabled again keeps its position and gets
 * the new weight; the others follow.
 */
function merge(defaults: readonly NamedPlugin[], { enabled, disabled }: PluginSet): readonly NamedPlugin[] {
  const kept = disabled.includes('*') ? [] : defaults.filter(({ name }) => !disabled.includes(name));
  const isKept = (name: string): boolean => kept.some((plugin) => plugin.name === name);
  return [
    ...kept.map((plugin) => enabled.find(({ name }) => name === plugin.name) ?? plugin),
    ...enabled.filter(({ name }) => !isKept(name)),
  ];
}

/** Replaces Coscheduling with PrioritySort as the queueSort plugin. */
function prioritySortFor({ enabled, disabled }: PluginSet, known: KnownPlugins): PluginSet {
  if (!sortsByPriority(known.get('Coscheduling')!, 'queueSort')) return { enabled, disabled };
  const names = new Set(enabled.map(({ name }) => (name === 'Coscheduling' ? 'PrioritySort' : name)));
  return { enabled: [...names].map((name) => ({ name, weight: 1 })), disabled };
}

/** Does the same, also for a profile that enables Coscheduling at all its points and disables PrioritySort. */
function withPrioritySort(
  sets: Readonly<Record<SetName, PluginSet>>,
  multiPoint: readonly NamedPlugin[],
  known: KnownPlugins,
): PluginSet {
  const { enabled, disabled } = prioritySortFor(sets.queueSort, known);
  if (!sortsByPriority(known.get('Coscheduling')!, 'queueSort')) return { enabled, disabled };
  const isWanted = sets.multiPoint.enabled.some(({ name }) => name === 'Coscheduling');
  const isPrevented = disabled.includes('*') || disabled.includes('Coscheduling');
  const sorts = [...multiPoint, ...enabled].some(({ name }) => known.get(name)?.points?.includes('queueSort'));
  if (!isWanted || isPrevented || sorts) return { enabled, disabled };
  return { enabled: [...enabled, { name: 'PrioritySort', weight: 1 }], disabled };
}
