import { deferred } from '../../base/deferred.ts';
import type { Deferred } from '../../base/deferred.ts';
import { unlessAborted } from '../../client/wait.ts';

/** So many calls at a time; the others wait in order. */
export class CallSlots {
  #free: number;
  readonly #waiting = new Set<Deferred<void>>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs the call when it is its turn. Rejects with the signal's reason when that aborts before. */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      return await call();
    } finally {
      this.#leave();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const turn = deferred();
    this.#waiting.add(turn);
    try {
      await unlessAborted(turn.promise, signal);
    } catch (error) {
      // It may have been this one's turn already: the slot goes on to the next.
      if (!this.#waiting.delete(turn)) this.#leave();
      throw error;
    }
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next.resolve();
  }
}
