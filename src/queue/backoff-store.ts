import { backoffDelay } from '../base/backoff.ts';
import type { BackoffPolicy } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { DueTimes } from '../base/due-times.ts';
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

/** Number of outdated entries that the heap may hold beyond the number of current ones. */
const slack = 64;

/** Time between two attempts of an entity that waits for pods to terminate. */
const paceMs = 1_000;

/** An entity that entered the store with this state and that the queue may take early. */
interface Early {
  readonly entity: QueuedEntity;
  readonly state: BackoffState;
  /** The entity's key when it entered. After it has left, its own key may change while the entry is still in the heap. */
  readonly rank: QueueKey;
}

/**
 * Entities in backoff, which grows with each failure. The queue may take rejected entities early, by rank. Entities that failed with an
 * error wait for the whole backoff, and those that wait for pods to terminate for a second.
 */
export class BackoffStore {
  readonly #options: BackoffStoreOptions;
  /** state -> its entity in the store, due when its backoff ends */
  readonly #ends: DueTimes<BackoffState, QueuedEntity>;
  /** Entities that the queue may take early, ordered by rank. May still hold entities that have left. */
  readonly #early: Heap<Early>;

  constructor(options: BackoffStoreOptions) {
    this.#options = options;
    this.#ends = new DueTimes(options.clock, (_state, entity) => options.onEnd(entity));
    this.#early = new Heap((a, b) => options.compare(a.rank, b.rank));
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Adds the entity for the rest of its backoff. Returns false, without effect, if the backoff is over. */
  add(entity: QueuedEntity, afterError: boolean): boolean {
    const { clock, policy } = this.#options;
    const isPaced = entity.awaited !== undefined && !afterError;
    const delay = isPaced ? paceMs : backoffDelay(policy, afterError ? entity.errors : entity.rejections);
    const until = entity.failedAt + delay;
    if (until <= clock.monotonic()) return false;
    const state: BackoffState = { kind: 'backoff', until };
    entity.state = state;
    this.#ends.set(state, until, entity);
    if (afterError || isPaced) return true;
    this.#early.push({ entity, state, rank: entity.sortKey });
    // Outdated entries leave the heap only when they reach the top, which may never happen in a busy scheduler.
    if (this.#early.size > 2 * this.size + slack) this.#early.retain((entry) => this.#ends.has(entry.state));
    return true;
  }

  /** Removes and returns the highest-ranking entity that the queue may take early; the caller sets its new state. */
  takeEarly(): QueuedEntity | undefined {
    for (let next = this.#early.pop(); next !== undefined; next = this.#early.pop())
      if (this.#ends.delete(next.state)) return next.entity;
    return undefined;
  }

  /** Removes the entity with this state. */
  leave(state: BackoffState): void {
    this.#ends.delete(state);
  }

  /** Empties the store. No backoff ends after that. */
  stop(): void {
    this.#ends.stop();
  }
}
