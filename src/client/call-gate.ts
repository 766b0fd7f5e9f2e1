import type { BindPrecedence } from './bind-precedence.ts';
import type { Lane } from './lane.ts';
import type { RateLimiter } from './rate-limiter.ts';

export interface CallGateOptions {
  readonly limiter: RateLimiter;
  readonly precedence: BindPrecedence;
}

/** How one call waits at the gate. */
export interface CallWait {
  /** What the time that binds may hold the call up counts from, as Clock.monotonic(). Default: now. */
  readonly heldSince?: number;
  /** Ends the waiting, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Everything that a call may have to wait for before it is sent: first for binds, then for its share of the rate. */
export class CallGate {
  readonly #limiter: RateLimiter;
  readonly #precedence: BindPrecedence;

  constructor(options: CallGateOptions) {
    this.#limiter = options.limiter;
    this.#precedence = options.precedence;
  }

  /**
   * A call begins. Undefined: it goes at once. Otherwise resolves when it may go, or rejects with the signal's reason when that
   * comes first. Unless it rejects, `leave` must follow when the call has ended, however it ended. Never throws.
   */
  enter(lane: Lane, wait: CallWait = {}): Promise<void> | undefined {
    const { heldSince, signal } = wait;
    const held = this.#precedence.enter(lane, heldSince, signal);
    if (held !== undefined) return held.then(() => this.#acquire(lane, signal));
    return this.#acquire(lane, signal);
  }

  /** A call that went has ended. */
  leave(lane: Lane): void {
    this.#precedence.leave(lane);
  }

  #acquire(lane: Lane, signal: AbortSignal | undefined): Promise<void> | undefined {
    const turn = this.#limiter.acquire(lane, signal);
    if (turn === undefined) return undefined;
    return turn.catch((error: unknown) => {
      this.#precedence.leave(lane); // it will not go, so nobody shall wait for its end
      throw error;
    });
  }
}
