import { toError } from '../../base/to-error.ts';
import type { InformerHandler } from '../../informer/informer-handler.ts';

/**
 * While an attempt is being made in steps the picture stands still. Whatever may change it, or must not see it half way through, goes
 * through here: it is done at once, or, while an attempt is open, after that has ended, in the order in which it came.
 */
export class Standstill {
  #isOn = false;
  #isCatchingUp = false;
  /** In order; those before `#next` are done. */
  #putOff: (() => void)[] = [];
  #next = 0;

  /** An attempt is open, or what was put off meanwhile is not all done yet. */
  get isOn(): boolean {
    return this.#isOn || this.#isCatchingUp || this.#next < this.#putOff.length;
  }

  /** Does it now or later, in order; at once what follows from another change that is being made. */
  run(change: () => void): void {
    if (this.isOn && !this.#isCatchingUp) this.#putOff.push(change);
    else change();
  }

  /** What it answers when it is done, now or later. */
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

  /** The handler, told in order. */
  handler<T>(handler: InformerHandler<T>): InformerHandler<T> {
    return {
      onAdd: (object) => this.run(() => handler.onAdd(object)),
      onUpdate: (previous, object) => this.run(() => handler.onUpdate(previous, object)),
      onDelete: (last, isFinalStateUnknown) => this.run(() => handler.onDelete(last, isFinalStateUnknown)),
    };
  }

  /** An attempt is open. */
  begin(): void {
    this.#isOn = true;
  }

  /** It has ended; `catchUp` has to follow. */
  end(): void {
    this.#isOn = false;
  }

  /**
   * Does up to so much of what was put off, unless an attempt is open or this is being done already. Whether nothing is left. What
   * throws is done with, and the others stay to be done.
   */
  catchUp(most: number): boolean {
    if (!this.isOn) return true;
    if (this.#isOn || this.#isCatchingUp) return false;
    this.#isCatchingUp = true;
    try {
      for (let done = 0; done < most && this.#next < this.#putOff.length; done++) this.#putOff[this.#next++]!();
    } finally {
      this.#isCatchingUp = false;
      if (this.#next === this.#putOff.length) {
        this.#putOff = [];
        this.#next = 0;
      }
    }
    return this.#next === this.#putOff.length;
  }
}
