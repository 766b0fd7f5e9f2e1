import type { SchedulingEntity } from '../framework/scheduling-entity.ts';
import { groupUidOf } from './queued-entity.ts';
import type { QueuedEntity } from './queued-entity.ts';

/** What the attempts of an entity have come to so far. */
export type AttemptHistory = Pick<QueuedEntity, 'attempts' | 'rejections' | 'errors' | 'erredAt' | 'readySince'>;

/**
 * Counts a failure at `now` (Clock.monotonic()). A rejection between two errors does not end the series of errors, unless `errorsHoldMs` have
 * passed since the last one: of pods that take turns on a node that binds none, each is rejected while another holds the
 * capacity, and would forever be retried at the shortest back-off.
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

/** A group that was deleted and created again under its name starts without history. */
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

/** A gang that is queued as one again has failed as often as the member that failed most often; `of` finds the queued member. */
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
