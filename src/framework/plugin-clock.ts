import type { Clock, Timer } from '../base/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { describeThrown, dropPromise } from './plugin-answers.ts';

/** Clock for plugins. Logs errors thrown in their timers, so that they do not end the process. */
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
        this.#logger.error('plugin timer failed', { error: describeThrown(error) });
      }
    });
  }
}
