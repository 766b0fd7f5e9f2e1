import { pluginsAtPoint } from '../framework/enabled-plugin.ts';
import { extensionPoints } from '../framework/extension-point.ts';
import { knownPlugins } from './known-plugin.ts';
import type { KnownPlugin } from './known-plugin.ts';
import type { SchedulerConfiguration } from './scheduler-configuration.ts';

/**
 * Describes what would run, one item per line: the profiles, and the plugins of each extension point in order, with weights in
 * parentheses. Points without plugins are omitted.
 */
export function describeConfiguration(
  { profiles }: Pick<SchedulerConfiguration, 'profiles'>,
  own: readonly KnownPlugin[] = [],
): readonly string[] {
  const known = knownPlugins(own);
  return profiles.flatMap(({ schedulerName, plugins, points = {} }) => {
    const weights = new Map([...plugins, ...(points.score?.enabled ?? [])].map(({ name, weight }) => [name, weight]));
    const lines = extensionPoints.flatMap((point) => {
      const names = pluginsAtPoint({
        everywhere: plugins.map(({ name }) => name),
        here: points[point],
        implementing: (name) => known.get(name)?.points?.includes(point) ?? false,
      });
      const shown = names.map((name) => (point === 'score' ? `${name}(${weights.get(name) ?? 1})` : name));
      return shown.length === 0 ? [] : [`  ${point}: ${shown.join(', ')}`];
    });
    return [`profile ${schedulerName}`, ...lines];
  });
}
