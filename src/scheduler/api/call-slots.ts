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
    const turn = this.enter();
    if (turn !== undefined) await this.#unlessAborted(turn, signal);
    try {
      return await call();
    } finally {
      this.leave();
    }
  }

  /** A call begins. Undefined: it goes at once. Otherwise it may go when its turn comes, unless `giveUp` is first. `leave` must follow. */
  enter(): Deferred<void> | undefined {
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    const turn = deferred();
    this.#waiting.add(turn);
    return turn;
  }

  async #unlessAborted(turn: Deferred<void>, signal: AbortSignal): Promise<void> {
    try {
      await unlessAborted(turn.promise, signal);
    } catch (error) {
      // It may have been this one's turn already: the slot goes on to the next.
      if (!this.#waiting.delete(turn)) this.leave();
      throw error;
    }
  }

  /** It is not to go any more: its turn rejects with this, and there is nothing to leave. Does nothing once the turn has come. */
  giveUp(turn: Deferred<void>, reason: Error): void {
    if (this.#waiting.delete(turn)) turn.reject(reason);
  }

  /** A call that went has ended. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next.resolve();
  }
}
