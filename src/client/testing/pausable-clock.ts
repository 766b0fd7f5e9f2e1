import type { Clock } from '../../base/clock.ts';
import { GatedClock } from '../../base/gated-clock.ts';

/** The clock of a process that can be stopped for a while: time goes on meanwhile, but nothing fires before it goes on. */
export class PausableClock extends GatedClock {
  #held: (() => void)[] = [];
  #isPaused = false;

  constructor(clock: Clock) {
    super(clock, { run: (callback) => this.whenRunning(callback) });
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** `first`: what the process does before it looks at its timers. */
  resume(first?: () => void): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    first?.();
    const held = this.#held;
    this.#held = [];
    for (const callback of held) callback();
  }

  /** Now, or as soon as the process goes on. */
  whenRunning(callback: () => void): void {
    if (this.#isPaused) this.#held.push(callback);
    else callback();
  }
}
