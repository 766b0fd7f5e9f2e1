import type { Clock, Timer } from '../../base/clock.ts';

/** Number of latest durations to keep, and the minimum number for a threshold. */
const remembered = 64;
const enough = 8;
/** A call is slow if it takes this many times the 75th percentile of the latest durations, and at least minSlowMs. */
const factor = 2;
const minSlowMs = 250;
/** Threshold until enough calls have ended. */
const startingMs = 1_000;
const tickMs = 50;

/** A call that was sent. Times are Clock.monotonic(). */
export interface RunningCall {
  readonly sentAt: number;
  readonly notify: (ms: number) => boolean;
  /** Minimum age for the next notification. */
  minAgeMs: number;
}

/**
 * Detects calls that take far longer than others of their kind. The threshold is twice the 75th percentile of the latest durations. Up to a
 * quarter of the calls may therefore hang and still be reported. If more hang, or a busy server delays all calls alike, this becomes the
 * normal duration after a few calls, and none is reported. The threshold is at least 250 ms: a smaller delay is not worth a second call.
 */
export class SlowCalls {
  readonly #clock: Clock;
  /** In the order of sending. */
  readonly #running = new Set<RunningCall>();
  /** Milliseconds of the latest calls, as a ring buffer. */
  readonly #durations: number[] = [];
  #next = 0;
  #timer: Timer | undefined;
  #tickAt = 0;
  #skipped = false;

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  /** Age in milliseconds from which a call is slow. */
  get thresholdMs(): number {
    if (this.#durations.length < enough) return startingMs;
    const sorted = this.#durations.toSorted((a, b) => a - b);
    const percentile75 = sorted[Math.ceil(sorted.length * 0.75) - 1]!;
    return Math.max(factor * percentile75, minSlowMs);
  }

  /**
   * Starts to measure a call that was just sent. `notify` gets its age once it is slow, and again whenever the age has doubled, until
   * `ended`. If `notify` returns false (not now), it is called again soon. It must not throw.
   */
  sent(notify: (ms: number) => boolean): RunningCall {
    const call = { sentAt: this.#clock.monotonic(), notify, minAgeMs: 0 };
    this.#running.add(call);
    if (this.#timer === undefined) this.#setTimer();
    return call;
  }

  /** `isMeasured`: the duration is typical, or a lower bound. False for a call that ended early because of an error. */
  ended(call: RunningCall, isMeasured: boolean): void {
    this.#running.delete(call);
    if (isMeasured) {
      this.#durations[this.#next] = this.#clock.monotonic() - call.sentAt;
      this.#next = (this.#next + 1) % remembered;
    }
    if (this.#running.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #setTimer(): void {
    this.#tickAt = this.#clock.monotonic() + tickMs;
    this.#timer = this.#clock.setTimer(tickMs, () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.monotonic();
    // The event loop was blocked. Responses that have already arrived will be read before the next tick.
    this.#skipped = now - this.#tickAt > tickMs && !this.#skipped;
    if (!this.#skipped) this.#notifySlow(now);
    if (this.#running.size > 0) this.#setTimer();
    else this.#timer = undefined;
  }

  #notifySlow(now: number): void {
    const thresholdMs = this.thresholdMs;
    for (const call of this.#running) {
      const ms = now - call.sentAt;
      if (ms < thresholdMs) return;
      if (ms >= call.minAgeMs && call.notify(ms)) call.minAgeMs = 2 * ms;
    }
  }
}
