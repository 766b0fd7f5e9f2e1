import { jitteredBackoff } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { toError } from '../../base/to-error.ts';
import { ApiError, ConflictError, NotFoundError } from '../../client/api-errors.ts';
import { isRetryable } from '../../client/retry.ts';
import { wait } from '../../client/wait.ts';

const backoff: BackoffPolicy = { initialMs: 100, maxMs: 5_000 };
/** Conflicts in a row after which the object is taken to be another one than was meant. */
const mostConflicts = 5;

/**
 * - done: the server carried it out.
 * - gone: the object is not there any more, or another one has its name.
 * - rejected: the server will never carry it out, because of `error`.
 */
export type PersistOutcome =
  { readonly name: 'done' } | { readonly name: 'gone' } | { readonly name: 'rejected'; readonly error: Error };

export interface PersistOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * Makes an idempotent write until the server has carried it out or it has become pointless, with back-off: what a kubelet does
 * with statuses. Rejects only when the signal aborts.
 */
export async function persist(write: () => Promise<unknown>, options: PersistOptions): Promise<PersistOutcome> {
  const { clock, random, signal } = options;
  let conflicts = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      await write();
      return { name: 'done' };
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toError(thrown);
      if (error instanceof NotFoundError) return { name: 'gone' };
      // A uid precondition that does not hold and a lost race look the same.
      if (error instanceof ConflictError && ++conflicts >= mostConflicts) return { name: 'gone' };
      if (!(error instanceof ConflictError) && !isRetryable(error, true)) return { name: 'rejected', error };
      const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      await wait(clock, Math.max(jitteredBackoff(backoff, attempt, random), retryAfterMs), signal);
    }
  }
}
