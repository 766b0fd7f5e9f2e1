import type { Clock, Timer } from './clock.ts';
import { Heap } from './heap.ts';

interface Pending {
  readonly due: number;
  readonly sequence: number;
  readonly callback: () => void;
  cancelled: boolean;
}

/** A clock that advances only on request, for tests and the simulation. Starts at `startMs` (wall clock) and monotonic 0. */
export class VirtualClock implements Clock {
  readonly #startMs: number;
  readonly #pending = new Heap<Pending>((a, b) => a.due - b.due || a.sequence - b.sequence);
  #elapsedMs = 0;
  #sequence = 0;

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs;
  }

  now(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer: Pending = {
      due: this.#elapsedMs + Math.max(delayMs, 0),
      sequence: this.#sequence++,
      callback,
      cancelled: false,
    };
    this.#pending.push(timer);
    return {
      cancel: () => {
        timer.cancelled = true;
      },
    };
  }

  /** Advances the time by `ms` and fires every timer that becomes due, including timers that fired timers create. */
  advance(ms: number): void {
    const target = this.#elapsedMs + ms;
    for (let next = this.#pending.peek(); next !== undefined && next.due <= target; next = this.#pending.peek()) {
      this.#pending.pop();
      if (next.cancelled) continue;
      this.#elapsedMs = Math.max(this.#elapsedMs, next.due);
      next.callback();
    }
    this.#elapsedMs = target;
  }

  /** Returns the milliseconds until the next timer fires, or undefined if there is none. */
  untilNextTimer(): number | undefined {
    for (let next = this.#pending.peek(); next !== undefined; next = this.#pending.peek()) {
      if (!next.cancelled) return next.due - this.#elapsedMs;
      this.#pending.pop();
    }
    return undefined;
  }
}
