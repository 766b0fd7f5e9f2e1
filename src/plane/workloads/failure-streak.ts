import { backoffDelay } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { JobPod } from './job-pod.ts';

/** How many pods of a Job failed since one last succeeded, and when the last of them did, in milliseconds since the epoch. */
export interface FailureStreak {
  readonly failures: number;
  readonly lastAt: number;
}

export const noFailures: FailureStreak = { failures: 0, lastAt: 0 };

/** kube-controller-manager's: how long a Job waits after a failure before it makes the next pod. */
const podFailureBackoff: BackoffPolicy = { initialMs: 10_000, maxMs: 600_000 };

/** The streak once these pods have ended too: a success ends it, but for what failed later. */
export function streakAfter(
  streak: FailureStreak,
  succeeded: readonly JobPod[],
  failed: readonly JobPod[],
): FailureStreak {
  const lastSuccess = lastEnd(succeeded);
  const later = failed.filter(({ finishedAt }) => finishedAt > lastSuccess);
  const before = succeeded.length > 0 ? noFailures : streak;
  return later.length === 0 ? before : { failures: before.failures + later.length, lastAt: lastEnd(later) };
}

/** How long the next pod has to wait, in milliseconds. */
export function delayAfter({ failures, lastAt }: FailureStreak, nowMs: number): number {
  return Math.max(0, lastAt + backoffDelay(podFailureBackoff, failures) - nowMs) * Math.sign(failures);
}

function lastEnd(pods: readonly JobPod[]): number {
  return pods.reduce((last, { finishedAt }) => Math.max(last, finishedAt), -Infinity);
}
