import type { Clock, Timer } from '../base/clock.ts';
import { NotLeadingError } from './api-errors.ts';

/**
 * Whether this process may write. Closed at first; open until a deadline on the monotonic clock that each renewal of the Lease
 * moves on; and ended for good when the deadline passes, or by `end`. Whoever writes asks `check` at the last moment: a
 * process that was stopped for a while finds its writes refused when it goes on, before any timer has fired.
 */
export class WriteFence {
  readonly #clock: Clock;
  readonly #end = new AbortController();
  #until = -Infinity;
  #timer: Timer | undefined;
  #hasBindsInDoubt = false;

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

  /** A bind was given up after it had been sent: the API server may still carry it out. */
  leaveBindInDoubt(): void {
    this.#hasBindsInDoubt = true;
  }

  get hasBindsInDoubt(): boolean {
    return this.#hasBindsInDoubt;
  }

  #expire(): void {
    this.end('the Lease could not be renewed in time');
  }
}
