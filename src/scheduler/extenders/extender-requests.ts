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
  /** `take` has something to give. */
  readonly ready: () => void;
  /** Ends all asking when the scheduler stops. */
  readonly signal: AbortSignal;
}

/** An entity whose attempt goes on. */
export interface Returned {
  readonly entity: QueuedEntity;
  /** What extenders said; a Status when they gave no answer; undefined when they are yet to be asked. */
  readonly answers: ExtenderResults | Status | undefined;
  /** Clock.monotonic() when its attempt began. */
  readonly startedAt: number;
  /** How often they have been asked in this attempt. */
  readonly rounds: number;
}

/** Entities about which extenders are asked at a time. */
const entitiesAtOnce = 16;

/**
 * Attempts that wait for extenders. Their entities are set aside in the queue, and others go on. One that leaves the queue
 * is no longer asked about.
 */
export class ExtenderRequests {
  readonly #options: ExtenderRequestsOptions;
  readonly #running = new Set<Promise<void>>();
  /** Entities that wait for fewer to be asked about. */
  readonly #held = new Set<QueuedEntity>();
  /** In the order in which answers came. */
  readonly #answered: Returned[] = [];

  constructor(options: ExtenderRequestsOptions) {
    this.#options = options;
  }

  /** As many are being asked about as may be. */
  get isFull(): boolean {
    return this.#running.size >= entitiesAtOnce;
  }

  /** Sets the entity in flight aside until there is room to ask about it. */
  hold(entity: QueuedEntity): void {
    this.#held.add(entity);
    this.#options.queue.setAside(entity, () => void this.#held.delete(entity));
  }

  /** Sets the entity in flight aside and asks. Never rejects. */
  start(entity: QueuedEntity, requests: readonly ExtenderRequest[], startedAt: number, rounds: number): void {
    const { queue, ready, signal } = this.#options;
    const left = new AbortController();
    queue.setAside(entity, () => left.abort(new Error('the entity has left the queue')));
    const run = this.#ask(requests, AbortSignal.any([signal, left.signal])).then((answers) => {
      this.#running.delete(run);
      if (!left.signal.aborted) this.#answered.push({ entity, answers, startedAt, rounds });
      ready();
    });
    this.#running.add(run);
  }

  /** The next entity whose attempt goes on, in flight again; undefined when there is none. */
  take(): Returned | undefined {
    const { queue, clock } = this.#options;
    for (let next = this.#answered.shift(); next !== undefined; next = this.#answered.shift()) {
      if (queue.resume(next.entity)) return next;
    }
    while (!this.isFull) {
      const entity = this.#firstHeld();
      if (entity === undefined) return undefined;
      this.#held.delete(entity);
      if (queue.resume(entity)) return { entity, answers: undefined, startedAt: clock.monotonic(), rounds: 0 };
    }
    return undefined;
  }

  /** Resolves when nobody is asked any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #ask(requests: readonly ExtenderRequest[], signal: AbortSignal): Promise<ExtenderResults | Status> {
    try {
      return await this.#options.extenders.ask(requests, signal);
    } catch (error) {
      if (error instanceof ExtenderFailure) return error.status;
      return new Status('Error', `the extenders could not be asked: ${messageOf(error)}`, '', error);
    }
  }

  #firstHeld(): QueuedEntity | undefined {
    let first: QueuedEntity | undefined;
    for (const entity of this.#held) {
      if (first === undefined || this.#options.queue.goesFirst(entity, first)) first = entity;
    }
    return first;
  }
}
