import { backoffDelay } from '../base/backoff.ts';
import type { BackoffPolicy } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { Heap } from '../base/heap.ts';
import type { QueueKey } from '../framework/scheduling-entity.ts';
import type { BackoffState, QueuedEntity } from './queued-entity.ts';

export interface BackoffStoreOptions {
  readonly clock: Clock;
  readonly policy: BackoffPolicy;
  readonly compare: (a: QueueKey, b: QueueKey) => number;
  /** The entity's penalty is over; it has left the store. */
  readonly ended: (entity: QueuedEntity) => void;
}

/** Entries that have left and may stay in a heap, besides as many as there are. */
const slack = 64;

/** An entity that came into the store with this state. */
interface BackingOff {
  readonly entity: QueuedEntity;
  readonly state: BackoffState;
  /** The entity's key when it came: that of one that has left may change while it is still in a heap. */
  readonly rank: QueueKey;
}

/**
 * Entities that wait for a penalty to end, which grows with each failure. Those that were rejected may be taken early, by rank;
 * those that failed with an error sit it out.
 */
export class BackoffStore {
  readonly #options: BackoffStoreOptions;
  /** By the end of the penalty. */
  readonly #byEnd: Heap<BackingOff>;
  /** By rank, those that may be taken early. */
  readonly #early: Heap<BackingOff>;
  /** The states of those that are in the store; a heap may still hold one that has left. */
  readonly #present = new Set<BackoffState>();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: BackoffStoreOptions) {
    this.#options = options;
    const byRank = (a: BackingOff, b: BackingOff): number => options.compare(a.rank, b.rank);
    this.#byEnd = new Heap((a, b) => a.state.until - b.state.until || byRank(a, b));
    this.#early = new Heap(byRank);
  }

  get size(): number {
    return this.#present.size;
  }

  /** Takes the entity in for what is left of its penalty; false, and nothing done, when none is left. */
  add(entity: QueuedEntity, afterError: boolean): boolean {
    const { clock, policy } = this.#options;
    const until = entity.failedAt + backoffDelay(policy, afterError ? entity.errors : entity.rejections);
    if (until <= clock.monotonic()) return false;
    const state: BackoffState = { kind: 'backoff', until };
    entity.state = state;
    this.#present.add(state);
    const backingOff = { entity, state, rank: entity.sortKey };
    this.#byEnd.push(backingOff);
    if (!afterError) this.#early.push(backingOff);
    // What has left stays in a heap until it comes up, which in a scheduler that is never idle may be never.
    for (const heap of [this.#byEnd, this.#early]) {
      if (heap.size > 2 * this.#present.size + slack) heap.retain((entry) => this.#present.has(entry.state));
    }
    this.#setTimer();
    return true;
  }

  /** The highest-ranking one that may be taken early, out of the store; the caller gives it another state. */
  takeEarly(): QueuedEntity | undefined {
    const next = this.#first(this.#early);
    if (next === undefined) return undefined;
    this.#early.pop();
    this.#present.delete(next.state);
    return next.entity;
  }

  /** The entity, whose state this is, leaves some other way. */
  leave(state: BackoffState): void {
    this.#present.delete(state);
  }

  /** Nothing ends any more. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #setTimer(): void {
    const { clock, ended } = this.#options;
    this.#timer?.cancel();
    const next = this.#first(this.#byEnd);
    if (next === undefined || this.#stopped) return;
    this.#timer = clock.setTimer(next.state.until - clock.monotonic(), () => {
      const now = clock.monotonic();
      for (let due = this.#first(this.#byEnd); due !== undefined; due = this.#first(this.#byEnd)) {
        if (due.state.until > now) break;
        this.#byEnd.pop();
        this.#present.delete(due.state);
        ended(due.entity);
      }
      this.#setTimer();
    });
  }

  /** The first of the heap that is still in the store; what has left some other way is dropped here. */
  #first(heap: Heap<BackingOff>): BackingOff | undefined {
    for (let next = heap.peek(); next !== undefined; next = heap.peek()) {
      if (this.#present.has(next.state)) return next;
      heap.pop();
    }
    return undefined;
  }
}
