/** How changes reach the store and handlers: now, or later in the same order. The function given never throws. */
export type Deliver = (apply: () => void) => void;

/**
 * Holds deliveries back while something long needs an unmoving picture. One gate is shared by all the informers of a
 * picture, so that their changes are held, and later applied, together and in the order in which they came.
 */
export class DeliveryGate {
  readonly #held: (() => void)[] = [];
  #closed = 0;
  #isDraining = false;

  readonly deliver: Deliver = (apply) => {
    if (this.#closed > 0 || this.#held.length > 0) this.#held.push(apply);
    else apply();
  };

  /** Changes that wait. */
  get held(): number {
    return this.#held.length;
  }

  /** From now on changes wait. Each call needs its own `open`. */
  close(): void {
    this.#closed++;
  }

  /** The last `open` applies what waited, at once. */
  open(): void {
    if (this.#closed === 0) throw new Error('the gate is open already');
    this.#closed--;
    if (this.#closed > 0 || this.#isDraining) return;
    this.#isDraining = true;
    try {
      // What comes meanwhile queues behind; what is applied may close the gate again.
      let applied = 0;
      while (applied < this.#held.length && !this.#isClosed()) this.#held[applied++]!();
      this.#held.splice(0, applied);
    } finally {
      this.#isDraining = false;
    }
  }

  #isClosed(): boolean {
    return this.#closed > 0;
  }
}
