import type { Pod } from '../../api/pod.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { newEntity } from '../../queue/queued-entity.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';

/** Returns a popped entity, as the queue passes it to a scheduling cycle. */
export function entityInFlight(of: { readonly pod: Pod } | { readonly gang: Gang }): QueuedEntity {
  const schedulingEntity: SchedulingEntity =
    'pod' in of ? { kind: 'pod', pod: of.pod } : { kind: 'gang', gang: of.gang };
  const sortKey = { priority: 0, readySince: 0, uid: '', incomplete: false };
  return newEntity(schedulingEntity, sortKey, 0, { readySince: 0, attempts: 1 });
}
