/** Starts work in order, at a limited rate with a limited burst. It rejects nothing: the caller limits the amount of waiting work. */
export class RateGate {
  readonly #perMs: number;
  readonly #atOnce: number;
  readonly #waiting: (() => void)[] = [];
  #tokens: number;
  #filledAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { readonly perSecond: number; readonly atOnce: number }) {
    this.#perMs = options.perSecond / 1_000;
    this.#atOnce = options.atOnce;
    this.#tokens = options.atOnce;
  }

  run(work: () => void): void {
    this.#waiting.push(work);
    this.#serve();
  }

  #serve(): void {
    const now = performance.now();
    this.#tokens = Math.min(this.#atOnce, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    for (; this.#tokens >= 1 && this.#waiting.length > 0; this.#tokens--) this.#waiting.shift()!();
    if (this.#waiting.length === 0) return;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#serve();
      },
      Math.ceil((1 - this.#tokens) / this.#perMs),
    );
  }
}
