import type { Pod } from '../../api/pod.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { Candidate } from '../../framework/candidate.ts';
import { newEntity } from '../../queue/queued-entity.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';

/** A popped entity, as the queue hands it to a cycle. */
export function entityInFlight(of: { readonly pod: Pod } | { readonly gang: Gang }): QueuedEntity {
  const candidate: Candidate = 'pod' in of ? { kind: 'pod', pod: of.pod } : { kind: 'gang', gang: of.gang };
  const sortKey = { priority: 0, readySince: 0, uid: '', incomplete: false };
  return newEntity(candidate, sortKey, 0, { readySince: 0, attempts: 1 });
}
