import { jitteredBackoff } from '../base/backoff.ts';
import type { BackoffPolicy } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import {
  ConnectionError,
  MalformedAnswerError,
  ServerError,
  TimeoutError,
  TooManyRequestsError,
} from './api-errors.ts';
import { wait } from './wait.ts';

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Whether carrying the call out twice does no harm. If not, only calls that were surely not carried out are repeated. */
  readonly idempotent: boolean;
  /** Attempts in all, the first included. Default 5. */
  readonly maxAttempts?: number;
  /** Default 100 ms, doubling, to 10 s. A longer Retry-After wins. */
  readonly backoff?: BackoffPolicy;
  /** Ends the waiting; the call gets it from the caller. */
  readonly signal?: AbortSignal;
}

const defaultBackoff: BackoffPolicy = { initialMs: 100, maxMs: 10_000 };

/**
 * Calls until it succeeds, fails for a reason that trying again cannot mend, or the attempts are used up; then rejects
 * with the last error. A conflict is never repeated: whoever made the write must look again first.
 */
export async function retry<T>(call: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const maxAttempts = options.maxAttempts ?? 5;
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt);
    } catch (error) {
      if (attempt >= maxAttempts || !isRetryable(error, options.idempotent)) throw error;
      const delay = jitteredBackoff(options.backoff ?? defaultBackoff, attempt, options.random);
      await wait(options.clock, Math.max(delay, retryAfterOf(error) ?? 0), options.signal);
    }
  }
}

/** Whether the same call may be sent again after this error. */
export function isRetryable(error: unknown, idempotent: boolean): boolean {
  if (error instanceof TooManyRequestsError) return true;
  if (error instanceof MalformedAnswerError) return idempotent;
  if (error instanceof ServerError) return idempotent || error.retryAfterMs !== undefined;
  if (error instanceof ConnectionError || error instanceof TimeoutError) return idempotent || !error.ambiguous;
  return false;
}

function retryAfterOf(error: unknown): number | undefined {
  return error instanceof TooManyRequestsError || error instanceof ServerError ? error.retryAfterMs : undefined;
}
