import type { Pod } from '../api/pod.ts';
import { Heap } from '../base/heap.ts';
import type { EventHints } from '../framework/event-hints.ts';
import type { QueueKey } from '../framework/candidate.ts';
import type { Wish } from '../framework/wish.ts';
import type { QueuedEntity, UnschedulableState } from './queued-entity.ts';

/** An entity that came into the line with this state. */
interface Waiting {
  readonly entity: QueuedEntity;
  readonly state: UnschedulableState;
  /** The entity's key when it came: that of one that has left may change while it is still in the heap. */
  readonly rank: QueueKey;
}

/** Entries that have left and may stay in the heap, besides as many as there are. */
const slack = 64;

/**
 * Entities that ask for the same and were refused for the same, so that one answer is right for all of them: when an event may
 * help, the first by rank goes and is tried. If it is refused, the others would be, too, and stay; when it is scheduled, or
 * turns out to ask for something else, the next one goes.
 */
export class Line {
  /** What they ask for; undefined for one that is alone in its line. */
  readonly question: string | undefined;
  readonly hints: EventHints;
  readonly isGang: boolean;
  /** The one that has gone to be tried. */
  first: QueuedEntity | undefined;
  /** An event may have helped, and it is the line's turn later. */
  isCalled = false;
  /** Names of the plugins that refused the latest of them. */
  refusedBy: ReadonlySet<string>;
  /** Of these, those that answered Pending. */
  pending: ReadonlySet<string>;
  /** One pod of each kind that was refused. */
  refusedPods: readonly Pod[];
  wish: Wish | undefined;
  /** It is called because a plugin that answered Pending has what it waited for: without back-off. */
  isUrgent = false;
  /** What they were told may be out of date: it was certain that they would be refused again, and for what else is not known. */
  isOutdated = false;
  readonly #waiting: Heap<Waiting>;
  /** state -> who waits with it; the heap may still hold one that has left */
  readonly #present = new Map<UnschedulableState, QueuedEntity>();

  constructor(
    entity: QueuedEntity,
    question: string | undefined,
    hints: EventHints,
    compare: (a: QueueKey, b: QueueKey) => number,
  ) {
    this.question = question;
    this.hints = hints;
    this.isGang = entity.candidate.kind === 'gang';
    this.refusedBy = entity.refusedBy;
    this.pending = entity.pending;
    this.refusedPods = entity.refusedPods;
    this.wish = entity.wish;
    this.#waiting = new Heap((a, b) => compare(a.rank, b.rank));
  }

  /** How many wait in it; the one that has gone is not counted. */
  get size(): number {
    return this.#present.size;
  }

  /** Clock.monotonic() when one of them was last tried. */
  since = 0;

  /** Nobody has gone, and nobody is to: what the latest was told holds. */
  get isAtRest(): boolean {
    return this.first === undefined && !this.isCalled;
  }

  add(entity: QueuedEntity, state: UnschedulableState): void {
    this.#present.set(state, entity);
    this.#waiting.push({ entity, state, rank: entity.sortKey });
    if (this.#waiting.size > 2 * this.#present.size + slack)
      this.#waiting.retain((waiting) => this.#isWaiting(waiting));
  }

  /** The one that waits with this state leaves some other way. */
  leave(state: UnschedulableState): void {
    this.#present.delete(state);
  }

  /** Those that wait in it, in the order in which they came; also those that come while they are gone through. */
  entities(): Iterator<QueuedEntity, undefined> {
    return this.#present.values();
  }

  /** The rank of the one that goes next; undefined when nobody waits. */
  get rank(): QueueKey | undefined {
    return this.#peek()?.rank;
  }

  /** The one that goes next, out of the line; the caller gives it another state. */
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

  /** Whether it has not left some other way since. */
  #isWaiting({ state }: Waiting): boolean {
    return this.#present.has(state);
  }
}
