import type { Pod } from '../../../api/pod.ts';
import type { EvictablePod } from './evictable-pod.ts';

/**
 * Orders pods by importance, as they are put back: priority, whether it would take the whole gang to evict the pod, whether the pod belongs to a
 * DaemonSet (its replacement can run nowhere else), pod-deletion-cost, the earlier start, uid. The least important goes first.
 */
export function mostImportantFirst(a: EvictablePod, b: EvictablePod): number {
  const priorities = priorityOf(b) - priorityOf(a);
  if (priorities !== 0) return priorities;
  if (a.isSpare !== b.isSpare) return a.isSpare ? 1 : -1;
  return -leastImportantFirst(a.pod, b.pod);
}

/** The same order among pods that can go one by one, reversed. */
export function leastImportantFirst(a: Pod, b: Pod): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.template.isOfDaemonSet !== b.template.isOfDaemonSet) return a.template.isOfDaemonSet === true ? 1 : -1;
  if (a.deletionCost !== b.deletionCost) return a.deletionCost - b.deletionCost;
  const [sinceA, sinceB] = [startOf(a), startOf(b)];
  if (sinceA !== sinceB) return sinceA > sinceB ? -1 : 1;
  return a.uid < b.uid ? 1 : -1;
}

/** A pod that can only go with its gang is as important as the most important member. */
function priorityOf({ pod, unit, isSpare }: EvictablePod): number {
  return isSpare ? pod.priority : unit.priority;
}

/** Returns seconds since the epoch. A pod that has not started yet counts as the latest. */
export function startOf({ startedAt }: Pod): number {
  return startedAt === 0 ? Infinity : startedAt;
}
