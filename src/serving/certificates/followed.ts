import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/message-of.ts';

export interface FollowedOptions<T> {
  readonly clock: Clock;
  readonly everyMs: number;
  readonly read: () => Promise<T>;
  /** What the value is now. Absent: nothing is known yet. */
  readonly current: T | undefined;
  /** Tells values apart. */
  readonly keyOf: (value: T) => string;
  readonly changed: (value: T) => void;
  /** Once for each reason in a row; the value stays what it was. */
  readonly failed: (error: unknown) => void;
}

/** After a look that failed. */
const againMs = 10_000;

/**
 * Reads something again and again and tells when it is another. Asked for rather than watched for: a mounted Secret changes by a symbolic link
 * far above the file, which no watch of the file sees.
 */
export class Followed<T> {
  readonly #options: FollowedOptions<T>;
  #key: string | undefined;
  #problem: string | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: FollowedOptions<T>) {
    this.#options = options;
    if (options.current !== undefined) this.#key = options.keyOf(options.current);
  }

  /** Why the last look failed. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Looks in `everyMs` or, after a failure, sooner; and so on. */
  start(): void {
    if (this.#isStopped) return;
    const { clock, everyMs } = this.#options;
    const delayMs = this.#problem === undefined ? everyMs : Math.min(everyMs, againMs);
    this.#timer = clock.setTimer(delayMs, () => void this.look().then(() => this.start()));
  }

  /** Looks now; never rejects. */
  async look(): Promise<void> {
    const { read, keyOf, changed, failed } = this.#options;
    try {
      const value = await read();
      this.#problem = undefined;
      const key = keyOf(value);
      if (key === this.#key || this.#isStopped) return;
      this.#key = key;
      changed(value);
    } catch (error) {
      const problem = messageOf(error);
      if (problem === this.#problem || this.#isStopped) return;
      this.#problem = problem;
      failed(error);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }
}
