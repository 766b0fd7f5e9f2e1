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

interface HeldCall {
  readonly sequence: number;
  /** Monotonic time at which it goes in any case. */
  readonly until: number;
  readonly turn: Deferred<void>;
}

/** Calls of one such lane under way at most: a bind that comes now finds connections free. */
const laneLimit = 12;

/** A lane that gives way to binds. Times in milliseconds. */
class HeldLane {
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
export class BindPriority {
  readonly #clock: Clock;
  readonly #aborts = new AbortListeners();
  /** lane -> its calls; lanes in the order in which they go */
  readonly #lanes: Readonly<Partial<Record<RateLane, HeldLane>>> = {
    verdict: new HeldLane(0, 500),
    condition: new HeldLane(0, 1_000),
    event: new HeldLane(100, 5_000),
  };
  readonly #inOrder: readonly HeldLane[] = Object.values(this.#lanes);
  #sequence = 0;
  #binds = 0;
  /** Monotonic time at which the last bind ended. */
  #quietSince = -Infinity;
  #timer: Timer | undefined;
  /** When the timer fires; it is set anew only for something sooner. */
  #timerAt = Infinity;

  constructor(options: BindPriorityOptions) {
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
  enter(laneName: RateLane, since?: number, signal?: AbortSignal): Promise<void> | undefined {
    if (laneName === 'bind') {
      this.#binds++;
      return undefined;
    }
    const lane = this.#lanes[laneName];
    if (lane === undefined) return undefined;
    const now = this.#clock.monotonic();
    const until = (since ?? now) + lane.maxHoldMs;
    if (until <= now || this.#mayGo(lane, now)) {
      lane.underWay++;
      return undefined;
    }
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    return this.#hold(lane, { sequence: this.#sequence++, until, turn: deferred() }, signal);
  }

  /** A call that went has ended. */
  leave(laneName: RateLane): void {
    if (laneName === 'bind') {
      if (--this.#binds > 0) return;
      this.#quietSince = this.#clock.monotonic();
    } else {
      const lane = this.#lanes[laneName];
      if (lane === undefined) return;
      lane.underWay--;
    }
    if (this.held > 0) this.#letGo();
  }

  #isQuiet({ quietMs }: HeldLane, now: number): boolean {
    return this.#binds === 0 && now >= this.#quietSince + quietMs;
  }

  #mayGo(lane: HeldLane, now: number): boolean {
    return lane.underWay < laneLimit && this.#isQuiet(lane, now);
  }

  #hold(lane: HeldLane, call: HeldCall, signal: AbortSignal | undefined): Promise<void> {
    lane.calls.push(call);
    this.#setTimer();
    const { promise } = call.turn;
    if (signal === undefined) return promise;
    const onAbort = (): void => {
      if (!lane.calls.remove(call)) return;
      if (this.held === 0) this.#cancelTimer();
      call.turn.reject(abortReason(signal));
    };
    this.#aborts.add(signal, onAbort);
    return promise.finally(() => this.#aborts.delete(signal, onAbort));
  }

  /** Whoever need not wait any longer goes. */
  #letGo(): void {
    const now = this.#clock.monotonic();
    for (const lane of this.#inOrder) {
      for (let next = lane.calls.peek(); next !== undefined; next = lane.calls.peek()) {
        if (next.until > now && !this.#mayGo(lane, now)) break;
        lane.calls.pop();
        lane.underWay++;
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
      const waitsForQuiet = this.#binds === 0 && underWay < laneLimit;
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
