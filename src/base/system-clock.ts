import type { Clock, Timer } from './clock.ts';

/** The limit of setTimeout; a longer delay is cut to it (24.8 days). */
const maxDelayMs = 2 ** 31 - 1;

/** The process's real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs: number, callback: () => void): Timer {
    const handle = setTimeout(callback, Math.min(Math.max(delayMs, 0), maxDelayMs));
    return { cancel: () => clearTimeout(handle) };
  },
};
