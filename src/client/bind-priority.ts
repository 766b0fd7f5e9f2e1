import type { Clock, Timer } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import { Heap } from '../base/heap.ts';
import { AbortListeners } from './abort-listeners.ts';
import type { RateLane } from './rate-limiter.ts';
import { abortReason } from './wait.ts';

export interface BindPriorityOptions {
  readonly clock: Clock;
}

/** lane that gives way to binds -> its place among those when they go, and how long it may be held, in milliseconds */
const givingWay: Readonly<Partial<Record<RateLane, { readonly rank: number; readonly maxHoldMs: number }>>> = {
  verdict: { rank: 0, maxHoldMs: 500 },
  condition: { rank: 1, maxHoldMs: 1_000 },
  event: { rank: 2, maxHoldMs: 5_000 },
};

interface Held {
  readonly rank: number;
  /** Order of arrival. */
  readonly sequence: number;
  /** Monotonic time at which it goes in any case. */
  readonly until: number;
  readonly turn: Deferred<void>;
}

/**
 * Binds first: what only tells people something (lanes verdict, condition and event) does not take the API server's time
 * from Bindings. While a call of lane bind is under way, those calls are held, each for a limited time; when the last bind
 * ends all of them go, verdicts before conditions before Events, in order of arrival within a lane. Other lanes are never
 * held.
 */
export class BindPriority {
  readonly #clock: Clock;
  readonly #aborts = new AbortListeners();
  /** Those whose time is up soonest first. */
  #held = new Heap(byDeadline);
  #sequence = 0;
  #binds = 0;
  #timer: Timer | undefined;
  /** When the timer fires. */
  #timerAt = 0;

  constructor(options: BindPriorityOptions) {
    this.#clock = options.clock;
  }

  /** Calls held now. */
  get held(): number {
    return this.#held.size;
  }

  /**
   * A call begins; for one of lane bind `leave` must follow when it has ended, however it ended. Undefined: the call goes at
   * once. Otherwise resolves when it may go, or rejects with the signal's reason when that comes first. `since` (monotonic) is
   * what the time that it may be held counts from; default now. Never throws.
   */
  enter(lane: RateLane, since?: number, signal?: AbortSignal): Promise<void> | undefined {
    if (lane === 'bind') {
      this.#binds++;
      return undefined;
    }
    const rules = givingWay[lane];
    if (this.#binds === 0 || rules === undefined) return undefined;
    const now = this.#clock.monotonic();
    const until = (since ?? now) + rules.maxHoldMs;
    if (until <= now) return undefined;
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    return this.#hold({ rank: rules.rank, sequence: this.#sequence++, until, turn: deferred() }, signal);
  }

  /** A call that was entered has ended. */
  leave(lane: RateLane): void {
    if (lane !== 'bind' || --this.#binds > 0 || this.#held.size === 0) return;
    const held = [...this.#held.values()].sort(byTurn);
    this.#held = new Heap(byDeadline);
    this.#setTimer();
    for (const { turn } of held) turn.resolve();
  }

  #hold(call: Held, signal: AbortSignal | undefined): Promise<void> {
    this.#held.push(call);
    this.#setTimer();
    const { promise } = call.turn;
    if (signal === undefined) return promise;
    const onAbort = (): void => {
      if (!this.#held.remove(call)) return;
      this.#setTimer();
      call.turn.reject(abortReason(signal));
    };
    this.#aborts.add(signal, onAbort);
    return promise.finally(() => this.#aborts.delete(signal, onAbort));
  }

  /** Lets go whatever has been held long enough. */
  #expire(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#held.peek(); next !== undefined && next.until <= now; next = this.#held.peek()) {
      this.#held.pop();
      next.turn.resolve();
    }
    this.#setTimer();
  }

  #setTimer(): void {
    const at = this.#held.peek()?.until;
    if (this.#timer !== undefined && at === this.#timerAt) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === undefined) return;
    this.#timerAt = at;
    this.#timer = this.#clock.setTimer(at - this.#clock.monotonic(), () => {
      this.#timer = undefined;
      this.#expire();
    });
  }
}

function byDeadline(a: Held, b: Held): number {
  return a.until - b.until || byTurn(a, b);
}

function byTurn(a: Held, b: Held): number {
  return a.rank - b.rank || a.sequence - b.sequence;
}
