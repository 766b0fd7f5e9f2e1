import { Buffer } from 'node:buffer';
import { jitteredBackoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import type { Random } from '../base/random.ts';
import { MalformedAnswerError, NotFoundError } from '../client/api-errors.ts';
import type { KubeClient, ListOptions, ListPage } from '../client/kube-client.ts';
import { unlessAborted, wait } from '../client/wait.ts';
import type { InformerHandler } from './informer-handler.ts';
import { ListPolicy } from './list-policy.ts';
import type { RoundEnd } from './list-policy.ts';
import { ObjectCache } from './object-cache.ts';
import { readObjectMeta } from './object-meta.ts';
import { toError } from '../base/to-error.ts';
import type { ReflectorProblem } from './reflector-problem.ts';
import type { Indexers, Lister } from './store.ts';
import { longestLineBytes, LineTooLongError } from './line-splitter.ts';
import { WatchLostError, WatchStream } from './watch-stream.ts';
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

/** Who waits until the store is as new as that. */
interface CatchUp {
  readonly resourceVersion: string;
  readonly done: Deferred<void>;
}

const pageTimeoutMs = 60_000;
/** Pages of a list at most: far more than the largest cluster has, and its tokens do not live as long. */
const mostPages = 10_000;
/** How long the watch is given to bring what a consistent read has shown to be there, before everything is listed. */
const catchUpMs = 100;
/** Objects a page where nothing but versions are listed. */
const versionsPageSize = 5_000;
/** `{"type":"MODIFIED","object":}` and kind and version, which a list leaves out, in bytes: about as many. */
const oversizedMargin = 100;
const newestVersionBackoff = { initialMs: 200, maxMs: 5_000 };

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
  readonly #catchUps = new Set<CatchUp>();
  /** Ends the watch, or the waiting, of the present round, because everything is to be listed. */
  #interrupt = new AbortController();
  #running: Promise<void> | undefined;
  /** The last watch broke because a line was too long: the next list shows whose it was. */
  #suspectsOversized = false;
  /** Clock.monotonic() when the server last said something of the collection; at first when it was started. */
  #heardAt: number | undefined;

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

  /**
   * Resolves once the store holds all that a consistent read finds which is made after this call. That read is small; when the
   * watch has not come as far in a moment, be it that nothing happens there, the versions of all objects are compared, and only when
   * they differ everything is listed. Failures are reported and tried again; rejects only when the reflector is stopped.
   */
  async catchUp(): Promise<void> {
    await this.synced();
    const resourceVersion = await this.#newestVersion();
    if (isAtLeast(this.#policy.resourceVersion, resourceVersion)) return;
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

  /** For how long the server has said nothing of the collection, bookmarks included; undefined before it was started. */
  get silentMs(): number | undefined {
    return this.#heardAt === undefined ? undefined : this.#options.clock.monotonic() - this.#heardAt;
  }

  /** Begins; a second call does nothing. */
  start(): void {
    this.#heardAt ??= this.#options.clock.monotonic();
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
      const { signal } = this.#interrupt;
      const end = await this.#round(signal);
      if (this.#isStopped) return;
      if (signal.aborted) {
        this.#interrupt = new AbortController();
        // A list that was under way may have been what they waited for.
        if (this.#catchUps.size > 0) this.#policy.listAgain();
        continue;
      }
      const delayMs = this.#policy.delayAfter(end);
      if (end.error !== undefined) {
        const { step: kind, error } = end;
        this.#report({ kind, path: this.#options.path, failures: this.#policy.failures, delayMs, error });
      }
      await this.#waitFor(delayMs, signal);
    }
  }

  /** Resolves after the time, or sooner when it is stopped or interrupted. */
  async #waitFor(ms: number, interrupted: AbortSignal): Promise<void> {
    const either = AbortSignal.any([this.#stop.signal, interrupted]);
    await wait(this.#options.clock, ms, either).catch(() => undefined);
  }

  /** Where the collection is now, by a read that the server answers from its newest state. */
  async #newestVersion(): Promise<string> {
    const { client, clock, path, random } = this.#options;
    const { signal } = this.#stop;
    const call = { ...this.#selectors(), limit: 1, timeoutMs: pageTimeoutMs, signal };
    for (let failures = 1; ; failures++) {
      try {
        return (await client.list(path, call)).resourceVersion;
      } catch (thrown) {
        signal.throwIfAborted();
        const delayMs = jitteredBackoff(newestVersionBackoff, failures, random);
        this.#report({ kind: 'list', path, failures, delayMs, error: toError(thrown) });
        await wait(clock, delayMs, signal);
      }
    }
  }

  /** Ends the waiting when the store holds what the server has; else everything is listed. */
  async #compare(catchUp: CatchUp): Promise<void> {
    // Without a place to watch from everything is listed anyway.
    const isListing = this.#policy.resourceVersion === undefined;
    try {
      if (!isListing && (await this.#holdsAll())) {
        this.#endCatchUp(catchUp);
        return;
      }
    } catch (thrown) {
      const { path } = this.#options;
      this.#report({ kind: 'list', path, failures: 1, delayMs: 0, error: toError(thrown) });
    }
    if (this.#catchUps.has(catchUp)) this.#listAgain();
  }

  /** Whether the store has each object that the server has, in the same version or a newer one, and no other. */
  async #holdsAll(): Promise<boolean> {
    let count = 0;
    let isHeld = true;
    await this.#eachPage({ metadataOnly: true, limit: versionsPageSize }, (items) => {
      for (const raw of items) {
        const { key, uid, resourceVersion } = readObjectMeta(raw);
        const known = this.#cache.store.entry(key);
        isHeld &&= known?.uid === uid && isAtLeast(known.resourceVersion, resourceVersion);
        count++;
      }
      return isHeld;
    });
    return isHeld && count === this.#cache.store.size;
  }

  #listAgain(): void {
    this.#interrupt.abort(new Error('everything is listed anew'));
  }

  #notifyCatchUps(): void {
    for (const catchUp of this.#catchUps) {
      if (isAtLeast(this.#policy.resourceVersion, catchUp.resourceVersion)) this.#endCatchUp(catchUp);
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
        // There is no such collection: that is an answer too.
        if (thrown instanceof NotFoundError) this.#heard();
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

  /** Applies the collection page by page; what is gone from it is deleted at the end. Answers where to watch from. */
  async #list(): Promise<string> {
    const { path } = this.#options;
    const { pageSize: limit } = this.#policy;
    const keys = new Set<string>();
    const suspectsOversized = this.#suspectsOversized;
    this.#suspectsOversized = false;
    const resourceVersion = await this.#eachPage({ ...(limit !== undefined && { limit }) }, (items, page) => {
      for (const [index, raw] of items.entries()) {
        this.#stop.signal.throwIfAborted(); // a handler may have stopped it
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

  /**
   * Reads the collection page by page, until `take` answers false. Waiting for each page lets everything else run in between; none
   * is held while the next one is read. Answers the last one's resourceVersion. Rejects with MalformedAnswerError when there is no end of pages.
   */
  async #eachPage(
    options: Pick<ListOptions, 'limit' | 'metadataOnly'>,
    take: (items: ListPage['items'], page: number) => boolean,
  ): Promise<string> {
    const { client, path } = this.#options;
    const given = (
      { items, ...rest }: ListPage,
      page: number,
    ): Omit<ListPage, 'items'> & { readonly goesOn: boolean } => {
      this.#heard();
      return { ...rest, goesOn: take(items, page) && rest.continueToken !== undefined };
    };
    let continueToken: string | undefined;
    for (let page = 1; ; page++) {
      const { resourceVersion, goesOn, ...next } = given(
        await client.list(path, {
          ...this.#selectors(),
          ...options,
          ...(continueToken !== undefined && { continueToken }),
          timeoutMs: pageTimeoutMs,
          signal: this.#stop.signal,
        }),
        page,
      );
      if (!goesOn) return resourceVersion;
      if (next.continueToken === continueToken || page >= mostPages) {
        const what =
          page >= mostPages ? `has more than ${mostPages} pages` : `goes on with page ${page} after page ${page}`;
        throw new MalformedAnswerError(`the list of ${path} has no end: it ${what}`);
      }
      continueToken = next.continueToken;
    }
  }

  async #watch(resourceVersion: string, interrupted: AbortSignal): Promise<void> {
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
    const end = AbortSignal.any([this.#stop.signal, interrupted]);
    await stream.run(end, (event) => {
      end.throwIfAborted();
      this.#receive(event);
      if (this.#catchUps.size > 0) this.#notifyCatchUps();
    });
  }

  #heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
  }

  #receive(event: WatchEvent): void {
    this.#heard();
    const where = `watch after resourceVersion ${this.#policy.resourceVersion}`;
    const version = event.object?.metadata?.resourceVersion;
    if (typeof version === 'string' && version !== '') {
      const before = this.#policy.resourceVersion;
      if (before !== undefined && isAtLeast(before, version) && before !== version) {
        if (this.#isHeld(event)) return; // said twice
        // A server that was set back to an earlier state: what it has now is not what is held.
        throw new WatchLostError(
          `GET ${this.#options.path}: the watch went back from resourceVersion ${before} to ${version}`,
        );
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

  /** Whether the event says of an object just what is known of it. */
  #isHeld({ type, object }: WatchEvent): boolean {
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
    // With what the line of a watch has around the object.
    const bytes = Buffer.byteLength(JSON.stringify(raw));
    if (bytes + oversizedMargin <= longestLineBytes) return;
    const error = new Error(`the object has ${bytes} bytes; watches are read in lines of up to ${longestLineBytes}`);
    this.#report({ kind: 'oversized', path: this.#options.path, where, error });
  }

  #report(problem: ReflectorProblem): void {
    if (!this.#isStopped) this.#options.onProblem?.(problem);
  }
}

/** Whether the first resourceVersion is as new as the second: they are numbers of any length, though servers may have others. */
function isAtLeast(version: string | undefined, wanted: string): boolean {
  if (version === undefined) return false;
  if (version === wanted) return true;
  if (!/^\d+$/.test(version) || !/^\d+$/.test(wanted)) return false;
  return version.length === wanted.length ? version > wanted : version.length > wanted.length;
}
