import type { Random } from './random.ts';

/** Exponential backoff: initial delay, doubling, with a cap; all in milliseconds. */
export interface BackoffPolicy {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Returns min(initial × 2^(attempt − 1), cap) for attempt 1, 2, …; 0 for attempt 0 and below. */
export function backoffDelay(policy: BackoffPolicy, attempt: number): number {
  if (attempt <= 0) return 0;
  return Math.min(policy.initialMs * 2 ** (attempt - 1), policy.maxMs);
}

/** Returns a random value from the upper half of that delay, so that clients that failed together do not retry together. */
export function jitteredBackoff(policy: BackoffPolicy, attempt: number, random: Random): number {
  const delay = backoffDelay(policy, attempt);
  return delay / 2 + (delay / 2) * random();
}
