import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import { Heap } from '../../base/heap.ts';
import type { SchedulingEntity, QueueKey } from '../../framework/scheduling-entity.ts';
import type { EventHints, Rejection } from '../../framework/event-hints.ts';
import type { QueuedEntity, UnschedulableState } from '../queued-entity.ts';

/** Verdict of the class's latest attempt, and how to word it for the other entities. */
export interface ClassReport {
  readonly verdict: Verdict;
  /** Returns the verdict for another entity of the class with these members. Throws what a plugin throws. */
  readonly verdictFor: (schedulingEntity: SchedulingEntity, members: readonly Pod[]) => Verdict;
  /** Cluster.nodesRevision at the attempt. */
  readonly nodesRevision: number;
  /** Cluster.changes at the attempt. */
  readonly changes: number;
}

/** An entity that joined the class with this state. */
interface Waiting {
  readonly entity: QueuedEntity;
  readonly state: UnschedulableState;
  /** The entity's sort key when it joined. After it has left, its own key may change while the entry is still in the heap. */
  readonly rank: QueueKey;
}

/** Number of outdated entries that the heap may hold beyond the number of waiting entities. */
const slack = 64;

/** Unschedulable entities that share one rejection. equivalence-classes.ts describes the contract. */
export class EquivalenceClass {
  /** Undefined for a class of one, which no other entity can join. */
  readonly key: string | undefined;
  readonly hints: EventHints;
  /** Rejection of the latest attempt. Its pods belong to `rejected`. */
  rejection: Rejection;
  /** The entity that the latest attempt rejected, or another one that waits if that one has left. */
  rejected: QueuedEntity;
  /** Undefined for a class of one. */
  report: ClassReport | undefined;
  /** The entity that has left the class and is tried on its behalf. */
  representative: QueuedEntity | undefined;
  /** True if an event may have helped; a representative leaves when the class's turn comes. */
  isWoken = false;
  /** True if a plugin that returned Pending has got what it waited for: the representative skips the backoff. */
  skipsBackoff = false;
  /** True if a plugin ruled out a retry without naming the current cause, so that verdicts may be outdated. */
  isStale = false;
  /** Clock.monotonic() of the latest attempt of one of its entities. */
  since = 0;
  readonly #waiting: Heap<Waiting>;
  /** state -> entity that waits with it; the heap may still hold entities that have left */
  readonly #present = new Map<UnschedulableState, QueuedEntity>();

  constructor(
    entity: QueuedEntity,
    key: string | undefined,
    hints: EventHints,
    compare: (a: QueueKey, b: QueueKey) => number,
  ) {
    this.key = key;
    this.hints = hints;
    this.rejection = entity.rejection;
    this.rejected = entity;
    this.#waiting = new Heap((a, b) => compare(a.rank, b.rank));
  }

  /** Number of waiting entities, without the representative. */
  get size(): number {
    return this.#present.size;
  }

  /** True if no representative is out or due, so that the last rejection holds. */
  get isIdle(): boolean {
    return this.representative === undefined && !this.isWoken;
  }

  add(entity: QueuedEntity, state: UnschedulableState): void {
    this.#present.set(state, entity);
    this.#waiting.push({ entity, state, rank: entity.sortKey });
    if (this.#waiting.size > 2 * this.#present.size + slack)
      this.#waiting.retain((waiting) => this.#isWaiting(waiting));
  }

  /** Removes the entity that waits with this state, other than as representative. */
  leave(state: UnschedulableState): void {
    this.#present.delete(state);
  }

  /** The first waiting entity that joined. */
  get first(): QueuedEntity | undefined {
    return this.entities().next().value;
  }

  /** Returns the waiting entities in joining order, including those that join during the iteration. */
  entities(): Iterator<QueuedEntity, undefined> {
    return this.#present.values();
  }

  /** Sort key of the next representative; undefined if no entity waits. */
  get rank(): QueueKey | undefined {
    return this.#peek()?.rank;
  }

  /** Removes and returns the next representative; the caller sets its new state. */
  take(): QueuedEntity | undefined {
    const next = this.#peek();
    if (next === undefined) return undefined;
    this.#waiting.pop();
    this.#present.delete(next.state);
    return next.entity;
  }

  #peek(): Waiting | undefined {
    for (let next = this.#waiting.peek(); next !== undefined; next = this.#waiting.peek()) {
      if (this.#isWaiting(next)) return next;
      this.#waiting.pop();
    }
    return undefined;
  }

  #isWaiting({ state }: Waiting): boolean {
    return this.#present.has(state);
  }
}
