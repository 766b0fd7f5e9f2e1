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
  /** How many rounds of extender calls the attempt has made. */
  readonly rounds: number;
}

/** Maximum number of entities with extender calls at a time. */
const maxConcurrentEntities = 16;

/**
 * Attempts that wait for extenders. The queue sets their entities aside and continues with others. When an entity leaves the
 * queue, its calls are aborted.
 */
export class ExtenderRequests {
  readonly #options: ExtenderRequestsOptions;
  readonly #running = new Set<Promise<void>>();
  /** Entities that wait until fewer entities have calls running. */
  readonly #waiting = new Set<QueuedEntity>();
  /** In the order in which the calls finished. */
  readonly #finished: ResumedAttempt[] = [];

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
    this.#options.queue.setAside(entity, () => void this.#waiting.delete(entity));
  }

  /** Sets the entity in flight aside and calls the extenders. `take` returns their failure as a Status. */
  start(entity: QueuedEntity, requests: readonly ExtenderRequest[], startedAt: number, rounds: number): void {
    const { queue, ready, signal } = this.#options;
    const leftQueue = new AbortController();
    queue.setAside(entity, () => leftQueue.abort(new Error('the entity has left the queue')));
    const run = this.#call(requests, AbortSignal.any([signal, leftQueue.signal])).then((extenderResults) => {
      this.#running.delete(run);
      if (!leftQueue.signal.aborted) this.#finished.push({ entity, extenderResults, startedAt, rounds });
      ready();
    });
    this.#running.add(run);
  }

  /** Returns the next entity whose attempt continues, in flight again; undefined if there is none. */
  take(): ResumedAttempt | undefined {
    const { queue, clock } = this.#options;
    for (let next = this.#finished.shift(); next !== undefined; next = this.#finished.shift()) {
      if (queue.resume(next.entity)) return next;
    }
    while (!this.isFull) {
      const entity = this.#firstWaiting();
      if (entity === undefined) return undefined;
      this.#waiting.delete(entity);
      if (queue.resume(entity)) return { entity, extenderResults: undefined, startedAt: clock.monotonic(), rounds: 0 };
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

  #firstWaiting(): QueuedEntity | undefined {
    let first: QueuedEntity | undefined;
    for (const entity of this.#waiting) {
      if (first === undefined || this.#options.queue.goesFirst(entity, first)) first = entity;
    }
    return first;
  }
}
