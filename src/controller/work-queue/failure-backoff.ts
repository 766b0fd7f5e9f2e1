import { jitteredBackoff } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Random } from '../../base/random.ts';

export interface FailureBackoffOptions {
  readonly policy: BackoffPolicy;
  readonly random: Random;
}

/** The delay after a failure. */
export interface Backoff {
  /** Number of consecutive failures of the key, including this one. */
  readonly failures: number;
  readonly delayMs: number;
}

/** Counts the consecutive failures of each key and derives its retry delay. */
export class FailureBackoff {
  readonly #options: FailureBackoffOptions;
  /** key -> number of consecutive failures; absent after a success */
  readonly #failures = new Map<string, number>();

  constructor(options: FailureBackoffOptions) {
    this.#options = options;
  }

  failed(key: string): Backoff {
    const { policy, random } = this.#options;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    return { failures, delayMs: jitteredBackoff(policy, failures, random) };
  }

  /** Resets the count of a key. */
  succeeded(key: string): void {
    this.#failures.delete(key);
  }
}
