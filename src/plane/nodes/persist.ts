import { jitteredBackoff } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { toError } from '../../base/to-error.ts';
import { ApiError, ConflictError, NotFoundError } from '../../client/api-errors.ts';
import { isRetryable } from '../../client/retry.ts';
import { wait } from '../../client/wait.ts';

const backoff: BackoffPolicy = { initialMs: 100, maxMs: 5_000 };
/** After this many conflicts, `persist` assumes that another object has the name. */
const maxConflicts = 5;

/**
 * - done: the server carried out the write.
 * - gone: the object no longer exists, or another object has its name.
 * - rejected: the server will never carry out the write, because of `error`.
 */
export type PersistOutcome =
  { readonly name: 'done' } | { readonly name: 'gone' } | { readonly name: 'rejected'; readonly error: Error };

export interface PersistOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * Retries an idempotent write with back-off until it succeeds or can no longer succeed, as a kubelet does with statuses. Rejects only
 * when the signal aborts.
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
      // A failed uid precondition and a lost race cause the same error.
      if (error instanceof ConflictError && ++conflicts >= maxConflicts) return { name: 'gone' };
      if (!(error instanceof ConflictError) && !isRetryable(error, true)) return { name: 'rejected', error };
      const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      await wait(clock, Math.max(jitteredBackoff(backoff, attempt, random), retryAfterMs), signal);
    }
  }
}
