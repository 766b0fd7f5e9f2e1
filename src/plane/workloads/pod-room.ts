/** What may be made of the pods that are wanted. */
export interface Room {
  readonly pods: number;
  /** To be called once, when they are made. */
  giveBack(): void;
}

export interface PodRoomOptions {
  /** How many pods there may be. */
  readonly most: number;
  /** How many there are. */
  readonly present: () => number;
  /** The Job of this key may ask again. */
  readonly wake: (key: string) => void;
}

/** Room for the pods of all Jobs together, however many of them make some at the same time, and the Jobs that wait for it. */
export class PodRoom {
  readonly #options: PodRoomOptions;
  /** Pods that are being made. */
  #promised = 0;
  /** Keys of Jobs that did not get all they asked for, the one that waits longest first. */
  readonly #waiting = new Set<string>();

  constructor(options: PodRoomOptions) {
    this.#options = options;
  }

  get most(): number {
    return this.#options.most;
  }

  /** As much as there is; nobody else gets it until it is given back. */
  take(wanted: number): Room {
    const pods = Math.max(0, Math.min(wanted, this.#free));
    this.#promised += pods;
    return { pods, giveBack: () => void (this.#promised -= pods) };
  }

  /** The Job is woken when it is its turn and there is room. */
  wait(key: string): void {
    this.#waiting.add(key);
    this.look();
  }

  /** The Job is looked at, and asks again if it still wants some. */
  forget(key: string): void {
    this.#waiting.delete(key);
  }

  /** To be called when there may be room again: if there is, one Job that waits is woken. */
  look(): void {
    if (this.#waiting.size === 0 || this.#free <= 0) return;
    const { value: first } = this.#waiting.values().next();
    if (first === undefined) return;
    this.#waiting.delete(first);
    this.#options.wake(first);
  }

  get #free(): number {
    return this.#options.most - this.#options.present() - this.#promised;
  }
}
