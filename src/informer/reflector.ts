import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { MalformedAnswerError } from '../client/api-errors.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { wait } from '../client/wait.ts';
import type { InformerHandler } from './informer-handler.ts';
import { ListPolicy } from './list-policy.ts';
import type { RoundEnd } from './list-policy.ts';
import { ObjectCache } from './object-cache.ts';
import { toError } from './reflector-problem.ts';
import type { ReflectorProblem } from './reflector-problem.ts';
import type { Indexers, Lister } from './store.ts';
import { WatchStream } from './watch-stream.ts';
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
  readonly onProblem?: (problem: ReflectorProblem) => void;
  /** Objects a page. Default 500. */
  readonly pageSize?: number;
  /**
   * A watch on which nothing, not even a bookmark, has come for so long is taken for dead, in milliseconds. API servers
   * send a bookmark about every minute. Default 90 s.
   */
  readonly deadManMs?: number;
}

const pageTimeoutMs = 60_000;

/**
 * Keeps a store equal to one collection of an API server, for ever: lists it in pages, watches it from there, resumes
 * where a watch ended, and lists again when the server has forgotten that place. Whatever goes wrong is reported and
 * tried again after the ListPolicy's delay; there are never more than about two attempts a second, however the server
 * behaves.
 */
export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #cache: ObjectCache<T>;
  readonly #policy: ListPolicy;
  readonly #stop = new AbortController();
  readonly #synced = deferred();
  #hasSynced = false;
  #running: Promise<void> | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#policy = new ListPolicy({ random: options.random, pageSize: options.pageSize ?? 500 });
    this.#cache = new ObjectCache({
      project: options.project,
      handler: options.handler,
      ...(options.isSame === undefined ? {} : { isSame: options.isSame }),
      ...(options.indexers === undefined ? {} : { indexers: options.indexers }),
      onMalformed: (where, error) => this.#report({ kind: 'malformed', path: options.path, where, error }),
      onHandlerError: (where, error) => this.#report({ kind: 'handler', path: options.path, where, error }),
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
    this.#synced.reject(reason);
    await this.#running;
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const end = await this.#round();
      if (this.#isStopped) return;
      const delayMs = this.#policy.delayAfter(end);
      if (end.error !== undefined) {
        const { step: kind, error } = end;
        this.#report({ kind, path: this.#options.path, failures: this.#policy.failures, delayMs, error });
      }
      await wait(this.#options.clock, delayMs, this.#stop.signal).catch(() => undefined); // stopped: the loop ends
    }
  }

  async #round(): Promise<RoundEnd> {
    const { clock } = this.#options;
    if (this.#policy.resourceVersion === undefined) {
      try {
        this.#policy.listed(await this.#list());
      } catch (thrown) {
        return { step: 'list', error: toError(thrown), lastedMs: 0 };
      }
    }
    const begun = clock.monotonic();
    const end = (): RoundEnd => ({ step: 'watch', lastedMs: clock.monotonic() - begun });
    try {
      await this.#watch(this.#policy.resourceVersion!);
      return end();
    } catch (thrown) {
      return { ...end(), error: toError(thrown) };
    }
  }

  /** Applies the collection page by page; what is gone from it is deleted at the end. Answers where to watch from. */
  async #list(): Promise<string> {
    const { client, path } = this.#options;
    const { pageSize: limit } = this.#policy;
    const keys = new Set<string>();
    let continueToken: string | undefined;
    let resourceVersion = '';
    for (let page = 1; page === 1 || continueToken !== undefined; page++) {
      // Waiting for each page lets everything else run in between.
      const answer = await client.list(path, {
        ...this.#selectors(),
        ...(limit === undefined ? {} : { limit }),
        ...(continueToken === undefined ? {} : { continueToken }),
        timeoutMs: pageTimeoutMs,
        signal: this.#stop.signal,
      });
      for (const [index, raw] of answer.items.entries()) {
        this.#stop.signal.throwIfAborted(); // a handler may have stopped it
        const key = this.#cache.exists(raw, `item ${index} of page ${page}`);
        if (key !== undefined) keys.add(key);
      }
      resourceVersion = answer.resourceVersion;
      continueToken = answer.continueToken;
    }
    if (resourceVersion === '') throw new MalformedAnswerError(`the list of ${path} has no metadata.resourceVersion`);
    this.#stop.signal.throwIfAborted();
    this.#cache.retain(keys);
    if (this.#hasSynced) {
      this.#cache.replaced();
    } else {
      this.#hasSynced = true;
      this.#cache.synced();
      this.#synced.resolve();
    }
    return resourceVersion;
  }

  async #watch(resourceVersion: string): Promise<void> {
    const { client, clock, random, path, deadManMs = 90_000 } = this.#options;
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
    this.#stop.signal.throwIfAborted();
    const where = `watch after resourceVersion ${this.#policy.resourceVersion}`;
    const version = event.object?.metadata?.resourceVersion;
    if (typeof version === 'string' && version !== '') this.#policy.reached(version);
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
        this.#cache.exists(event.object, where);
        return;
      case 'DELETED':
        this.#cache.deleted(event.object, where);
        return;
      case 'BOOKMARK':
        return;
      default: {
        const error = new Error(`a watch event has type ${JSON.stringify(event.type)}, which is none`);
        this.#report({ kind: 'malformed', path: this.#options.path, where, error });
      }
    }
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
