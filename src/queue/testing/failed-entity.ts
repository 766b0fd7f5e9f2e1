import type { Pod } from '../../api/pod.ts';
import { newEntity } from '../queued-entity.ts';
import type { QueuedEntity } from '../queued-entity.ts';

/** Returns an entity for a single pod, keyed by its name, whose attempt has just failed. */
export function failedEntity(
  pod: Pod,
  {
    failedAt,
    priority = 0,
    rejections = 1,
    errors = 0,
  }: {
    /** Clock.monotonic(). */
    readonly failedAt: number;
    readonly priority?: number;
    readonly rejections?: number;
    readonly errors?: number;
  },
): QueuedEntity {
  const rejection = {
    isGang: false,
    unschedulablePlugins: new Set<string>(),
    pending: new Set<string>(),
    rejectedPods: [pod],
  };
  const sortKey = { priority, readySince: 0, uid: pod.uid, incomplete: false };
  return {
    ...newEntity({ kind: 'pod', pod }, sortKey, 0, { readySince: 0, rejections, errors, failedAt, rejection }),
    key: pod.name,
    attempts: rejections + errors,
  };
}
