import { backoffDelay } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';

export interface UnwrittenVerdictsOptions {
  readonly clock: Clock;
  /** Writes the pod's verdict again. Resolves to false if the write fails. Must not reject. */
  readonly write: (uid: string) => Promise<boolean>;
}

const policy = { initialMs: 1_000, maxMs: 60_000 };
/** Number of writes in one round: enough to find out whether writes succeed, and few if they don't. */
const roundSize = 20;

/**
 * Retries verdicts that could not be written, in small rounds, until they are written or obsolete. If a whole round fails, the next one
 * waits longer. If a write succeeds, the next round follows at once.
 */
export class UnwrittenVerdicts {
  readonly #options: UnwrittenVerdictsOptions;
  /** uids, in the order of their retries */
  readonly #uids = new Set<string>();
  /** Number of consecutive failed rounds. */
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

  /** The pod no longer needs a verdict. */
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
    for (let hasSucceeded = true; hasSucceeded && this.#uids.size > 0;) {
      const round = [...this.#uids].slice(0, roundSize);
      for (const uid of round) this.#uids.delete(uid);
      const outcomes = await Promise.all(round.map((uid) => this.#options.write(uid)));
      round.forEach((uid, index) => outcomes[index]! || this.#uids.add(uid));
      hasSucceeded = outcomes.includes(true);
      this.#failures = hasSucceeded ? 0 : this.#failures + 1;
    }
    this.#isTrying = false;
    this.#setTimer();
  }
}
