import type { Clock, Timer } from '../base/clock.ts';
import { NotLeadingError } from './api-errors.ts';

/**
 * Decides whether this process may write. The fence is closed at first, then open until a deadline on the monotonic clock, which
 * each renewal of the Lease extends. It ends permanently when the deadline passes or when `end` is called. Writers call `check` at
 * the last moment, so that a process that was paused finds its writes rejected when it resumes, before any timer has fired.
 */
export class WriteFence {
  readonly #clock: Clock;
  readonly #end = new AbortController();
  #until = -Infinity;
  #timer: Timer | undefined;
  /** Monotonic time at which a write that may have bound a pod last got no response. */
  #inDoubtSince = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts with a NotLeadingError when the fence ends, to cut off writes in flight. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get isOpen(): boolean {
    return !this.#end.signal.aborted && this.#clock.monotonic() < this.#until;
  }

  /** Throws NotLeadingError unless a write may be sent now. */
  check(): void {
    if (this.isOpen) return;
    if (!this.#end.signal.aborted && this.#until > -Infinity) this.#expire();
    this.#end.signal.throwIfAborted();
    throw new NotLeadingError('not the leader yet');
  }

  /**
   * Opens the fence until this time, as Clock.monotonic(). Does nothing once the fence has ended, for example because the earlier
   * deadline has passed.
   */
  openUntil(until: number): void {
    if (this.#end.signal.aborted) return;
    if (this.#until > -Infinity && this.#clock.monotonic() >= this.#until) {
      this.#expire();
      return;
    }
    this.#until = until;
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(until - this.#clock.monotonic(), () => this.#expire());
  }

  /** Ends the fence: it rejects further writes and cuts off those in flight. */
  end(reason: string): void {
    this.#timer?.cancel();
    if (!this.#end.signal.aborted) this.#end.abort(new NotLeadingError(reason));
  }

  /**
   * Sends a write while the fence is open. `send` must call `mayBeSent` at the last moment, which throws NotLeadingError if the
   * fence has closed. It must also end the write when `signal` aborts. `leavesDoubt` decides, for an error after the write was
   * sent, whether it may still bind a pod.
   */
  async pass<T>(
    send: (mayBeSent: () => void, signal: AbortSignal) => Promise<T>,
    leavesDoubt: (error: unknown) => boolean,
  ): Promise<T> {
    let isSent = false;
    const mayBeSent = (): void => {
      this.check();
      isSent = true;
    };
    this.check();
    try {
      return await send(mayBeSent, this.signal);
    } catch (error) {
      if (isSent && leavesDoubt(error)) this.#inDoubtSince = this.#clock.monotonic();
      throw error;
    }
  }

  /**
   * Returns whether a bind within this time got no response, because this process cut it off or lost it: it may still take
   * effect.
   */
  hasBindInDoubt(withinMs: number): boolean {
    return this.#clock.monotonic() - this.#inDoubtSince < withinMs;
  }

  #expire(): void {
    this.end('the Lease was not renewed in time');
  }
}
