import type { BindPrecedence } from './bind-precedence.ts';
import type { Lane } from './lane.ts';
import type { RateLimiter } from './rate-limiter.ts';

export interface CallGateOptions {
  readonly limiter: RateLimiter;
  readonly precedence: BindPrecedence;
}

/** How one call waits at the gate. */
export interface CallWait {
  /** Start of the time that binds may hold the call, as Clock.monotonic(). Default: now. */
  readonly heldSince?: number;
  /** Aborts the wait, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Everything that a call waits for before it is sent: first for binds, then for its share of the rate limit. */
export class CallGate {
  readonly #limiter: RateLimiter;
  readonly #precedence: BindPrecedence;

  constructor(options: CallGateOptions) {
    this.#limiter = options.limiter;
    this.#precedence = options.precedence;
  }

  /**
   * Registers the start of a call. Returns undefined if it may start at once. Otherwise the promise resolves when it may start,
   * or rejects with the signal's reason if the signal aborts first. Unless it rejects, call `leave` when the call has ended, with
   * any outcome. Never throws.
   */
  enter(lane: Lane, wait: CallWait = {}): Promise<void> | undefined {
    const { heldSince, signal } = wait;
    const held = this.#precedence.enter(lane, heldSince, signal);
    if (held !== undefined) return held.then(() => this.#acquire(lane, signal));
    return this.#acquire(lane, signal);
  }

  /** Registers the end of a call that `enter` let start. */
  leave(lane: Lane): void {
    this.#precedence.leave(lane);
  }

  #acquire(lane: Lane, signal: AbortSignal | undefined): Promise<void> | undefined {
    const turn = this.#limiter.acquire(lane, signal);
    if (turn === undefined) return undefined;
    return turn.catch((error: unknown) => {
      this.#precedence.leave(lane); // it will not start, so no call may wait for its end
      throw error;
    });
  }
}
