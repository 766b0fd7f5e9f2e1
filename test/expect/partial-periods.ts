import { podGroupMembershipOf } from '../../src/api/pod-group-membership.ts';
import type { Change } from './recording.ts';
import type { WatchedPod } from './watched.ts';

/** A period in which a group had some members bound, but fewer than it needs. Times as in Change. */
export interface PartialPeriod {
  /** The group's key; see `groupKeyOf`. */
  readonly group: string;
  readonly from: number;
  readonly to: number;
  /** Maximum number of members bound in it. */
  readonly most: number;
}

/**
 * Returns the periods of the groups of one namespace that need `minMember` members each, in the order in which they ended. An unfinished
 * period ends at `until`.
 */
export function partialPeriods(
  changes: readonly Change<WatchedPod>[],
  { namespace, minMember, until }: { readonly namespace: string; readonly minMember: number; readonly until: number },
): PartialPeriod[] {
  /** group -> names of its bound members */
  const bound = new Map<string, Set<string>>();
  /** group -> its current period */
  const open = new Map<string, { readonly from: number; most: number }>();
  const periods: PartialPeriod[] = [];
  for (const { at, type, object } of changes) {
    const { metadata, spec } = object;
    const { namespace: of, labels, annotations } = metadata;
    const group = podGroupMembershipOf({
      namespace: of,
      labels,
      annotations,
      schedulingGroup: spec.schedulingGroup,
    })?.key;
    if (metadata.namespace !== namespace || group === undefined || at > until) continue;
    const members = bound.get(group) ?? new Set();
    bound.set(group, members);
    if (type !== 'DELETED' && (spec.nodeName ?? '') !== '') members.add(metadata.name);
    else members.delete(metadata.name);
    const period = open.get(group);
    if (members.size > 0 && members.size < minMember) {
      if (period === undefined) open.set(group, { from: at, most: members.size });
      else period.most = Math.max(period.most, members.size);
    } else if (period !== undefined) {
      open.delete(group);
      periods.push({ group, ...period, to: at });
    }
  }
  for (const [group, period] of open) periods.push({ group, ...period, to: until });
  return periods;
}

/** Returns the sum over all groups in seconds. */
export function partialSeconds(periods: readonly PartialPeriod[]): number {
  return periods.reduce((sum, { from, to }) => sum + to - from, 0) / 1000;
}
