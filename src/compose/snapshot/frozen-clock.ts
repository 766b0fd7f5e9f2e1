import type { Clock } from '../../base/clock.ts';

/** A clock that shows the time of a snapshot. Its timers never fire. */
export class FrozenClock implements Clock {
  readonly #now: number;
  #monotonic = 0;

  /** `now`: milliseconds since the epoch. */
  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  setTimer(): { cancel(): void } {
    return { cancel: () => undefined };
  }

  /** Lets limits of work over time recover. */
  rest(): void {
    this.#monotonic += 3_600_000;
  }
}
