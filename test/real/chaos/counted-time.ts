/** Counts the milliseconds in which a scheduler works and no other has taken the capacity. */
export class CountedTime {
  readonly #clock: () => number;
  #passed = 0;
  #runsSince: number | undefined;

  /** Starts paused. `clock`: performance.now(). */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get now(): number {
    return this.#passed + (this.#runsSince === undefined ? 0 : this.#clock() - this.#runsSince);
  }

  resume(): void {
    this.#runsSince ??= this.#clock();
  }

  pause(): void {
    this.#passed = this.now;
    this.#runsSince = undefined;
  }
}
