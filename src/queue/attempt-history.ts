import type { SchedulingEntity } from '../framework/scheduling-entity.ts';
import { groupUidOf } from './queued-entity.ts';
import type { QueuedEntity } from './queued-entity.ts';

/** Results of an entity's attempts so far. */
export type AttemptHistory = Pick<QueuedEntity, 'attempts' | 'rejections' | 'errors' | 'erredAt' | 'readySince'>;

/**
 * Counts a failure at `now` (Clock.monotonic()). A rejection between two errors ends the series of errors only if `errorsHoldMs` have
 * passed since the last error. Otherwise pods that take turns on a node where no Bind succeeds would always retry at the shortest backoff:
 * each of them is rejected while another one occupies the capacity.
 */
export function countFailure(history: AttemptHistory, isError: boolean, now: number, errorsHoldMs: number): void {
  if (isError) {
    history.errors++;
    history.erredAt = now;
    return;
  }
  history.rejections++;
  if (now - history.erredAt >= errorsHoldMs) history.errors = 0;
}

/** Clears the history of a group that was deleted and created again under the same name. */
export function restartForNewGroup(entity: QueuedEntity, now: number): void {
  const uid = groupUidOf(entity.schedulingEntity);
  if (uid === undefined || uid === entity.groupUid) return;
  if (entity.groupUid !== undefined) {
    entity.since = now;
    entity.readySince = entity.state.kind === 'gated' ? undefined : now;
    entity.attempts = 0;
    entity.rejections = 0;
    entity.errors = 0;
  }
  entity.groupUid = uid;
}

/** Returns the history for a gang that is queued as a whole again: that of the queued member (found by `of`) with the most errors. */
export function longestHistory(
  schedulingEntity: SchedulingEntity,
  own: AttemptHistory,
  of: (uid: string) => AttemptHistory | undefined,
): AttemptHistory {
  if (schedulingEntity.kind === 'pod') return own;
  let longest = own;
  for (const uid of schedulingEntity.gang.pending.keys()) {
    const history = of(uid);
    if (history !== undefined && history.errors > longest.errors) longest = history;
  }
  return longest;
}
