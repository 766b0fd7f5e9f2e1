import type { Pod } from '../../api/pod.ts';
import type { QueuedEntity } from '../queued-entity.ts';

/** A lone pod, called by its name, of which an attempt has just failed. */
export function failedEntity(
  pod: Pod,
  {
    failedAt,
    priority = 0,
    attempts = 1,
    errors = 0,
  }: {
    /** Clock.monotonic(). */
    readonly failedAt: number;
    readonly priority?: number;
    readonly attempts?: number;
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
    attempts,
    errors,
    failedAt,
    refusedBy: new Set(),
    refusedPods: [pod],
    wish: undefined,
    asksElse: false,
    isFlushed: false,
  };
}
