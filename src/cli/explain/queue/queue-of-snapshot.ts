import type { QueueItem } from '../../../api/explain/lists.ts';
import type { Snapshot, SnapshotEntity } from '../../../api/explain/snapshot.ts';

/** Returns the entities of a snapshot, in their order. */
export function queueOfSnapshot({ queue }: Pick<Snapshot, 'queue'>): readonly QueueItem[] {
  let ready = 0;
  return queue.map((entity) => ({
    ...(entity.state !== 'gated' && { position: ++ready }),
    ...itemOf(entity),
  }));
}

function itemOf(entity: SnapshotEntity): QueueItem {
  const { subject, state, until, priority, readySince, attempts, rejectedBy, gate, verdict } = entity;
  const message = gate ?? verdict?.message;
  return {
    subject,
    state: state === 'setAside' ? 'inFlight' : state,
    ...(until !== undefined && { until }),
    priority,
    ...(readySince !== undefined && { readySince: new Date(readySince).toISOString() }),
    attempts,
    rejectedBy,
    ...(message !== undefined && { message }),
  };
}
