import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import { Heap } from '../../base/heap.ts';
import type { SchedulingEntity, QueueKey } from '../../framework/scheduling-entity.ts';
import type { EventHints, Rejection } from '../../framework/event-hints.ts';
import type { QueuedEntity, UnschedulableState } from '../queued-entity.ts';

/** The verdict of the entity of a class that was tried last, and how to word it for the others. */
export interface ClassReport {
  readonly verdict: Verdict;
  /** The same for another entity of the class, which has these members. Throws what a plugin throws. */
  readonly verdictFor: (schedulingEntity: SchedulingEntity, members: readonly Pod[]) => Verdict;
  /** Cluster.nodesRevision at that attempt. */
  readonly nodesRevision: number;
}

/** An entity that joined the class with this state. */
interface Waiting {
  readonly entity: QueuedEntity;
  readonly state: UnschedulableState;
  /** The entity's sort key when it joined: the key of an entity that has left may change while it is still in the heap. */
  readonly rank: QueueKey;
}

/** How many entries of entities that have left may stay in the heap, besides as many as wait. */
const slack = 64;

/** Unschedulable entities that share one rejection; the contract is in equivalence-classes.ts. */
export class EquivalenceClass {
  /** Undefined for a class of one, which no other entity can join. */
  readonly key: string | undefined;
  readonly hints: EventHints;
  /** Why the entity that was tried last was rejected. */
  rejection: Rejection;
  /** Undefined for a class of one. */
  report: ClassReport | undefined;
  /** The entity that has left the class to be tried for all of it. */
  representative: QueuedEntity | undefined;
  /** An event may have helped; a representative leaves when it is the turn of this class. */
  isWoken = false;
  /** A plugin that answered Pending has what it waited for: the representative skips the back-off. */
  skipsBackoff = false;
  /** A plugin ruled out a retry without naming today's cause, so that the verdicts may be out of date. */
  isStale = false;
  /** Clock.monotonic() when one of its entities was last tried. */
  since = 0;
  readonly #waiting: Heap<Waiting>;
  /** state -> the entity that waits with it; the heap may still hold an entity that has left */
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
    this.#waiting = new Heap((a, b) => compare(a.rank, b.rank));
  }

  /** How many entities wait; the representative is not counted. */
  get size(): number {
    return this.#present.size;
  }

  /** No representative is out or due, so the last rejection stands. */
  get isIdle(): boolean {
    return this.representative === undefined && !this.isWoken;
  }

  add(entity: QueuedEntity, state: UnschedulableState): void {
    this.#present.set(state, entity);
    this.#waiting.push({ entity, state, rank: entity.sortKey });
    if (this.#waiting.size > 2 * this.#present.size + slack)
      this.#waiting.retain((waiting) => this.#isWaiting(waiting));
  }

  /** The entity that waits with this state leaves, but not as the representative. */
  leave(state: UnschedulableState): void {
    this.#present.delete(state);
  }

  /** The waiting entities in the order in which they joined; includes those that join during the iteration. */
  entities(): Iterator<QueuedEntity, undefined> {
    return this.#present.values();
  }

  /** The sort key of the next representative; undefined when no entity waits. */
  get rank(): QueueKey | undefined {
    return this.#peek()?.rank;
  }

  /** Takes out the next representative; the caller gives it another state. */
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
