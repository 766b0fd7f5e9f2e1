import type { Clock } from '../../base/clock.ts';
import { Heap } from '../../base/heap.ts';
import type { QueueKey } from '../../framework/scheduling-entity.ts';
import { forgetRejection } from '../queued-entity.ts';
import type { QueuedEntity } from '../queued-entity.ts';
import type { EquivalenceClass } from './equivalence-class.ts';
import type { EquivalenceClasses } from './equivalence-classes.ts';

export interface ClassRetriesOptions {
  readonly classes: EquivalenceClasses;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly compare: (a: QueueKey, b: QueueKey) => number;
  /** The sort key of the first active entity. */
  readonly firstActive: () => QueueKey | undefined;
  /** Puts a representative into the active store, or into the backoff store unless it skips that. */
  readonly requeue: (entity: QueuedEntity, event: string, skipsBackoff: boolean) => void;
}

/** A class of which one entity is to be tried. */
interface Retry {
  readonly woken: EquivalenceClass;
  /** Of its next representative. */
  readonly rank: QueueKey;
  readonly event: string;
}

/** How many woken representatives are active at once; the others follow, so that new entities need not wait for all of them. */
const atOnce = 64;
const flushEvent = 'UnschedulableTimeout';
/** A stale class is tried after this time, a few at each flush, to find today's cause. */
const staleMs = 60_000;
const staleAtOnce = 100;

/** Sends the representatives of woken classes to be tried, by rank and a bounded number at once. */
export class ClassRetries {
  readonly #options: ClassRetriesOptions;
  readonly #retries: Heap<Retry>;
  /** Representatives that were sent and are active. */
  readonly #sent = new Set<QueuedEntity>();

  constructor(options: ClassRetriesOptions) {
    this.#options = options;
    this.#retries = new Heap((a, b) => options.compare(a.rank, b.rank));
  }

  /** An event may have helped the classes. */
  wake(classes: Iterable<EquivalenceClass>, event: string): void {
    for (const woken of classes) {
      const { rank } = woken;
      if (rank === undefined) continue;
      this.#options.classes.wake(woken);
      this.#retries.push({ woken, rank, event });
    }
    this.sendDue();
  }

  /** Wakes classes that no event has helped for so long, and some of the stale ones. */
  flush(maxUnschedulableMs: number): void {
    const now = this.#options.clock.monotonic();
    const due: EquivalenceClass[] = [];
    const stale: EquivalenceClass[] = [];
    for (const each of this.#options.classes) {
      if (!each.isIdle) continue;
      if (each.since <= now - maxUnschedulableMs) due.push(each);
      else if (each.isStale && each.since <= now - staleMs && stale.length < staleAtOnce) stale.push(each);
    }
    this.wake(due, flushEvent);
    this.wake(stale, 'VerdictOutdated');
  }

  /** Sends the representatives whose turn has come: enough of them are active, unless one goes before all that are active. */
  sendDue(): void {
    const { compare, firstActive } = this.#options;
    for (let next = this.#retries.peek(); next !== undefined; next = this.#retries.peek()) {
      const active = firstActive();
      const goesFirst = active !== undefined && compare(next.rank, active) < 0;
      if (this.#sent.size >= atOnce && !goesFirst) return;
      this.#retries.pop();
      // All of its entities may have left, or one was sent for another reason.
      if (next.woken.isWoken) this.send(next.woken, next.event);
    }
  }

  /** The next representative is tried for all of the class. */
  send(from: EquivalenceClass, event: string): void {
    const entity = this.#options.classes.takeRepresentative(from);
    if (entity === undefined) return;
    entity.isFlushed = event === flushEvent;
    // To find today's cause the attempt must run, and the flush must not trust any plugin's `rulesOut`.
    if (from.isStale || entity.isFlushed) forgetRejection(entity);
    this.#options.requeue(entity, event, from.skipsBackoff);
    if (entity.state.kind === 'active') this.#sent.add(entity);
  }

  /** The entity will not return to its class: if it is the representative, the next one goes. */
  release(entity: QueuedEntity): void {
    const of = this.#options.classes.of(entity);
    if (of?.representative === entity) this.next(of);
  }

  /** The representative's answer does not hold for the others of the class: the next one goes. */
  next(of: EquivalenceClass): void {
    if (this.#options.classes.release(of)) this.wake([of], 'EqualDecided');
  }

  /** The entity is no longer active. */
  left(entity: QueuedEntity): void {
    this.#sent.delete(entity);
  }
}
