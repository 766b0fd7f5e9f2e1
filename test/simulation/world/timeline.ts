import type { Timer } from '../../../src/base/clock.ts';
import { Heap } from '../../../src/base/heap.ts';

interface Turn {
  readonly due: number;
  readonly sequence: number;
  readonly run: () => void;
  cancelled: boolean;
}

/**
 * The one source of events. Each turn is one callback and everything that follows from it without waiting. All promises settle before the
 * next turn, so the result does not depend on how the machine interleaves them. Time is virtual milliseconds from 0.
 */
export class Timeline {
  readonly #turns = new Heap<Turn>((a, b) => a.due - b.due || a.sequence - b.sequence);
  #sequence = 0;
  #now = 0;
  #count = 0;

  get now(): number {
    return this.#now;
  }

  /** Number of turns so far. */
  get count(): number {
    return this.#count;
  }

  /** Schedules a callback. Callbacks of the same moment run in the order of the calls. */
  after(delayMs: number, run: () => void): Timer {
    const turn: Turn = { due: this.#now + Math.max(delayMs, 0), sequence: this.#sequence++, run, cancelled: false };
    this.#turns.push(turn);
    return {
      cancel: () => {
        turn.cancelled = true;
      },
    };
  }

  at(ms: number, run: () => void): Timer {
    return this.after(ms - this.#now, run);
  }

  /** Runs the next turn that is due by `until`. Returns false when there is none, and sets the time to `until`. */
  async turn(until: number): Promise<boolean> {
    for (let next = this.#turns.peek(); next !== undefined && next.due <= until; next = this.#turns.peek()) {
      this.#turns.pop();
      if (next.cancelled) continue;
      this.#now = Math.max(this.#now, next.due);
      this.#count++;
      next.run();
      await settled();
      return true;
    }
    this.#now = Math.max(this.#now, until);
    return false;
  }
}

/** Resolves when no promise can settle any more: macrotasks run after all microtasks, and there is no real I/O. */
function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
