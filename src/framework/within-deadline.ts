import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';

/**
 * How long a PreBind or Bind plugin may take for one pod: as long as kube-scheduler waits for volumes to be bound
 * (bindTimeoutSeconds 600). What takes longer has failed.
 */
export const asyncPointDeadlineMs = 10 * 60 * 1000;

/** What `run` settles with, unless it takes longer than the deadline; then this rejects, and `onLate` is told. */
export async function withinDeadline<T>(
  clock: Clock,
  run: () => Promise<T>,
  onLate?: (error: Error) => void,
): Promise<T> {
  const late = deferred<never>();
  const timer = clock.setTimer(asyncPointDeadlineMs, () => {
    const error = new Error(`it has not ended after ${asyncPointDeadlineMs / 60_000} minutes`);
    late.reject(error);
    onLate?.(error);
  });
  try {
    return await Promise.race([run(), late.promise]);
  } finally {
    timer.cancel();
  }
}
