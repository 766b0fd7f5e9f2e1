import type { SchedulingEntity, QueueKey } from '../framework/scheduling-entity.ts';

/**
 * Returns the key of the entity for QueueSort. A gang has the lowest priority among its unbound members. One that starts over keeps its place
 * among equals. The API no longer shows when it was first ready, so the creation of its group counts.
 */
export function sortKeyOf(schedulingEntity: SchedulingEntity, readySince: number): QueueKey {
  if (schedulingEntity.kind === 'pod') {
    return { priority: schedulingEntity.pod.priority, readySince, uid: schedulingEntity.pod.uid, incomplete: false };
  }
  const { gang } = schedulingEntity;
  const { spec } = gang;
  let priority = Infinity;
  for (const pod of gang.pending.values()) priority = Math.min(priority, pod.priority);
  if (priority === Infinity) priority = 0;
  const since = gang.startsAnew ? spec!.creationTimestamp : readySince;
  return { priority, readySince: since, uid: spec?.uid ?? gang.key, incomplete: gang.comesFirst };
}
