import type { Pod } from '../../api/pod.ts';
import type { QueuedEntity } from '../queued-entity.ts';

/** A lone pod, called by its name, of which an attempt has just failed. */
export function failedEntity(
  pod: Pod,
  {
    failedAt,
    priority = 0,
    refusals = 1,
    errors = 0,
  }: {
    /** Clock.monotonic(). */
    readonly failedAt: number;
    readonly priority?: number;
    readonly refusals?: number;
    readonly errors?: number;
  },
): QueuedEntity {
  return {
    key: pod.name,
    candidate: { kind: 'pod', pod },
    state: { kind: 'inFlight' },
    sortKey: { priority, readySince: 0, uid: pod.uid, incomplete: false },
    readySince: 0,
    since: 0,
    groupUid: undefined,
    attempts: refusals + errors,
    refusals,
    errors,
    failedAt,
    refusedBy: new Set(),
    pending: new Set(),
    refusedPods: [pod],
    wish: undefined,
    triesAgain: false,
    isActivated: false,
    isFlushed: false,
  };
}
