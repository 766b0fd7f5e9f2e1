import { formatDuration } from '../base/format-duration.ts';
import { pluginsAtPoint } from '../framework/enabled-plugin.ts';
import { extensionPoints } from '../framework/extension-point.ts';
import { knownPlugins } from './known-plugin.ts';
import type { KnownPlugin } from './known-plugin.ts';
import type { ReservationsConfiguration, SchedulerConfiguration } from './scheduler-configuration.ts';

/**
 * Describes what would run, one item per line: the profiles, the plugins of each extension point in order, with weights in parentheses,
 * and reservations. Points without plugins are omitted, and so are reservations that are off.
 */
export function describeConfiguration(
  { profiles }: Pick<SchedulerConfiguration, 'profiles'>,
  own: readonly KnownPlugin[] = [],
): readonly string[] {
  const known = knownPlugins(own);
  return profiles.flatMap(({ schedulerName, plugins, points = {}, reservations }) => {
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
    return [`profile ${schedulerName}`, ...lines, ...(reservations === undefined ? [] : [described(reservations)])];
  });
}

function described({ poolLabel, reserveAfterMs, drainAfterMs, overrunPenaltyMs }: ReservationsConfiguration): string {
  const pools = poolLabel === undefined ? 'one pool' : `pools by ${poolLabel}`;
  const [reserve, drain, penalty] = [reserveAfterMs, drainAfterMs, overrunPenaltyMs].map(formatDuration);
  return `  reservations: ${pools}, after ${reserve}, draining after ${drain}, overrun penalty ${penalty}`;
}
