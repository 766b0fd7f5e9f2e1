import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import { formatDuration } from '../base/format-duration.ts';

/** How long a PreBind or Bind plugin may take for one pod unless it says otherwise. What takes longer has failed. */
export const asyncPointDeadlineMs = 10 * 60 * 1000;

/** What `run` settles with, unless it takes longer than the deadline; then this rejects, and `onLate` is told. */
export async function withinDeadline<T>(
  clock: Clock,
  deadlineMs: number,
  run: () => Promise<T>,
  onLate?: (error: Error) => void,
): Promise<T> {
  const late = deferred<never>();
  const timer = clock.setTimer(deadlineMs, () => {
    const error = new Error(`it has not ended after ${formatDuration(deadlineMs)}`);
    late.reject(error);
    onLate?.(error);
  });
  try {
    return await Promise.race([run(), late.promise]);
  } finally {
    timer.cancel();
  }
}
