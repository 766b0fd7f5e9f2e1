import { backoffDelay } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';

export interface UnwrittenVerdictsOptions {
  readonly clock: Clock;
  /** Writes the verdict of this pod again; false when that fails once more. Must not reject. */
  readonly write: (uid: string) => Promise<boolean>;
}

const policy = { initialMs: 1_000, maxMs: 60_000 };
/** What is tried at once: enough to find out whether it is of use, and few where it is not. */
const atOnce = 20;

/**
 * Verdicts that could not be written: they are tried again, a few at a time, until they can be or nobody is concerned. While all of
 * a round fail the next one waits longer; when one succeeds the others follow at once.
 */
export class UnwrittenVerdicts {
  readonly #options: UnwrittenVerdictsOptions;
  /** uids, in the order in which they are tried */
  readonly #uids = new Set<string>();
  /** Rounds that failed, in a row. */
  #failures = 0;
  #isTrying = false;
  #timer: Timer | undefined;

  constructor(options: UnwrittenVerdictsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#uids.size;
  }

  add(uid: string): void {
    this.#uids.add(uid);
    this.#setTimer();
  }

  /** Nobody is concerned any more. */
  delete(uid: string): void {
    this.#uids.delete(uid);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#uids.clear();
  }

  #setTimer(): void {
    if (this.#timer !== undefined || this.#isTrying || this.#uids.size === 0) return;
    this.#timer = this.#options.clock.setTimer(backoffDelay(policy, this.#failures + 1), () => {
      this.#timer = undefined;
      void this.#try();
    });
  }

  async #try(): Promise<void> {
    this.#isTrying = true;
    for (let isOfUse = true; isOfUse && this.#uids.size > 0;) {
      const round = [...this.#uids].slice(0, atOnce);
      for (const uid of round) this.#uids.delete(uid);
      const outcomes = await Promise.all(round.map((uid) => this.#options.write(uid)));
      round.forEach((uid, index) => outcomes[index]! || this.#uids.add(uid));
      isOfUse = outcomes.includes(true);
      this.#failures = isOfUse ? 0 : this.#failures + 1;
    }
    this.#isTrying = false;
    this.#setTimer();
  }
}
