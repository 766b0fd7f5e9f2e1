import type { Clock, Timer } from '../../base/clock.ts';
import type { MutationGate } from './mutation-gate.ts';

/** A clock whose timers go through the mutation gate: a timer that fires while an attempt is open runs after the attempt. */
export class GatedClock implements Clock {
  readonly #clock: Clock;
  readonly #gate: Pick<MutationGate, 'run'>;

  constructor(clock: Clock, gate: Pick<MutationGate, 'run'>) {
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
