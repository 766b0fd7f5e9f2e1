import type { SchedulingEntity, QueueKey } from '../framework/scheduling-entity.ts';

/** Returns the key of the entity for QueueSort. A gang has the lowest priority among its unbound members. */
export function sortKeyOf(schedulingEntity: SchedulingEntity, readySince: number): QueueKey {
  if (schedulingEntity.kind === 'pod') {
    return { priority: schedulingEntity.pod.priority, readySince, uid: schedulingEntity.pod.uid, incomplete: false };
  }
  const { gang } = schedulingEntity;
  let priority = Infinity;
  for (const pod of gang.pending.values()) priority = Math.min(priority, pod.priority);
  if (priority === Infinity) priority = 0;
  return { priority, readySince, uid: gang.spec?.uid ?? gang.key, incomplete: gang.comesFirst };
}
