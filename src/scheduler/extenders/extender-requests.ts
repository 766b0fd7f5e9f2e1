import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/message-of.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import { Status } from '../../framework/status.ts';
import { ExtenderFailure } from './extenders.ts';
import type { ExtenderResults, Extenders, ExtenderRequest } from './extenders.ts';

export interface ExtenderRequestsOptions {
  readonly extenders: Extenders;
  readonly queue: SchedulingQueue;
  readonly clock: Clock;
  /** Called when `take` may return an entity. */
  readonly ready: () => void;
  /** Aborts all calls when the scheduler stops. */
  readonly signal: AbortSignal;
}

/** An entity whose attempt continues. */
export interface ResumedAttempt {
  readonly entity: QueuedEntity;
  /** The extenders' results; a Status if the calls failed; undefined if the extenders have not been called yet. */
  readonly extenderResults: ExtenderResults | Status | undefined;
  /** Clock.monotonic() at the start of the attempt. */
  readonly startedAt: number;
  /** Milliseconds spent on the attempt so far, excluding pauses and calls. */
  readonly workedMs: number;
  /** How many rounds of extender calls the attempt has made. */
  readonly rounds: number;
}

/** An attempt whose calls have finished, with Clock.monotonic() at that time. */
type Finished = ResumedAttempt & { readonly at: number };

/** Maximum number of entities with extender calls at a time. */
const maxConcurrentEntities = 16;

/**
 * Attempts that wait for extenders. The queue sets their entities aside and continues with others. When an entity leaves the
 * queue, its calls are aborted.
 *
 * An attempt continues only after the attempts of a higher priority that were already waiting when its own calls finished. Otherwise the
 * faster response would decide who gets the capacity. Attempts that begin later do not delay it, so the delay is bounded.
 */
export class ExtenderRequests {
  readonly #options: ExtenderRequestsOptions;
  readonly #running = new Set<Promise<void>>();
  /** Entities that wait until fewer entities have calls running. */
  readonly #waiting = new Set<QueuedEntity>();
  /** In the order in which the calls finished. */
  readonly #finished: Finished[] = [];
  /** entity -> Clock.monotonic() since which its attempt has waited; until the attempt ends, also between two rounds of calls */
  readonly #since = new Map<QueuedEntity, number>();

  constructor(options: ExtenderRequestsOptions) {
    this.#options = options;
  }

  /** The maximum number of entities has calls running. */
  get isFull(): boolean {
    return this.#running.size >= maxConcurrentEntities;
  }

  /** Sets the entity in flight aside until it may call the extenders. */
  enqueue(entity: QueuedEntity): void {
    this.#waiting.add(entity);
    this.#setAside(entity, () => this.#waiting.delete(entity));
  }

  /** Sets the entity in flight aside and calls the extenders. `take` returns their failure as a Status. */
  start(
    entity: QueuedEntity,
    requests: readonly ExtenderRequest[],
    soFar: Pick<ResumedAttempt, 'startedAt' | 'workedMs' | 'rounds'>,
  ): void {
    const { clock, ready, signal } = this.#options;
    const leftQueue = new AbortController();
    this.#setAside(entity, () => leftQueue.abort(new Error('the entity has left the queue')));
    const run = this.#call(requests, AbortSignal.any([signal, leftQueue.signal])).then((extenderResults) => {
      this.#running.delete(run);
      if (!leftQueue.signal.aborted) this.#finished.push({ ...soFar, entity, extenderResults, at: clock.monotonic() });
      ready();
    });
    this.#running.add(run);
  }

  /** Reports that the attempt of this entity has ended and waits for no further calls. */
  ended(entity: QueuedEntity): void {
    this.#since.delete(entity);
  }

  /** Returns the next entity whose attempt continues, in flight again; undefined if there is none. */
  take(): ResumedAttempt | undefined {
    const { queue, clock } = this.#options;
    for (let next = this.#nextFinished(); next !== undefined; next = this.#nextFinished()) {
      if (queue.resume(next.entity)) return next;
    }
    while (!this.isFull) {
      const entity = this.#firstWaiting();
      if (entity === undefined) return undefined;
      this.#waiting.delete(entity);
      if (queue.resume(entity))
        return { entity, extenderResults: undefined, startedAt: clock.monotonic(), workedMs: 0, rounds: 0 };
    }
    return undefined;
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #call(requests: readonly ExtenderRequest[], signal: AbortSignal): Promise<ExtenderResults | Status> {
    try {
      return await this.#options.extenders.call(requests, signal);
    } catch (error) {
      if (error instanceof ExtenderFailure) return error.status;
      return new Status('Error', `cannot call the extenders: ${messageOf(error)}`, '', error);
    }
  }

  #setAside(entity: QueuedEntity, left: () => void): void {
    const { queue, clock, ready } = this.#options;
    if (!this.#since.has(entity)) this.#since.set(entity, clock.monotonic());
    queue.setAside(entity, () => {
      this.ended(entity);
      left();
      // An attempt of a lower priority may now continue.
      ready();
    });
  }

  /** Removes and returns the first finished attempt that need not wait for one of a higher priority. */
  #nextFinished(): Finished | undefined {
    const underWay = this.#since.entries();
    let next = underWay.next();
    let highest = -Infinity;
    // Both collections are in the order of time.
    for (const [index, { entity, at }] of this.#finished.entries()) {
      for (; next.done !== true && next.value[1] <= at; next = underWay.next()) {
        highest = Math.max(highest, next.value[0].sortKey.priority);
      }
      if (entity.sortKey.priority >= highest) return this.#finished.splice(index, 1)[0];
    }
    return undefined;
  }

  #firstWaiting(): QueuedEntity | undefined {
    let first: QueuedEntity | undefined;
    for (const entity of this.#waiting) {
      if (first === undefined || this.#options.queue.goesFirst(entity, first)) first = entity;
    }
    return first;
  }
}
