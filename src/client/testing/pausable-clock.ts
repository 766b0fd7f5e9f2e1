import type { Clock } from '../../base/clock.ts';
import { GatedClock } from '../../base/gated-clock.ts';

/** The clock of a process that can be paused: time continues, but no timer fires until `resume`. */
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

  /** `first` runs before overdue timers. */
  resume(first?: () => void): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    first?.();
    const held = this.#held;
    this.#held = [];
    for (const callback of held) callback();
  }

  /** Runs the callback now, or once the process resumes. */
  whenRunning(callback: () => void): void {
    if (this.#isPaused) this.#held.push(callback);
    else callback();
  }
}
