/** A running timer; `cancel` is idempotent and does nothing once the timer has fired. */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time in Tutti. All code that reads the time or waits takes a Clock as a constructor argument, so that tests
 * and the simulation can run on a virtual one.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch, for timestamps that users see. May jump. */
  now(): number;
  /** Milliseconds on a clock that never goes back, for durations and deadlines. Its zero is arbitrary. */
  monotonic(): number;
  /**
   * Calls `callback` once after `delayMs` (at least 0) milliseconds. Timers due at the same time fire in the order of their
   * creation.
   */
  setTimer(delayMs: number, callback: () => void): Timer;
}
