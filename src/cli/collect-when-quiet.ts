import type { EventLoopUtilization } from 'node:perf_hooks';
import type { Clock, Timer } from '../base/clock.ts';

/** What is known of this process, and can be done to it. */
export interface CollectionParts {
  readonly clock: Pick<Clock, 'setTimer'>;
  /** As performance.eventLoopUtilization. */
  readonly utilization: (now?: EventLoopUtilization, before?: EventLoopUtilization) => EventLoopUtilization;
  /** Bytes of the heap in use, with what could be collected. */
  readonly usedHeap: () => number;
  /** Collects all there is to collect, and closes the gaps. */
  readonly collect: () => void;
}

const lookMs = 30_000;
/** Share of the time; a scheduler to which nothing happens needs 0.002. */
const quietBelow = 0.02;
/** Collecting takes 2 to 4 ms a MB in one turn of the event loop; more than this is left to V8, which does it in small steps. */
const largestHeap = 64 * 2 ** 20;

/**
 * V8 collects a heap that is no longer written to, but gives back only those of its pages on which nothing lives: after a load a process can keep twice
 * what it uses. So after work, and half a minute without, what lives is moved together, once. Answers what ends that.
 */
export function collectWhenQuiet({ clock, utilization, usedHeap, collect }: CollectionParts): () => void {
  let hasWorked = true;
  let before = utilization();
  let timer: Timer;
  const look = (): void => {
    const now = utilization();
    const isQuiet = utilization(now, before).utilization < quietBelow;
    before = now;
    if (!isQuiet) hasWorked = true;
    else if (hasWorked && usedHeap() <= largestHeap) {
      collect();
      hasWorked = false;
      before = utilization();
    }
    timer = clock.setTimer(lookMs, look);
  };
  timer = clock.setTimer(lookMs, look);
  return () => timer.cancel();
}
