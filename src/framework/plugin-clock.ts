import type { Clock, Timer } from '../base/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { describeThrown, dropPromise } from './plugin-answers.ts';

/** The clock as plugins get it: what fails in one of their timers is logged, and nobody else notices. */
export class PluginClock implements Clock {
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#clock.setTimer(delayMs, () => {
      try {
        dropPromise(callback());
      } catch (error) {
        this.#logger.error('a timer of a plugin failed', { error: describeThrown(error) });
      }
    });
  }
}
