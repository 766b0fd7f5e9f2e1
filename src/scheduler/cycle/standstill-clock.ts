import type { Clock, Timer } from '../../base/clock.ts';
import type { Standstill } from './standstill.ts';

/** A clock whose timers wait for the picture: one that rings while an attempt is open is heard when that has ended. */
export class StandstillClock implements Clock {
  readonly #clock: Clock;
  readonly #standstill: Pick<Standstill, 'run'>;

  constructor(clock: Clock, standstill: Pick<Standstill, 'run'>) {
    this.#clock = clock;
    this.#standstill = standstill;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    let isCancelled = false;
    const heard = (): void => {
      if (!isCancelled) callback();
    };
    const timer = this.#clock.setTimer(delayMs, () => this.#standstill.run(heard));
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }
}
