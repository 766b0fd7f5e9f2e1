import type { Clock, Timer } from '../../src/base/clock.ts';
import { systemClock } from '../../src/base/system-clock.ts';

interface Pending {
  /** On this clock. */
  readonly due: number;
  readonly callback: () => void;
  timer: Timer;
}

/** The real clock, which a scenario can move forward so that it need not wait for a deadline. */
export class AdvancingClock implements Clock {
  readonly #pending = new Set<Pending>();
  #aheadMs = 0;

  now(): number {
    return systemClock.now() + this.#aheadMs;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#aheadMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const due = this.monotonic() + delayMs;
    const pending: Pending = { due, callback, timer: systemClock.setTimer(delayMs, () => this.#fire(pending)) };
    this.#pending.add(pending);
    return {
      cancel: () => {
        pending.timer.cancel();
        this.#pending.delete(pending);
      },
    };
  }

  /** Timers that are due by then fire next, in the order in which they are due. */
  advance(ms: number): void {
    this.#aheadMs += ms;
    for (const pending of [...this.#pending].sort((a, b) => a.due - b.due)) {
      pending.timer.cancel();
      pending.timer = systemClock.setTimer(pending.due - this.monotonic(), () => this.#fire(pending));
    }
  }

  #fire(pending: Pending): void {
    this.#pending.delete(pending);
    pending.callback();
  }
}
