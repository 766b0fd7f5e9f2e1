import type { EventLoopUtilization } from 'node:perf_hooks';
import type { Clock, Timer } from '../base/clock.ts';

/** Access to the process and its heap. */
export interface CollectionParts {
  readonly clock: Pick<Clock, 'setTimer'>;
  /** `performance.eventLoopUtilization`. */
  readonly utilization: (now?: EventLoopUtilization, before?: EventLoopUtilization) => EventLoopUtilization;
  /** Bytes of the heap in use, garbage included. */
  readonly usedHeap: () => number;
  /** Runs a full, compacting garbage collection. */
  readonly collect: () => void;
}

const intervalMs = 30_000;
/** Share of the time that the event loop is active. An idle scheduler needs 0.002. */
const quietBelow = 0.02;
/** A collection blocks the event loop for 2 to 4 ms per MB. Larger heaps are left to V8, which collects incrementally. */
const maxHeap = 64 * 2 ** 20;

/**
 * Compacts the heap once after each load, when the process has been quiet for half a minute. V8 collects an idle heap, but returns only
 * pages without live objects, so after a load a process can keep twice the memory that it uses. Returns a function that stops this.
 */
export function collectWhenQuiet({ clock, utilization, usedHeap, collect }: CollectionParts): () => void {
  let hasWorked = true;
  let before = utilization();
  let timer: Timer;
  const check = (): void => {
    const now = utilization();
    const isQuiet = utilization(now, before).utilization < quietBelow;
    before = now;
    if (!isQuiet) hasWorked = true;
    else if (hasWorked && usedHeap() <= maxHeap) {
      collect();
      hasWorked = false;
      before = utilization();
    }
    timer = clock.setTimer(intervalMs, check);
  };
  timer = clock.setTimer(intervalMs, check);
  return () => timer.cancel();
}
