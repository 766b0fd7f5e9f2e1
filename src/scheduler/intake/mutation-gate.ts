import { toError } from '../../base/to-error.ts';
import type { InformerHandler } from '../../informer/informer-handler.ts';

/**
 * Keeps the cluster cache frozen while an attempt is open. Everything that may change the cache, or must not see a half-made plan, goes
 * through the gate. The gate runs a change at once or, while an attempt is open, defers it until the attempt has ended. Deferred changes
 * run in the order in which they came.
 */
export class MutationGate {
  /** Finishes the open attempt if it is paused; undefined while no attempt is open. */
  #finishAttempt: (() => void) | undefined;
  #isCatchingUp = false;
  /** In order; those before `#next` have run. */
  #deferred: (() => void)[] = [];
  #next = 0;

  /** An attempt is open, or deferred changes are left. */
  get isClosed(): boolean {
    return this.#finishAttempt !== undefined || this.#isCatchingUp || this.#next < this.#deferred.length;
  }

  /** Runs the change now or later, in order. Changes that a deferred change causes run at once. */
  run(change: () => void): void {
    if (this.isClosed && !this.#isCatchingUp) this.#deferred.push(change);
    else change();
  }

  /** Runs `look` now or later, and resolves to its result. */
  ask<T>(look: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.run(() => {
        try {
          resolve(look());
        } catch (error) {
          reject(toError(error));
        }
      });
    });
  }

  /** The same handler behind the gate. */
  handler<T>(handler: InformerHandler<T>): InformerHandler<T> {
    return {
      onAdd: (object) => this.run(() => handler.onAdd(object)),
      onUpdate: (previous, object) => this.run(() => handler.onUpdate(previous, object)),
      onDelete: (last, isFinalStateUnknown) => this.run(() => handler.onDelete(last, isFinalStateUnknown)),
      onListing: () => this.run(() => handler.onListing?.()),
      onReplaced: () => this.run(() => handler.onReplaced?.()),
    };
  }

  /** Opens an attempt, which lasts until `open`. `finish` completes a paused attempt in one piece. */
  close(finish: () => void): void {
    this.#finishAttempt = finish;
  }

  /** The attempt has ended; `catchUp` must follow. */
  open(): void {
    this.#finishAttempt = undefined;
  }

  /** For callers that cannot wait: finishes a paused attempt and runs all deferred changes. Has no effect inside a step of the attempt. */
  settle(): void {
    this.#finishAttempt?.();
    this.catchUp(Infinity);
  }

  /**
   * Runs at most `limit` deferred changes, unless an attempt is open or a call of this method is running. Returns whether none is left. A
   * change that throws counts as run; the others stay deferred.
   */
  catchUp(limit: number): boolean {
    if (!this.isClosed) return true;
    if (this.#finishAttempt !== undefined || this.#isCatchingUp) return false;
    this.#isCatchingUp = true;
    try {
      for (let ran = 0; ran < limit && this.#next < this.#deferred.length; ran++) this.#deferred[this.#next++]!();
    } finally {
      this.#isCatchingUp = false;
      if (this.#next === this.#deferred.length) {
        this.#deferred = [];
        this.#next = 0;
      }
    }
    return this.#next === this.#deferred.length;
  }
}
