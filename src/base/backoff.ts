import type { Random } from './random.ts';

/** Exponential back-off: initial, doubling, with a cap; all in milliseconds. */
export interface BackoffPolicy {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** min(initial × 2^(attempt − 1), cap), for attempt 1, 2, …; 0 for attempt 0 and below. */
export function backoffDelay(policy: BackoffPolicy, attempt: number): number {
  if (attempt <= 0) return 0;
  return Math.min(policy.initialMs * 2 ** (attempt - 1), policy.maxMs);
}

/** The same delay drawn from its upper half, so that many clients that failed together do not return together. */
export function jitteredBackoff(policy: BackoffPolicy, attempt: number, random: Random): number {
  const delay = backoffDelay(policy, attempt);
  return delay / 2 + (delay / 2) * random();
}
