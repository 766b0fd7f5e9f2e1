import { Heap } from '../base/heap.ts';
import type { QueueKey } from '../framework/candidate.ts';
import type { Line } from './line.ts';
import type { QueuedEntity } from './queued-entity.ts';

/** So many that an event may have helped are active at once; the others follow, so that what is new need not wait for all. */
const atOnce = 64;

/** A line of which one is to be tried. */
interface Call {
  readonly line: Line;
  /** Of the one that goes next. */
  readonly rank: QueueKey;
  readonly event: string;
}

/** Lines that an event may have helped, in the order in which they are tried, and how many of them are on their way. */
export class CalledLines {
  readonly #compare: (a: QueueKey, b: QueueKey) => number;
  readonly #calls: Heap<Call>;
  /** The entities that were sent, and are active. */
  readonly #sent = new Set<QueuedEntity>();

  constructor(compare: (a: QueueKey, b: QueueKey) => number) {
    this.#compare = compare;
    this.#calls = new Heap((a, b) => compare(a.rank, b.rank));
  }

  add(line: Line, rank: QueueKey, event: string): void {
    this.#calls.push({ line, rank, event });
  }

  /**
   * The call that is next; undefined when there is none, or enough are on their way. One that goes before all that are active,
   * `active` being the first of them, need not wait for those.
   */
  next(active: QueueKey | undefined): Call | undefined {
    for (let next = this.#calls.peek(); next !== undefined; next = this.#calls.peek()) {
      const goesFirst = active !== undefined && this.#compare(next.rank, active) < 0;
      if (this.#sent.size >= atOnce && !goesFirst) return undefined;
      this.#calls.pop();
      // All of its entities may have left, or gone for another reason.
      if (next.line.isCalled) return next;
    }
    return undefined;
  }

  /** The entity has gone to be tried, and is active. */
  sent(entity: QueuedEntity): void {
    this.#sent.add(entity);
  }

  /** It is active no longer. */
  gone(entity: QueuedEntity): void {
    this.#sent.delete(entity);
  }
}
