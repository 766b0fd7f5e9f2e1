import type { Clock, Timer } from '../../base/clock.ts';

export interface GatedWork {
  /** The client's address. Addresses take turns. */
  readonly address: string;
  /** Whether the client still waits. Otherwise the gate drops the work when its turn comes. */
  readonly isWanted: () => boolean;
  readonly start: () => void;
}

/**
 * Starts work at a limited rate with a limited burst: in order for one address, and in turn between addresses. So a client does not wait for
 * all the requests of the others. It rejects nothing: the caller limits the amount of waiting work.
 */
export class RateGate {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #atOnce: number;
  /** address -> its waiting work; the address whose turn is next comes first */
  readonly #waiting = new Map<string, GatedWork[]>();
  #tokens: number;
  #filledAt: number;
  #timer: Timer | undefined;

  constructor(options: { readonly perSecond: number; readonly atOnce: number; readonly clock: Clock }) {
    this.#clock = options.clock;
    this.#perMs = options.perSecond / 1_000;
    this.#atOnce = options.atOnce;
    this.#tokens = options.atOnce;
    this.#filledAt = options.clock.monotonic();
  }

  run(work: GatedWork): void {
    const waiting = this.#waiting.get(work.address);
    if (waiting === undefined) this.#waiting.set(work.address, [work]);
    else waiting.push(work);
    this.#serve();
  }

  #serve(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#atOnce, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
    for (const [address, waiting] of this.#waiting) {
      if (this.#tokens < 1) break;
      const work = waiting.shift()!;
      // Behind the other addresses; the loop then reaches it again.
      this.#waiting.delete(address);
      if (waiting.length > 0) this.#waiting.set(address, waiting);
      if (!work.isWanted()) continue;
      this.#tokens--;
      work.start();
    }
    if (this.#waiting.size === 0 || this.#timer !== undefined) return;
    this.#timer = this.#clock.setTimer(Math.ceil((1 - this.#tokens) / this.#perMs), () => {
      this.#timer = undefined;
      this.#serve();
    });
  }
}
