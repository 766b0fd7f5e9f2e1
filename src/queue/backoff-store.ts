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
  /** Called when an entity's backoff is over; it has left the store. */
  readonly onEnd: (entity: QueuedEntity) => void;
}

/** Number of outdated entries that a heap may hold beyond the number of current ones. */
const slack = 64;

/** An entity that entered the store with this state. */
interface BackingOff {
  readonly entity: QueuedEntity;
  readonly state: BackoffState;
  /** The entity's key when it entered. After it has left, its own key may change while the entry is still in a heap. */
  readonly rank: QueueKey;
}

/**
 * Entities in backoff, which grows with each failure. Entities that were rejected may be taken early, by rank; entities that failed with
 * an error wait for the whole backoff.
 */
export class BackoffStore {
  readonly #options: BackoffStoreOptions;
  /** Ordered by the end of the backoff. */
  readonly #byEnd: Heap<BackingOff>;
  /** Entities that may be taken early, ordered by rank. */
  readonly #early: Heap<BackingOff>;
  /** States of the entities in the store. A heap may still hold entities that have left. */
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

  /** Adds the entity for the rest of its backoff. Returns false, without effect, if the backoff is over. */
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
    // Outdated entries leave a heap only when they reach the top, which may never happen in a busy scheduler.
    for (const heap of [this.#byEnd, this.#early]) {
      if (heap.size > 2 * this.#present.size + slack) heap.retain((entry) => this.#present.has(entry.state));
    }
    this.#setTimer();
    return true;
  }

  /** Removes and returns the highest-ranking entity that may be taken early; the caller sets its new state. */
  takeEarly(): QueuedEntity | undefined {
    const next = this.#first(this.#early);
    if (next === undefined) return undefined;
    this.#early.pop();
    this.#present.delete(next.state);
    return next.entity;
  }

  /** Removes the entity with this state. */
  leave(state: BackoffState): void {
    this.#present.delete(state);
  }

  /** Stops the timer. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #setTimer(): void {
    const { clock, onEnd } = this.#options;
    this.#timer?.cancel();
    const next = this.#first(this.#byEnd);
    if (next === undefined || this.#stopped) return;
    this.#timer = clock.setTimer(next.state.until - clock.monotonic(), () => {
      const now = clock.monotonic();
      for (let due = this.#first(this.#byEnd); due !== undefined; due = this.#first(this.#byEnd)) {
        if (due.state.until > now) break;
        this.#byEnd.pop();
        this.#present.delete(due.state);
        onEnd(due.entity);
      }
      this.#setTimer();
    });
  }

  /** Returns the first entry that is still in the store; drops outdated ones. */
  #first(heap: Heap<BackingOff>): BackingOff | undefined {
    for (let next = heap.peek(); next !== undefined; next = heap.peek()) {
      if (this.#present.has(next.state)) return next;
      heap.pop();
    }
    return undefined;
  }
}
