import type { Pod } from '../../../api/pod.ts';
import type { EvictionUnit } from '../../../framework/preemption-policy.ts';
import type { EvictablePod } from './evictable-pod.ts';

/**
 * Orders pods by importance, as they are put back: priority, whether it would take the whole gang to evict the pod, whether the pod belongs to a
 * DaemonSet (its replacement can run nowhere else), the earlier start, uid. The least important goes first. The annotation pod-deletion-cost
 * only orders the members of a gang among themselves: otherwise it would protect a user's pods at the cost of others.
 */
export function mostImportantFirst(a: EvictablePod, b: EvictablePod): number {
  const priorities = priorityOf(b) - priorityOf(a);
  if (priorities !== 0) return priorities;
  if (a.isSpare !== b.isSpare) return a.isSpare ? 1 : -1;
  const daemons = isOfDaemonSet(b.pod) - isOfDaemonSet(a.pod);
  if (daemons !== 0) return daemons;
  const [sinceA, sinceB] = [startIn(a), startIn(b)];
  if (sinceA !== sinceB) return sinceA < sinceB ? -1 : 1;
  if (a.unit === b.unit) return -leastImportantFirst(a.pod, b.pod);
  return idOf(a.unit) < idOf(b.unit) ? -1 : 1;
}

/**
 * Returns the starts to compare the pods of a gang by, if their deletion costs differ: its own starts, in the order in which its pods go.
 * `pods`: the least important first.
 */
export function startsByCost(pods: readonly Pod[]): ReadonlyMap<Pod, number> | undefined {
  if (pods.every(({ deletionCost }) => deletionCost === pods[0]!.deletionCost)) return undefined;
  const starts = pods.map(startOf).sort((a, b) => (a > b ? -1 : 1));
  return new Map(pods.map((pod, i) => [pod, starts[i]!]));
}

/** The order among the members of a gang, which can go one by one. */
export function leastImportantFirst(a: Pod, b: Pod): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  const daemons = isOfDaemonSet(a) - isOfDaemonSet(b);
  if (daemons !== 0) return daemons;
  if (a.deletionCost !== b.deletionCost) return a.deletionCost - b.deletionCost;
  const [sinceA, sinceB] = [startOf(a), startOf(b)];
  if (sinceA !== sinceB) return sinceA > sinceB ? -1 : 1;
  return a.uid < b.uid ? 1 : -1;
}

/** A pod that can only go with its gang is as important as the most important member. */
function priorityOf({ pod, unit, isSpare }: EvictablePod): number {
  return isSpare ? pod.priority : unit.priority;
}

function isOfDaemonSet({ template }: Pod): number {
  return template.isOfDaemonSet === true ? 1 : 0;
}

function startIn({ pod, unit }: EvictablePod): number {
  return unit.starts?.get(pod) ?? startOf(pod);
}

function idOf({ gang, pods }: EvictionUnit): string {
  return gang?.spec?.uid ?? pods[0]!.uid;
}

/** Returns seconds since the epoch. A pod that has not started yet counts as the latest. */
export function startOf({ startedAt }: Pod): number {
  return startedAt === 0 ? Infinity : startedAt;
}
