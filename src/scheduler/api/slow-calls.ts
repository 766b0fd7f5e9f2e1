import type { Clock, Timer } from '../../base/clock.ts';

/** Answers that the threshold is taken from: the latest ones, and enough of them. */
const remembered = 64;
const enough = 8;
/** A call is slow when it takes so many times as long as three quarters of the latest ones did, and at least so long. */
const factor = 2;
const leastMs = 250;
/** While too few have been answered. */
const startingMs = 1_000;
const tickMs = 50;

/** A call that has been sent; times as Clock.monotonic(). */
export interface CallUnderWay {
  readonly sentAt: number;
  readonly notify: (ms: number) => boolean;
  /** How old it must be at least to be told of. */
  leastMs: number;
}

/**
 * Tells which calls take far longer than the others of their kind. What is usual is taken from those that ended lately: the threshold is
 * twice what three quarters of them took. So up to a quarter of the calls may hang and are told; where more do, or a busy server
 * holds up all alike, that is the usual after a few, and nothing is told. It is at least 250 ms: what takes some milliseconds longer than
 * usual is not worth a second call.
 */
export class SlowCalls {
  readonly #clock: Clock;
  /** In the order in which they were sent. */
  readonly #underWay = new Set<CallUnderWay>();
  /** Milliseconds that the latest calls took; the oldest is written over. */
  readonly #durations: number[] = [];
  #next = 0;
  #timer: Timer | undefined;
  #tickAt = 0;
  #skipped = false;

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  /** From so many milliseconds on a call is slow. */
  get thresholdMs(): number {
    if (this.#durations.length < enough) return startingMs;
    const sorted = this.#durations.toSorted((a, b) => a - b);
    const usual = sorted[Math.ceil(sorted.length * 0.75) - 1]!;
    return Math.max(factor * usual, leastMs);
  }

  /**
   * A call has just been sent. `tell` is called with its age when it is slow, and again when it has become twice as old, until `ended`;
   * when it answers false (not now), again soon. It must not throw.
   */
  sent(notify: (ms: number) => boolean): CallUnderWay {
    const call = { sentAt: this.#clock.monotonic(), notify, leastMs: 0 };
    this.#underWay.add(call);
    if (this.#timer === undefined) this.#setTimer();
    return call;
  }

  /** `isMeasured`: it took as long as such calls take, or at least so long; not so one that ended early because something went wrong. */
  ended(call: CallUnderWay, isMeasured: boolean): void {
    this.#underWay.delete(call);
    if (isMeasured) {
      this.#durations[this.#next] = this.#clock.monotonic() - call.sentAt;
      this.#next = (this.#next + 1) % remembered;
    }
    if (this.#underWay.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #setTimer(): void {
    this.#tickAt = this.#clock.monotonic() + tickMs;
    this.#timer = this.#clock.setTimer(tickMs, () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    // This process stood still: there may be answers that it has not come to read, which it does before the next tick.
    this.#skipped = now - this.#tickAt > tickMs && !this.#skipped;
    if (!this.#skipped) this.#look(now);
    if (this.#underWay.size > 0) this.#setTimer();
    else this.#timer = undefined;
  }

  #look(now: number): void {
    const thresholdMs = this.thresholdMs;
    for (const call of this.#underWay) {
      const ms = now - call.sentAt;
      if (ms < thresholdMs) return;
      if (ms >= call.leastMs && call.notify(ms)) call.leastMs = 2 * ms;
    }
  }
}
