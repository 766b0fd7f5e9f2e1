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
  /** Whether carrying out the call twice is harmless. If not, only calls that the server certainly did not carry out are retried. */
  readonly idempotent: boolean;
  /** Maximum number of attempts, including the first. Default 5. */
  readonly maxAttempts?: number;
  /** Default: 100 ms, doubling up to 10 s. A longer Retry-After overrides it. */
  readonly backoff?: BackoffPolicy;
  /** Ends the wait between attempts. The caller passes it to the call itself. */
  readonly signal?: AbortSignal;
}

const defaultBackoff: BackoffPolicy = { initialMs: 100, maxMs: 10_000 };

/**
 * Calls until it succeeds, fails with an error that a retry cannot fix, or runs out of attempts; then rejects with the last
 * error. It never retries a conflict: the writer must first read the object again.
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

/** Returns whether the same call may be sent again after this error. */
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
