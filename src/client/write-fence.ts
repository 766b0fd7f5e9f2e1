import type { Clock, Timer } from '../base/clock.ts';
import { NotLeadingError } from './api-errors.ts';

/**
 * Whether this process may write. Closed at first; open until a deadline on the monotonic clock that each renewal of the Lease
 * moves on; and ended for good when the deadline passes, or by `end`. Whoever writes asks `check` at the last moment: a
 * process that was stopped for a while finds its writes rejected when it goes on, before any timer has fired.
 */
export class WriteFence {
  readonly #clock: Clock;
  readonly #end = new AbortController();
  #until = -Infinity;
  #timer: Timer | undefined;
  /** Monotonic time at which a write that may bind was last left without an answer. */
  #inDoubtSince = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts with a NotLeadingError when the permission has ended: what is under way is given up. */
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

  /** Open until then, as Clock.monotonic(). Does nothing once it has ended, which it has when the earlier deadline has passed. */
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

  /** No write is sent any more; those under way are cut. */
  end(reason: string): void {
    this.#timer?.cancel();
    if (!this.#end.signal.aborted) this.#end.abort(new NotLeadingError(reason));
  }

  /**
   * Sends a write, while the fence is open. `send` must see to it that `mayBeSent` is called at the last moment, which throws NotLeadingError when
   * the fence has closed meanwhile, and that what is under way ends when `signal` aborts. `leavesDoubt`: of what a write failed with
   * that had been sent, whether a bind may still come of it.
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

  /** Whether a bind was left without an answer in the last so many milliseconds, cut by this process or lost: it may still be carried out. */
  hasBindInDoubt(withinMs: number): boolean {
    return this.#clock.monotonic() - this.#inDoubtSince < withinMs;
  }

  #expire(): void {
    this.end('the Lease could not be renewed in time');
  }
}
