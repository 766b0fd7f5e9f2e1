import { jitteredBackoff } from '../base/backoff.ts';
import type { BackoffPolicy } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { ApiError, GoneError, MalformedAnswerError, TooManyRequestsError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { wait } from '../client/wait.ts';
import type { Deliver } from './delivery-gate.ts';
import type { InformerHandler } from './informer-handler.ts';
import { ObjectCache } from './object-cache.ts';
import { toError } from './reflector-problem.ts';
import type { ReflectorProblem } from './reflector-problem.ts';
import type { Indexers, Lister } from './store.ts';
import { WatchMalformedError, WatchStream } from './watch-stream.ts';
import type { WatchEvent } from './watch-stream.ts';

export interface ReflectorOptions<T> {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly clock: Clock;
  readonly random: Random;
  /** The collection: `/api/v1/pods`. */
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Makes the small thing that is kept of an object. Throws on a malformed one, which is then skipped and reported. */
  readonly project: (raw: unknown) => T;
  /** True when the difference is nothing the owner reads: then nobody is told. */
  readonly isSame?: (previous: T, object: T) => boolean;
  readonly handler: InformerHandler<T>;
  readonly indexers?: Indexers<T>;
  /** A DeliveryGate's; default: changes are applied as they come. */
  readonly deliver?: Deliver;
  readonly onProblem?: (problem: ReflectorProblem) => void;
  /** Objects a page. Default 500. */
  readonly pageSize?: number;
  /**
   * A watch on which nothing, not even a bookmark, has come for so long is taken for dead, in milliseconds. API servers
   * send a bookmark about every minute. Default 90 s.
   */
  readonly deadManMs?: number;
}

export type ReflectorPhase =
  | { readonly name: 'idle' }
  | { readonly name: 'listing'; readonly page: number }
  | { readonly name: 'watching' }
  | { readonly name: 'waiting'; readonly delayMs: number }
  | { readonly name: 'stopped' };

/** Counters since the start. */
export interface ReflectorStatistics {
  readonly lists: number;
  readonly watches: number;
  /** Watch changes and bookmarks received. */
  readonly events: number;
  readonly malformed: number;
  readonly handlerErrors: number;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** How one round of (list and) watch ended. */
interface Outcome {
  readonly step: 'list' | 'watch';
  /** Absent when the server ended the watch in good order. */
  readonly error?: Error;
  /** How long the watch lasted, in milliseconds. */
  readonly lastedMs: number;
  readonly hasProgressed: boolean;
}

const backoff: BackoffPolicy = { initialMs: 1_000, maxMs: 30_000 };
/** A watch that lasted so long worked, even if nothing happened on it. */
const healthyMs = 10_000;
const pageTimeoutMs = 60_000;
/** Watches refused or garbled in a row after which the resourceVersion itself is doubted. */
const doubtAfter = 3;
/** Attempts without an answer in a row that make an outage, not bad luck. */
const outageAfter = 3;

/**
 * Keeps a store equal to one collection of an API server, for ever: lists it in pages, watches it from there, resumes
 * where a watch ended, and lists again when the server has forgotten that place. Whatever goes wrong is reported and
 * tried again after a jittered back-off of 1 s to 30 s (or the server's Retry-After), which only progress resets, and the
 * first answer after an outage; there are never more than about two attempts a second, however the server behaves.
 */
export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #cache: ObjectCache<T>;
  readonly #deliver: Deliver;
  readonly #stop = new AbortController();
  readonly #synced = deferred();
  readonly #statistics: Mutable<ReflectorStatistics> = {
    lists: 0,
    watches: 0,
    events: 0,
    malformed: 0,
    handlerErrors: 0,
  };
  #phase: ReflectorPhase = { name: 'idle' };
  #hasSynced = false;
  #running: Promise<void> | undefined;
  /** Where the next watch begins; undefined: list first. */
  #resourceVersion: string | undefined;
  #hasListed = false;
  #isPaged = true;
  #failures = 0;
  #refusals = 0;
  /** Failures in a row in which no server said anything. */
  #unanswered = 0;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#deliver = options.deliver ?? ((apply) => apply());
    this.#cache = new ObjectCache({
      project: options.project,
      handler: options.handler,
      ...(options.isSame === undefined ? {} : { isSame: options.isSame }),
      ...(options.indexers === undefined ? {} : { indexers: options.indexers }),
      onMalformed: (where, error) => {
        this.#statistics.malformed++;
        this.#report({ kind: 'malformed', path: options.path, where, error });
      },
      onHandlerError: (where, error) => {
        this.#statistics.handlerErrors++;
        this.#report({ kind: 'handler', path: options.path, where, error });
      },
    });
    this.#synced.promise.catch(() => undefined); // nobody may be waiting when it is stopped
  }

  get store(): Lister<T> {
    return this.#cache.store;
  }

  /** Whether the first list has been delivered whole. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get phase(): ReflectorPhase {
    return this.#phase;
  }

  get statistics(): ReflectorStatistics {
    return { ...this.#statistics };
  }

  /** The newest place known in the collection's history; what is still held back by the gate included. */
  get lastResourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  /** Resolves once the first list has been delivered whole; rejects when the reflector is stopped before. */
  synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Begins; a second call does nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** From this call on no handler is called. Resolves when the connections are given up. */
  async stop(): Promise<void> {
    const reason = new Error(`the reflector of ${this.#options.path} is stopped`);
    this.#stop.abort(reason);
    this.#phase = { name: 'stopped' };
    this.#synced.reject(reason);
    await this.#running;
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const outcome = await this.#round();
      if (this.#isStopped) return;
      const delayMs = this.#delayAfter(outcome);
      if (outcome.error !== undefined) {
        const { step: kind, error } = outcome;
        this.#report({ kind, path: this.#options.path, failures: this.#failures, delayMs, error });
      }
      this.#phase = { name: 'waiting', delayMs };
      await wait(this.#options.clock, delayMs, this.#stop.signal).catch(() => undefined); // stopped: the loop ends
    }
  }

  async #round(): Promise<Outcome> {
    const { clock } = this.#options;
    if (this.#resourceVersion === undefined) {
      try {
        this.#resourceVersion = await this.#list();
      } catch (thrown) {
        return { step: 'list', error: toError(thrown), lastedMs: 0, hasProgressed: false };
      }
    }
    const begun = clock.monotonic();
    const from = this.#resourceVersion;
    const end = (): Outcome => ({
      step: 'watch',
      lastedMs: clock.monotonic() - begun,
      hasProgressed: this.#resourceVersion !== from,
    });
    try {
      await this.#watch(from);
      return end();
    } catch (thrown) {
      return { ...end(), error: toError(thrown) };
    }
  }

  #delayAfter({ step, error, lastedMs, hasProgressed }: Outcome): number {
    const { random } = this.#options;
    if (lastedMs >= healthyMs) this.#failures = this.#refusals = 0;
    // However long it was away: it is back, and what it says now has to do with its start, not with us.
    if (error instanceof ApiError && this.#unanswered >= outageAfter) this.#failures = 0;
    this.#unanswered = error === undefined || error instanceof ApiError ? 0 : this.#unanswered + 1;
    if (error instanceof GoneError) {
      // A continue token that is too old: lists this long must come in one piece.
      if (step === 'list') this.#isPaged = false;
      this.#resourceVersion = undefined;
      this.#failures++;
      return this.#failures === 1 ? 0 : jitteredBackoff(backoff, this.#failures, random);
    }
    if (hasProgressed) this.#failures = this.#refusals = 0;
    if (error === undefined && lastedMs >= healthyMs) return 0;
    this.#failures++;
    if (step === 'watch' && isRefusal(error) && ++this.#refusals >= doubtAfter) {
      this.#refusals = 0;
      this.#resourceVersion = undefined;
    }
    const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(jitteredBackoff(backoff, this.#failures, random), retryAfterMs);
  }

  /** Applies the collection page by page; what is gone from it is deleted at the end. Answers where to watch from. */
  async #list(): Promise<string> {
    const { client, path, pageSize = 500 } = this.#options;
    const keys = new Set<string>();
    let continueToken: string | undefined;
    let resourceVersion = '';
    this.#statistics.lists++;
    for (let page = 1; page === 1 || continueToken !== undefined; page++) {
      this.#phase = { name: 'listing', page };
      // Waiting for each page lets everything else run in between.
      const answer = await client.list(path, {
        ...this.#selectors(),
        ...(this.#isPaged ? { limit: pageSize } : {}),
        ...(continueToken === undefined ? {} : { continueToken }),
        timeoutMs: pageTimeoutMs,
        signal: this.#stop.signal,
      });
      this.#apply(() => {
        answer.items.forEach((raw, index) => {
          const key = this.#cache.exists(raw, `item ${index} of page ${page}`);
          if (key !== undefined) keys.add(key);
        });
      });
      resourceVersion = answer.resourceVersion;
      continueToken = answer.continueToken;
    }
    if (resourceVersion === '') throw new MalformedAnswerError(`the list of ${path} has no metadata.resourceVersion`);
    this.#isPaged = true;
    const isFirst = !this.#hasListed;
    this.#hasListed = true;
    this.#apply(() => {
      this.#cache.retain(keys);
      if (!isFirst) {
        this.#cache.replaced();
        return;
      }
      this.#hasSynced = true;
      this.#cache.synced();
      this.#synced.resolve();
    });
    return resourceVersion;
  }

  async #watch(resourceVersion: string): Promise<void> {
    const { client, clock, random, path, deadManMs = 90_000 } = this.#options;
    this.#phase = { name: 'watching' };
    this.#statistics.watches++;
    // Drawn anew each time, so that the watches of many clients do not end together.
    const timeoutSeconds = 300 + Math.floor(random() * 300);
    const query = new URLSearchParams({
      ...this.#selectors(),
      resourceVersion,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(timeoutSeconds),
    });
    const stream = new WatchStream({ client, clock, path, query, deadManMs, lifeMs: timeoutSeconds * 1000 });
    await stream.run(this.#stop.signal, (event) => this.#receive(event));
  }

  #receive(event: WatchEvent): void {
    this.#statistics.events++;
    const where = `watch after resourceVersion ${this.#resourceVersion}`;
    const version = event.object?.metadata?.resourceVersion;
    if (typeof version === 'string' && version !== '') this.#resourceVersion = version;
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
        this.#apply(() => this.#cache.exists(event.object, where));
        return;
      case 'DELETED':
        this.#apply(() => this.#cache.deleted(event.object, where));
        return;
      case 'BOOKMARK':
        return;
      default: {
        const error = new Error(`a watch event has type ${JSON.stringify(event.type)}, which is none`);
        this.#statistics.malformed++;
        this.#report({ kind: 'malformed', path: this.#options.path, where, error });
      }
    }
  }

  #apply(change: () => void): void {
    this.#deliver(() => {
      if (!this.#isStopped) change();
    });
  }

  #selectors(): { fieldSelector?: string; labelSelector?: string } {
    const { fieldSelector, labelSelector } = this.#options;
    return {
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    };
  }

  #report(problem: ReflectorProblem): void {
    if (!this.#isStopped) this.#options.onProblem?.(problem);
  }
}

/** Whether the server answered, but not with a usable watch: the place asked for may be one it does not know. */
function isRefusal(error: Error | undefined): boolean {
  if (error instanceof TooManyRequestsError) return false;
  return error instanceof ApiError || error instanceof WatchMalformedError;
}
