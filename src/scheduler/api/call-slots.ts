import { deferred } from '../../base/deferred.ts';
import type { Deferred } from '../../base/deferred.ts';
import { unlessAborted } from '../../client/wait.ts';

/** Limits the number of concurrent calls. Others wait in order. */
export class CallSlots {
  #free: number;
  readonly #waiting = new Set<Deferred<void>>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs the call when its turn comes. Rejects with the signal's reason if that aborts first. */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const turn = this.enter();
    if (turn !== undefined) await this.#unlessAborted(turn, signal);
    try {
      return await call();
    } finally {
      this.leave();
    }
  }

  /**
   * Requests a slot. Undefined: the call has one. Otherwise it has one when the returned promise resolves, unless `giveUp` comes first.
   * `leave` must follow.
   */
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
      // If the turn has already come, pass the slot on.
      if (!this.#waiting.delete(turn)) this.leave();
      throw error;
    }
  }

  /** Stops waiting: the turn rejects with `reason`, and no `leave` follows. Does nothing once the turn has come. */
  giveUp(turn: Deferred<void>, reason: Error): void {
    if (this.#waiting.delete(turn)) turn.reject(reason);
  }

  /** Returns the slot of an ended call. */
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
