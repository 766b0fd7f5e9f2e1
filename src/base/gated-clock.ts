import type { Clock, Timer } from './clock.ts';

/** Runs callbacks now or later, in order. */
export interface Gate {
  run(callback: () => void): void;
}

/**
 * A clock whose timers pass through a gate: a timer that fires while the gate is closed runs when it opens, unless it is
 * cancelled first.
 */
export class GatedClock implements Clock {
  readonly #clock: Clock;
  readonly #gate: Gate;

  constructor(clock: Clock, gate: Gate) {
    this.#clock = clock;
    this.#gate = gate;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    let isCancelled = false;
    const fire = (): void => {
      if (!isCancelled) callback();
    };
    const timer = this.#clock.setTimer(delayMs, () => this.#gate.run(fire));
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }
}
