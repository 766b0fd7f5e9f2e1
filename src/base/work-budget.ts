/**
 * Counts work, so that who is at it for long can give way to others now and then. It is counted and not timed: the same input
 * pauses at the same places anywhere. Until it is told otherwise nothing is ever due.
 */
export class WorkBudget {
  #spent = 0;
  #pauseAt = Infinity;

  /** From here on so much may be done before it is time to pause; Infinity: all there is. */
  allow(work: number): void {
    this.#pauseAt = this.#spent + work;
  }

  spend(work: number): void {
    this.#spent += work;
  }

  /** It is time to pause. */
  get isDue(): boolean {
    return this.#spent >= this.#pauseAt;
  }

  /** So much more would be too much: for what cannot be left half done. */
  lacks(work: number): boolean {
    return this.#spent + work > this.#pauseAt;
  }

  /** Somebody waits for a pause. */
  get isLimited(): boolean {
    return this.#pauseAt < Infinity;
  }
}
