import type { Pod } from '../../api/pod.ts';
import { newEntity } from '../queued-entity.ts';
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
  const rejection = { isGang: false, refusedBy: new Set<string>(), pending: new Set<string>(), refusedPods: [pod] };
  const sortKey = { priority, readySince: 0, uid: pod.uid, incomplete: false };
  return {
    ...newEntity({ kind: 'pod', pod }, sortKey, 0, { readySince: 0, refusals, errors, failedAt, rejection }),
    key: pod.name,
    attempts: refusals + errors,
  };
}
