import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/message-of.ts';

export interface PolledValueOptions<T> {
  readonly clock: Clock;
  readonly everyMs: number;
  readonly read: () => Promise<T>;
  /** The current value. Absent: unknown so far. */
  readonly current: T | undefined;
  /** Returns a key that identifies a value. */
  readonly keyOf: (value: T) => string;
  readonly changed: (value: T) => void;
  /** Called once per distinct consecutive error. The value stays unchanged. */
  readonly failed: (error: unknown) => void;
}

/** Delay after a failed poll. */
const retryMs = 10_000;

/**
 * Reads a value periodically and reports changes. It polls instead of watching: a mounted Secret changes through a symbolic link
 * far above the file, which a watch on the file does not see.
 */
export class PolledValue<T> {
  readonly #options: PolledValueOptions<T>;
  #key: string | undefined;
  #problem: string | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: PolledValueOptions<T>) {
    this.#options = options;
    if (options.current !== undefined) this.#key = options.keyOf(options.current);
  }

  /** Error of the last poll, if it failed. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Polls periodically: after `everyMs`, or earlier after a failure. */
  start(): void {
    if (this.#isStopped) return;
    const { clock, everyMs } = this.#options;
    const delayMs = this.#problem === undefined ? everyMs : Math.min(everyMs, retryMs);
    this.#timer = clock.setTimer(delayMs, () => void this.poll().then(() => this.start()));
  }

  /** Reads the value now; never rejects. */
  async poll(): Promise<void> {
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
