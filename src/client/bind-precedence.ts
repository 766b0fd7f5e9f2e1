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
  /** Monotonic time from which the call no longer waits. */
  readonly until: number;
  readonly turn: Deferred<void>;
}

/** Maximum number of concurrent calls of one lane that yields to binds, so that a new bind finds a free connection. */
const inFlightLimit = 12;

/** The calls of one lane that yields to binds. Times are in milliseconds. */
class YieldingLane {
  /** Time without a bind in flight before calls of this lane start. */
  readonly quietMs: number;
  /** Maximum time to hold a call. */
  readonly maxHoldMs: number;
  inFlight = 0;
  /** Held calls, earliest deadline first; without `since` that is the order of arrival. */
  readonly calls = new Heap(bySoonest);

  constructor(quietMs: number, maxHoldMs: number) {
    this.quietMs = quietMs;
    this.maxHoldMs = maxHoldMs;
  }
}

/**
 * Gives binds precedence. Calls that only report something (lanes verdict, condition and event) must not take the API server's
 * time from Bindings. While a call of lane bind is in flight, they are held, each for a limited time. When the last bind ends,
 * verdicts start first, then conditions, a few at a time. Events wait until there was no bind for a moment: the Events of a burst
 * of gangs that are bound one by one follow the burst. Other lanes are never held.
 */
export class BindPrecedence {
  readonly #clock: Clock;
  readonly #aborts = new AbortListeners();
  /** lane -> its calls, in the order in which lanes start */
  readonly #yielding: Readonly<Partial<Record<Lane, YieldingLane>>> = {
    verdict: new YieldingLane(0, 500),
    condition: new YieldingLane(0, 1_000),
    event: new YieldingLane(100, 5_000),
  };
  readonly #inOrder: readonly YieldingLane[] = Object.values(this.#yielding);
  #sequence = 0;
  #binds = 0;
  /** Monotonic time of the end of the last bind. */
  #quietSince = -Infinity;
  #timer: Timer | undefined;
  /** Time at which the timer fires. The timer is set again only for an earlier time. */
  #timerAt = Infinity;

  constructor(options: BindPrecedenceOptions) {
    this.#clock = options.clock;
  }

  /** Number of held calls. */
  get held(): number {
    return this.#inOrder.reduce((sum, { calls }) => sum + calls.size, 0);
  }

  /**
   * Registers the start of a call. Returns undefined if the call may start at once. Otherwise the promise resolves when it may
   * start, or rejects with the signal's reason if the signal aborts first. Unless it rejects, call `leave` when the call has ended,
   * with any outcome. `since` (monotonic) is the start of the time that the call may be held; default now. Never throws.
   */
  enter(lane: Lane, since?: number, signal?: AbortSignal): Promise<void> | undefined {
    if (lane === 'bind') {
      this.#binds++;
      return undefined;
    }
    const yielding = this.#yielding[lane];
    if (yielding === undefined) return undefined;
    const now = this.#clock.monotonic();
    const until = (since ?? now) + yielding.maxHoldMs;
    if (until <= now || this.#mayStart(yielding, now)) {
      yielding.inFlight++;
      return undefined;
    }
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    return this.#hold(yielding, { sequence: this.#sequence++, until, turn: deferred() }, signal);
  }

  /** Registers the end of a call that `enter` let start. */
  leave(lane: Lane): void {
    if (lane === 'bind') {
      if (--this.#binds > 0) return;
      this.#quietSince = this.#clock.monotonic();
    } else {
      const yielding = this.#yielding[lane];
      if (yielding === undefined) return;
      yielding.inFlight--;
    }
    if (this.held > 0) this.#startCalls();
  }

  #isQuiet({ quietMs }: YieldingLane, now: number): boolean {
    return this.#binds === 0 && now >= this.#quietSince + quietMs;
  }

  #mayStart(yielding: YieldingLane, now: number): boolean {
    return yielding.inFlight < inFlightLimit && this.#isQuiet(yielding, now);
  }

  #hold(yielding: YieldingLane, call: HeldCall, signal: AbortSignal | undefined): Promise<void> {
    yielding.calls.push(call);
    this.#setTimer();
    const { promise } = call.turn;
    if (signal === undefined) return promise;
    const onAbort = (): void => {
      if (!yielding.calls.remove(call)) return;
      if (this.held === 0) this.#cancelTimer();
      call.turn.reject(abortReason(signal));
    };
    this.#aborts.add(signal, onAbort);
    return promise.finally(() => this.#aborts.delete(signal, onAbort));
  }

  /** Starts every call that may start now. */
  #startCalls(): void {
    const now = this.#clock.monotonic();
    for (const yielding of this.#inOrder) {
      for (let next = yielding.calls.peek(); next !== undefined; next = yielding.calls.peek()) {
        if (next.until > now && !this.#mayStart(yielding, now)) break;
        yielding.calls.pop();
        yielding.inFlight++;
        next.turn.resolve();
      }
    }
    if (this.held === 0) this.#cancelTimer();
    else this.#setTimer();
  }

  #setTimer(): void {
    let at = Infinity;
    for (const { calls, quietMs, inFlight } of this.#inOrder) {
      const soonest = calls.peek();
      if (soonest === undefined) continue;
      const waitsForQuiet = this.#binds === 0 && inFlight < inFlightLimit;
      at = Math.min(at, soonest.until, waitsForQuiet ? this.#quietSince + quietMs : Infinity);
    }
    if (at >= this.#timerAt) return;
    this.#cancelTimer();
    this.#timerAt = at;
    this.#timer = this.#clock.setTimer(at - this.#clock.monotonic(), () => {
      this.#timerAt = Infinity;
      this.#startCalls();
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
