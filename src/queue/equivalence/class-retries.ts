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
  /** Returns the sort key of the first active entity. */
  readonly firstActive: () => QueueKey | undefined;
  /** Moves a representative to the active queue, or to the backoff queue unless it skips the backoff. */
  readonly requeue: (entity: QueuedEntity, event: string, skipsBackoff: boolean) => void;
}

/** A class whose next representative is due. */
interface Retry {
  readonly woken: EquivalenceClass;
  /** Sort key of the class's next representative. */
  readonly rank: QueueKey;
  readonly event: string;
}

/** Maximum number of active representatives. The others follow later, so that new entities don't wait for all of them. */
const maxActive = 64;
const flushEvent = 'UnschedulableTimeout';
/** Age at which a stale class is retried, a few per flush, to find its current cause. */
const staleMs = 60_000;
const maxStalePerFlush = 100;

/** Activates the representatives of woken classes, by rank and up to a limit. */
export class ClassRetries {
  readonly #options: ClassRetriesOptions;
  readonly #retries: Heap<Retry>;
  /** Representatives that are active. */
  readonly #sent = new Set<QueuedEntity>();

  constructor(options: ClassRetriesOptions) {
    this.#options = options;
    this.#retries = new Heap((a, b) => options.compare(a.rank, b.rank));
  }

  /** Wakes classes that an event may have helped. */
  wake(classes: Iterable<EquivalenceClass>, event: string): void {
    for (const woken of classes) {
      const { rank } = woken;
      if (rank === undefined) continue;
      this.#options.classes.wake(woken);
      this.#retries.push({ woken, rank, event });
    }
    this.sendDue();
  }

  /** Wakes classes that no event has woken for `maxUnschedulableMs`, and some of the stale ones. */
  flush(maxUnschedulableMs: number): void {
    const now = this.#options.clock.monotonic();
    const due: EquivalenceClass[] = [];
    const stale: EquivalenceClass[] = [];
    for (const each of this.#options.classes) {
      if (!each.isIdle) continue;
      if (each.since <= now - maxUnschedulableMs) due.push(each);
      else if (each.isStale && each.since <= now - staleMs && stale.length < maxStalePerFlush) stale.push(each);
    }
    this.wake(due, flushEvent);
    this.wake(stale, 'VerdictOutdated');
  }

  /** Sends due representatives up to the limit; beyond it, only those that rank before all active entities. */
  sendDue(): void {
    const { compare, firstActive } = this.#options;
    for (let next = this.#retries.peek(); next !== undefined; next = this.#retries.peek()) {
      const active = firstActive();
      const ranksFirst = active !== undefined && compare(next.rank, active) < 0;
      if (this.#sent.size >= maxActive && !ranksFirst) return;
      this.#retries.pop();
      // All entities of the class may have left, or one was sent for another reason.
      if (next.woken.isWoken) this.send(next.woken, next.event);
    }
  }

  /** Sends the class's next representative. */
  send(from: EquivalenceClass, event: string): void {
    const entity = this.#options.classes.takeRepresentative(from);
    if (entity === undefined) return;
    entity.isFlushed = event === flushEvent;
    // The attempt must run to find the current cause, and a flush must not rely on `rulesOut`.
    if (from.isStale || entity.isFlushed) forgetRejection(entity);
    this.#options.requeue(entity, event, from.skipsBackoff);
    if (entity.state.kind === 'active') this.#sent.add(entity);
  }

  /** Handles an entity that does not return to its class. If it is the representative, sends the next one. */
  release(entity: QueuedEntity): void {
    const of = this.#options.classes.of(entity);
    if (of?.representative === entity) this.next(of);
  }

  /** Sends the next representative, because the result of the current one does not hold for the others. */
  next(of: EquivalenceClass): void {
    if (this.#options.classes.release(of)) this.wake([of], 'EqualDecided');
  }

  /** Handles an entity that is no longer active. */
  left(entity: QueuedEntity): void {
    this.#sent.delete(entity);
  }
}
