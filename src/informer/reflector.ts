import { Buffer } from 'node:buffer';
import { isAtLeastVersion } from '../api/resource-version.ts';
import { jitteredBackoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { MalformedAnswerError, NotFoundError } from '../client/api-errors.ts';
import type { KubeClient, ListOptions, ListPage } from '../client/kube-client.ts';
import { unlessAborted, wait } from '../client/wait.ts';
import type { InformerHandler } from './informer-handler.ts';
import { listPages } from './list-pages.ts';
import { ListPolicy } from './list-policy.ts';
import type { RoundEnd } from './list-policy.ts';
import { ObjectCache } from './object-cache.ts';
import { readObjectMeta } from './object-meta.ts';
import { toError } from '../base/to-error.ts';
import type { ReflectorProblem } from './reflector-problem.ts';
import type { Indexers, Lister } from './store.ts';
import { maxLineBytes, LineTooLongError } from './line-splitter.ts';
import { WatchLostError, WatchStream } from './watch-stream.ts';
import type { WatchEvent } from './watch-stream.ts';

export interface ReflectorOptions<T> {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Path of the collection: `/api/v1/pods`. A function is asked before each request: a kind can be served in another version. */
  readonly path: string | (() => string);
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Returns the projection of an object that the store keeps. Throws on a malformed object, which is then skipped and reported. */
  readonly project: (raw: unknown) => T;
  /** Returns true if the owner reads no changed field: then the handler is not called. */
  readonly isSame?: (previous: T, object: T) => boolean;
  readonly handler: InformerHandler<T>;
  readonly indexers?: Indexers<T>;
  readonly onProblem?: (problem: ReflectorProblem) => void;
  /** Objects per page. Default 500. */
  readonly pageSize?: number;
  /**
   * Time without any data, even a bookmark, after which a watch counts as dead, in milliseconds. API servers send a bookmark
   * about every minute. Default 90 s.
   */
  readonly deadManMs?: number;
}

/** A call of `catchUp` that waits until the store has reached a resourceVersion. */
interface CatchUp {
  readonly resourceVersion: string;
  readonly done: Deferred<void>;
}

const pageTimeoutMs = 60_000;
/** How long the watch may take to reach the version of a consistent read before all versions are compared. */
const catchUpMs = 100;
/** Page size of a list that has only versions. */
const versionsPageSize = 5_000;
/** Approximate bytes that a watch event adds to an object of a list: `{"type":"MODIFIED","object":}`, kind and apiVersion. */
const oversizedMargin = 100;
const newestVersionBackoff = { initialMs: 200, maxMs: 5_000 };

/**
 * Keeps a store equal to one collection of an API server until it is stopped. It lists the collection in pages, watches it from
 * there, resumes where a watch ended, and lists again when the server no longer knows that resourceVersion. It reports every
 * failure and retries after the ListPolicy's delay: at most about two attempts a second, whatever the server does.
 */
export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #cache: ObjectCache<T>;
  readonly #policy: ListPolicy;
  readonly #stop = new AbortController();
  readonly #synced = deferred();
  #hasSynced = false;
  readonly #catchUps = new Set<CatchUp>();
  /** Ends the watch or the delay of this round, in order to list again. */
  #interrupt = new AbortController();
  #running: Promise<void> | undefined;
  /** The last watch broke because a line was too long. The next list shows which object it was. */
  #suspectsOversized = false;
  /** Clock.monotonic() of the last data from the server for the collection; at first that of the start. */
  #lastActivityAt: number | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#policy = new ListPolicy({ random: options.random, pageSize: options.pageSize ?? 500 });
    this.#cache = new ObjectCache({
      project: options.project,
      handler: options.handler,
      ...(options.isSame === undefined ? {} : { isSame: options.isSame }),
      ...(options.indexers === undefined ? {} : { indexers: options.indexers }),
      onMalformed: (where, error) => this.#report({ kind: 'malformed', path: this.#path, where, error }),
      onHandlerError: (where, error) => this.#report({ kind: 'handler', path: this.#path, where, error }),
    });
    this.#synced.promise.catch(() => undefined); // there may be no waiter when it stops
  }

  get store(): Lister<T> {
    return this.#cache.store;
  }

  /** Whether the first list has been delivered completely. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves once the first list has been delivered completely; rejects if the reflector is stopped first. */
  synced(): Promise<void> {
    return this.#synced.promise;
  }

  /**
   * Resolves once the store holds everything that a consistent read after this call returns. That read is small. If the watch
   * does not reach its version within a moment, perhaps because nothing happens there, the versions of all objects are compared,
   * and everything is listed only if they differ. Failures are reported and retried; it rejects only if the reflector is stopped.
   */
  async catchUp(): Promise<void> {
    await this.synced();
    const resourceVersion = await this.#newestVersion();
    if (isAtLeastVersion(this.#policy.resourceVersion, resourceVersion)) return;
    const catchUp = { resourceVersion, done: deferred() };
    this.#catchUps.add(catchUp);
    const timer = this.#options.clock.setTimer(catchUpMs, () => void this.#compare(catchUp));
    try {
      await unlessAborted(catchUp.done.promise, this.#stop.signal);
    } finally {
      timer.cancel();
      this.#catchUps.delete(catchUp);
    }
  }

  /** Time since the server last sent data for the collection, including bookmarks; undefined before the start. */
  get silentMs(): number | undefined {
    return this.#lastActivityAt === undefined ? undefined : this.#options.clock.monotonic() - this.#lastActivityAt;
  }

  /** Lists the collection again now, instead of resuming its watch. */
  relist(): void {
    this.#policy.listAgain();
    this.#listAgain();
  }

  /** Starts the reflector; a second call does nothing. */
  start(): void {
    this.#lastActivityAt ??= this.#options.clock.monotonic();
    this.#running ??= this.#run();
  }

  /** Stops the reflector. No handler is called after this call. Resolves when the connections are closed. */
  async stop(): Promise<void> {
    const reason = new Error(`the reflector of ${this.#path} has stopped`);
    this.#stop.abort(reason);
    this.#synced.reject(reason);
    await this.#running;
  }

  get #path(): string {
    const { path } = this.#options;
    return typeof path === 'string' ? path : path();
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const { signal } = this.#interrupt;
      const end = await this.#round(signal);
      if (this.#isStopped) return;
      if (signal.aborted) {
        this.#interrupt = new AbortController();
        // The waiting calls may have been waiting for the interrupted list.
        if (this.#catchUps.size > 0) this.#policy.listAgain();
        continue;
      }
      const delayMs = this.#policy.delayAfter(end);
      if (end.error !== undefined) {
        const { step: kind, error } = end;
        this.#report({ kind, path: this.#path, failures: this.#policy.failures, delayMs, error });
      }
      await this.#waitFor(delayMs, signal);
    }
  }

  /** Resolves after the delay, or earlier when the reflector is stopped or interrupted. */
  async #waitFor(ms: number, interrupted: AbortSignal): Promise<void> {
    const either = AbortSignal.any([this.#stop.signal, interrupted]);
    await wait(this.#options.clock, ms, either).catch(() => undefined);
  }

  /** Returns the current resourceVersion of the collection, by a consistent read. */
  async #newestVersion(): Promise<string> {
    const { client, clock, random } = this.#options;
    const { signal } = this.#stop;
    const call = { ...this.#selectors(), limit: 1, timeoutMs: pageTimeoutMs, signal };
    for (let failures = 1; ; failures++) {
      try {
        return (await client.list(this.#path, call)).resourceVersion;
      } catch (thrown) {
        signal.throwIfAborted();
        const delayMs = jitteredBackoff(newestVersionBackoff, failures, random);
        this.#report({ kind: 'list', path: this.#path, failures, delayMs, error: toError(thrown) });
        await wait(clock, delayMs, signal);
      }
    }
  }

  /** Ends a catch-up if the store equals the server's state; otherwise lists everything. */
  async #compare(catchUp: CatchUp): Promise<void> {
    // Without a resourceVersion to watch from, the next round lists anyway.
    const isListing = this.#policy.resourceVersion === undefined;
    try {
      if (!isListing && (await this.#holdsAll())) {
        this.#endCatchUp(catchUp);
        return;
      }
    } catch (thrown) {
      this.#report({ kind: 'list', path: this.#path, failures: 1, delayMs: 0, error: toError(thrown) });
    }
    if (this.#catchUps.has(catchUp)) this.#listAgain();
  }

  /** Returns whether the store has exactly the server's objects, each in the same version or a newer one. */
  async #holdsAll(): Promise<boolean> {
    let count = 0;
    let isHeld = true;
    await this.#eachPage({ metadataOnly: true, limit: versionsPageSize }, (items) => {
      for (const raw of items) {
        const { key, uid, resourceVersion } = readObjectMeta(raw);
        const known = this.#cache.store.entry(key);
        isHeld &&= known?.uid === uid && isAtLeastVersion(known.resourceVersion, resourceVersion);
        count++;
      }
      return isHeld;
    });
    return isHeld && count === this.#cache.store.size;
  }

  #listAgain(): void {
    this.#interrupt.abort(new Error('the collection is listed again'));
  }

  #notifyCatchUps(): void {
    for (const catchUp of this.#catchUps) {
      if (isAtLeastVersion(this.#policy.resourceVersion, catchUp.resourceVersion)) this.#endCatchUp(catchUp);
    }
  }

  #endCatchUp(catchUp: CatchUp): void {
    this.#catchUps.delete(catchUp);
    catchUp.done.resolve();
  }

  async #round(interrupted: AbortSignal): Promise<RoundEnd> {
    const { clock } = this.#options;
    if (this.#policy.resourceVersion === undefined) {
      const catchUps = [...this.#catchUps];
      try {
        this.#policy.listed(await this.#list());
        for (const catchUp of catchUps) this.#endCatchUp(catchUp);
        this.#notifyCatchUps();
      } catch (thrown) {
        // The collection does not exist, which is a response too.
        if (thrown instanceof NotFoundError) this.#noteActivity();
        return { step: 'list', error: toError(thrown), lastedMs: 0 };
      }
    }
    const begun = clock.monotonic();
    const end = (): RoundEnd => ({ step: 'watch', lastedMs: clock.monotonic() - begun });
    try {
      await this.#watch(this.#policy.resourceVersion!, interrupted);
      return end();
    } catch (thrown) {
      const error = toError(thrown);
      this.#suspectsOversized ||= error.cause instanceof LineTooLongError;
      return { ...end(), error };
    }
  }

  /** Lists the collection page by page, then deletes the objects that are gone. Returns the resourceVersion to watch from. */
  async #list(): Promise<string> {
    const path = this.#path;
    const { pageSize: limit } = this.#policy;
    const keys = new Set<string>();
    const suspectsOversized = this.#suspectsOversized;
    this.#suspectsOversized = false;
    if (this.#hasSynced) this.#cache.listing();
    const resourceVersion = await this.#eachPage({ ...(limit !== undefined && { limit }) }, (items, page) => {
      for (const [index, raw] of items.entries()) {
        this.#stop.signal.throwIfAborted(); // a handler may have stopped the reflector
        const key = this.#cache.exists(raw, `item ${index} of page ${page}`);
        if (key === undefined) continue;
        keys.add(key);
        if (suspectsOversized) this.#reportOversized(key, raw);
      }
      return true;
    });
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

  /** Reads the collection page by page until `take` returns false. Returns the resourceVersion of the last page. */
  #eachPage(
    options: Pick<ListOptions, 'limit' | 'metadataOnly'>,
    take: (items: ListPage['items'], page: number) => boolean,
  ): Promise<string> {
    const { client } = this.#options;
    const all = { ...this.#selectors(), ...options, timeoutMs: pageTimeoutMs, signal: this.#stop.signal };
    return listPages(client, this.#path, all, (items, page) => {
      this.#noteActivity();
      return take(items, page);
    });
  }

  async #watch(resourceVersion: string, interrupted: AbortSignal): Promise<void> {
    const { client, clock, random, deadManMs = 90_000 } = this.#options;
    const path = this.#path;
    // A new random value each time, so that the watches of many clients do not end together.
    const timeoutSeconds = 300 + Math.floor(random() * 300);
    const query = new URLSearchParams({
      ...this.#selectors(),
      resourceVersion,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(timeoutSeconds),
    });
    const stream = new WatchStream({ client, clock, path, query, deadManMs, lifeMs: timeoutSeconds * 1000 });
    const end = AbortSignal.any([this.#stop.signal, interrupted]);
    await stream.run(end, (event) => {
      end.throwIfAborted();
      this.#receive(event);
      if (this.#catchUps.size > 0) this.#notifyCatchUps();
    });
  }

  #noteActivity(): void {
    this.#lastActivityAt = this.#options.clock.monotonic();
  }

  #receive(event: WatchEvent): void {
    this.#noteActivity();
    const where = `watch after resourceVersion ${this.#policy.resourceVersion}`;
    const version = event.object?.metadata?.resourceVersion;
    if (typeof version === 'string' && version !== '') {
      const before = this.#policy.resourceVersion;
      if (before !== undefined && isAtLeastVersion(before, version) && before !== version) {
        if (this.#isKnown(event)) return; // a duplicate
        // The server was restored to an earlier state, so the store no longer matches it.
        throw new WatchLostError(`GET ${this.#path}: the watch went back from resourceVersion ${before} to ${version}`);
      }
      this.#policy.reached(version);
    }
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
        const error = new Error(`a watch event has the unknown type ${JSON.stringify(event.type)}`);
        this.#report({ kind: 'malformed', path: this.#path, where, error });
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

  /** Returns whether the event repeats the known state of an object. */
  #isKnown({ type, object }: WatchEvent): boolean {
    if (type !== 'ADDED' && type !== 'MODIFIED') return false;
    try {
      const { key, uid, resourceVersion } = readObjectMeta(object);
      const known = this.#cache.store.entry(key);
      return known?.uid === uid && known.resourceVersion === resourceVersion;
    } catch {
      return false; // malformed
    }
  }

  #reportOversized(where: string, raw: unknown): void {
    // The margin accounts for the rest of a watch line.
    const bytes = Buffer.byteLength(JSON.stringify(raw));
    if (bytes + oversizedMargin <= maxLineBytes) return;
    const error = new Error(`the object has ${bytes} bytes; a watch event may have at most ${maxLineBytes}`);
    this.#report({ kind: 'oversized', path: this.#path, where, error });
  }

  #report(problem: ReflectorProblem): void {
    if (!this.#isStopped) this.#options.onProblem?.(problem);
  }
}
