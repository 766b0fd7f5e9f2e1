import type { Clock, Timer } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import { Heap } from '../base/heap.ts';
import { AbortListeners } from './abort-listeners.ts';
import type { Lane } from './lane.ts';
import { abortReason } from './wait.ts';

export interface BindPrecedenceOptions {
  readonly clock: Clock;
}

interface HeldCall {
  readonly sequence: number;
  /** Monotonic time at which it goes in any case. */
  readonly until: number;
  readonly turn: Deferred<void>;
}

/** Calls under way at most, of one lane that gives way: a bind that comes now finds connections free. */
const underWayLimit = 12;

/** The calls of one lane, which give way to binds. Times in milliseconds. */
class Followers {
  /** How long no bind must have been under way before its calls go. */
  readonly quietMs: number;
  /** How long a call may be held. */
  readonly maxHoldMs: number;
  underWay = 0;
  /** Those whose time is up soonest go first: without `since`, those that came first. */
  readonly calls = new Heap(bySoonest);

  constructor(quietMs: number, maxHoldMs: number) {
    this.quietMs = quietMs;
    this.maxHoldMs = maxHoldMs;
  }
}

/**
 * Binds first: what only tells people something (lanes verdict, condition and event) does not take the API server's time
 * from Bindings. While a call of lane bind is under way those calls are held, each for a limited time; when the last bind
 * ends verdicts go, then conditions, a few at a time. Events wait until no bind has been under way for a moment, so that a burst of gangs that
 * come and are bound one by one is over before its Events are written. Other lanes are never held.
 */
export class BindPrecedence {
  readonly #clock: Clock;
  readonly #aborts = new AbortListeners();
  /** lane -> its calls; in the order in which they go */
  readonly #followers: Readonly<Partial<Record<Lane, Followers>>> = {
    verdict: new Followers(0, 500),
    condition: new Followers(0, 1_000),
    event: new Followers(100, 5_000),
  };
  readonly #inOrder: readonly Followers[] = Object.values(this.#followers);
  #sequence = 0;
  #binds = 0;
  /** Monotonic time at which the last bind ended. */
  #quietSince = -Infinity;
  #timer: Timer | undefined;
  /** When the timer fires; it is set anew only for something sooner. */
  #timerAt = Infinity;

  constructor(options: BindPrecedenceOptions) {
    this.#clock = options.clock;
  }

  /** Calls held now. */
  get held(): number {
    return this.#inOrder.reduce((sum, { calls }) => sum + calls.size, 0);
  }

  /**
   * A call begins. Undefined: it goes at once. Otherwise resolves when it may go, or rejects with the signal's reason when that
   * comes first. Unless it rejects, `leave` must follow when the call has ended, however it ended. `since` (monotonic) is
   * what the time that it may be held counts from; default now. Never throws.
   */
  enter(lane: Lane, since?: number, signal?: AbortSignal): Promise<void> | undefined {
    if (lane === 'bind') {
      this.#binds++;
      return undefined;
    }
    const followers = this.#followers[lane];
    if (followers === undefined) return undefined;
    const now = this.#clock.monotonic();
    const until = (since ?? now) + followers.maxHoldMs;
    if (until <= now || this.#mayGo(followers, now)) {
      followers.underWay++;
      return undefined;
    }
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    return this.#hold(followers, { sequence: this.#sequence++, until, turn: deferred() }, signal);
  }

  /** A call that went has ended. */
  leave(lane: Lane): void {
    if (lane === 'bind') {
      if (--this.#binds > 0) return;
      this.#quietSince = this.#clock.monotonic();
    } else {
      const followers = this.#followers[lane];
      if (followers === undefined) return;
      followers.underWay--;
    }
    if (this.held > 0) this.#letGo();
  }

  #isQuiet({ quietMs }: Followers, now: number): boolean {
    return this.#binds === 0 && now >= this.#quietSince + quietMs;
  }

  #mayGo(followers: Followers, now: number): boolean {
    return followers.underWay < underWayLimit && this.#isQuiet(followers, now);
  }

  #hold(followers: Followers, call: HeldCall, signal: AbortSignal | undefined): Promise<void> {
    followers.calls.push(call);
    this.#setTimer();
    const { promise } = call.turn;
    if (signal === undefined) return promise;
    const onAbort = (): void => {
      if (!followers.calls.remove(call)) return;
      if (this.held === 0) this.#cancelTimer();
      call.turn.reject(abortReason(signal));
    };
    this.#aborts.add(signal, onAbort);
    return promise.finally(() => this.#aborts.delete(signal, onAbort));
  }

  /** Whoever need not wait any longer goes. */
  #letGo(): void {
    const now = this.#clock.monotonic();
    for (const followers of this.#inOrder) {
      for (let next = followers.calls.peek(); next !== undefined; next = followers.calls.peek()) {
        if (next.until > now && !this.#mayGo(followers, now)) break;
        followers.calls.pop();
        followers.underWay++;
        next.turn.resolve();
      }
    }
    if (this.held === 0) this.#cancelTimer();
    else this.#setTimer();
  }

  #setTimer(): void {
    let at = Infinity;
    for (const { calls, quietMs, underWay } of this.#inOrder) {
      const soonest = calls.peek();
      if (soonest === undefined) continue;
      const waitsForQuiet = this.#binds === 0 && underWay < underWayLimit;
      at = Math.min(at, soonest.until, waitsForQuiet ? this.#quietSince + quietMs : Infinity);
    }
    if (at >= this.#timerAt) return;
    this.#cancelTimer();
    this.#timerAt = at;
    this.#timer = this.#clock.setTimer(at - this.#clock.monotonic(), () => {
      this.#timerAt = Infinity;
      this.#letGo();
    });
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timerAt = Infinity;
  }
}

function bySoonest(a: HeldCall, b: HeldCall): number {
  return a.until - b.until || a.sequence - b.sequence;
}
