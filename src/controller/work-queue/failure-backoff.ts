import { jitteredBackoff } from '../../base/backoff.ts';
import type { BackoffPolicy } from '../../base/backoff.ts';
import type { Random } from '../../base/random.ts';

export interface FailureBackoffOptions {
  readonly policy: BackoffPolicy;
  readonly random: Random;
}

/** What a failure leads to. */
export interface Backoff {
  /** Failures of the key in a row, this one included. */
  readonly failures: number;
  readonly delayMs: number;
}

/** How often each key has failed in a row, and how long it therefore stays away. */
export class FailureBackoff {
  readonly #options: FailureBackoffOptions;
  /** key -> failures in a row; absent after a success */
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

  /** Its next failure is the first again. */
  succeeded(key: string): void {
    this.#failures.delete(key);
  }
}
