import type { Pod } from '../../api/pod.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { Candidate } from '../../framework/candidate.ts';
import { entityKeyOf } from '../../queue/queued-entity.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';

/** A popped entity, as the queue hands it to a cycle. */
export function entityInFlight(of: { readonly pod: Pod } | { readonly gang: Gang }): QueuedEntity {
  const candidate: Candidate = 'pod' in of ? { kind: 'pod', pod: of.pod } : { kind: 'gang', gang: of.gang };
  return {
    key: entityKeyOf(candidate),
    candidate,
    state: { kind: 'inFlight' },
    sortKey: { priority: 0, readySince: 0, uid: '', incomplete: false },
    readySince: 0,
    since: 0,
    groupUid: undefined,
    attempts: 1,
    refusals: 0,
    errors: 0,
    failedAt: 0,
    refusedBy: new Set(),
    pending: new Set(),
    refusedPods: [],
    wish: undefined,
    triesAgain: false,
    isActivated: false,
    isFlushed: false,
  };
}
