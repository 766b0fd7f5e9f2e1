/**
 * Counts work, so that long tasks can yield to others. It counts instead of measuring time, so that the same input pauses at the
 * same places on any machine. Without a limit no pause is ever due.
 */
export class WorkBudget {
  #spent = 0;
  #pauseAt = Infinity;

  /** Allows this much more work until a pause is due; Infinity: no limit. */
  allow(work: number): void {
    this.#pauseAt = this.#spent + work;
  }

  spend(work: number): void {
    this.#spent += work;
  }

  /** Whether a pause is due. */
  get isDue(): boolean {
    return this.#spent >= this.#pauseAt;
  }

  /** Returns whether this much more work would exceed the budget; for work that must not be interrupted. */
  lacks(work: number): boolean {
    return this.#spent + work > this.#pauseAt;
  }

  /** Whether a limit is set. */
  get isLimited(): boolean {
    return this.#pauseAt < Infinity;
  }
}
