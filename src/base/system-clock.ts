import type { Clock, Timer } from './clock.ts';

/** setTimeout's own limit; a longer delay is cut to it (24.8 days). */
const longestDelayMs = 2 ** 31 - 1;

/** The process's real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs: number, callback: () => void): Timer {
    const handle = setTimeout(callback, Math.min(Math.max(delayMs, 0), longestDelayMs));
    return { cancel: () => clearTimeout(handle) };
  },
};
