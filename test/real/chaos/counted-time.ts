/** Milliseconds that count: those in which somebody schedules and nobody else has taken the room. */
export class CountedTime {
  readonly #clock: () => number;
  #passed = 0;
  #runsSince: number | undefined;

  /** Stands still at first. `clock`: performance.now(). */
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
