import type { Clock, Timer } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import { AbortListeners } from './abort-listeners.ts';
import type { Lane } from './lane.ts';
import { abortReason } from './wait.ts';

export interface RateLimiterOptions {
  readonly clock: Clock;
  /** Long-run calls per second, as in client-go; 0 or less: no limit. */
  readonly qps: number;
  /** Calls that may start at once after a quiet time; at least 1. */
  readonly burst: number;
}

type QueuedLane = Exclude<Lane, 'lease'>;

interface LaneQueue {
  readonly weight: number;
  readonly waiting: Set<Deferred<void>>;
  /** Share that this lane has used. The waiting lane with the least used share is next. */
  used: number;
}

/**
 * A token bucket that several lanes share. Each token goes to the waiting lane that has used the least of its share (stride
 * scheduling). A single lane gets the whole rate; under load, binds get most of it. No lane waits until another one is empty. Within a
 * lane, calls start in the order in which they arrived.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  /** lane -> its queue and share */
  readonly #lanes: Readonly<Record<QueuedLane, LaneQueue>> = {
    bind: { weight: 16, waiting: new Set(), used: 0 },
    verdict: { weight: 8, waiting: new Set(), used: 0 },
    condition: { weight: 4, waiting: new Set(), used: 0 },
    read: { weight: 4, waiting: new Set(), used: 0 },
    event: { weight: 1, waiting: new Set(), used: 0 },
  };
  readonly #queues: readonly LaneQueue[] = Object.values(this.#lanes);
  readonly #aborts = new AbortListeners();
  /** Number of waiting calls over all lanes. */
  #waiting = 0;
  /** `used` of the lane of the latest call, before that call. A lane that was idle starts here, so that it accumulates no share while idle. */
  #level = 0;
  #tokens: number;
  #filledAt: number;
  #timer: Timer | undefined;

  constructor(options: RateLimiterOptions) {
    this.#clock = options.clock;
    this.#perMs = options.qps / 1000;
    this.#burst = Math.max(1, options.burst);
    this.#tokens = this.#burst;
    this.#filledAt = this.#clock.monotonic();
  }

  /**
   * Returns undefined if the call may start at once; its token is then taken. Otherwise the promise resolves when a call of this
   * lane may start, or rejects with the signal's reason if the signal aborts first; it then uses no token. Never throws.
   */
  acquire(lane: Lane, signal?: AbortSignal): Promise<void> | undefined {
    if (signal?.aborted) return Promise.reject(abortReason(signal));
    if (lane === 'lease' || this.#perMs <= 0) return undefined;
    const queue = this.#lanes[lane];
    if (queue.waiting.size === 0) queue.used = Math.max(queue.used, this.#level);
    this.#refill();
    // While calls wait, new tokens go to the lanes by share, so this call waits with the others of its lane.
    if (this.#waiting > 0 || this.#tokens < 1) return this.#wait(queue, signal);
    this.#take(queue);
    return undefined;
  }

  #wait(queue: LaneQueue, signal: AbortSignal | undefined): Promise<void> {
    const turn = deferred();
    queue.waiting.add(turn);
    this.#waiting++;
    this.#serve();
    if (signal === undefined || !queue.waiting.has(turn)) return turn.promise;
    const onAbort = (): void => {
      if (!queue.waiting.delete(turn)) return;
      this.#waiting--;
      turn.reject(abortReason(signal));
    };
    this.#aborts.add(signal, onAbort);
    return turn.promise.finally(() => this.#aborts.delete(signal, onAbort));
  }

  #serve(): void {
    this.#refill();
    for (let queue = this.#next(); queue !== undefined && this.#tokens >= 1; queue = this.#next()) {
      const [turn] = queue.waiting;
      queue.waiting.delete(turn!);
      this.#waiting--;
      this.#take(queue);
      turn!.resolve();
    }
    if (this.#timer === undefined && this.#waiting > 0) {
      this.#timer = this.#clock.setTimer(Math.ceil((1 - this.#tokens) / this.#perMs), () => {
        this.#timer = undefined;
        this.#serve();
      });
    }
  }

  #take(queue: LaneQueue): void {
    this.#level = queue.used;
    queue.used += 1 / queue.weight;
    this.#tokens -= 1;
  }

  /** Returns the waiting lane that has used the least of its share. */
  #next(): LaneQueue | undefined {
    if (this.#waiting === 0) return undefined;
    let next: LaneQueue | undefined;
    for (const queue of this.#queues) {
      if (queue.waiting.size > 0 && (next === undefined || queue.used < next.used)) next = queue;
    }
    return next;
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#perMs);
    this.#filledAt = now;
  }
}
