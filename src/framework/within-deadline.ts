import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import { formatDuration } from '../base/format-duration.ts';

/** Default deadline of a PreBind or Bind plugin for one pod. A call that takes longer fails. */
export const asyncPointDeadlineMs = 10 * 60 * 1000;

/** Settles like `run`. If `run` takes longer than the deadline, rejects and calls `onLate`. */
export async function withinDeadline<T>(
  clock: Clock,
  deadlineMs: number,
  run: () => Promise<T>,
  onLate?: (error: Error) => void,
): Promise<T> {
  const late = deferred<never>();
  const timer = clock.setTimer(deadlineMs, () => {
    const error = new Error(`timed out after ${formatDuration(deadlineMs)}`);
    late.reject(error);
    onLate?.(error);
  });
  try {
    return await Promise.race([run(), late.promise]);
  } finally {
    timer.cancel();
  }
}
