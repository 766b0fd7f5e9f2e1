import { Buffer } from 'node:buffer';
import type { Clock, Timer } from '../../../base/clock.ts';
import type { ObjectPredicate } from '../http/selectors.ts';
import type { JsonObject } from '../json.ts';
import type { Change } from '../store/change.ts';
import { StoredObject } from '../store/stored-object.ts';

/** One event of a watch, before it is encoded in the form that the client wants. */
export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: StoredObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: number; readonly initialEventsEnd: boolean };

export interface WatchStreamOptions {
  readonly clock: Clock;
  /** Selects the client's objects. An object that enters or leaves the selection counts as added or deleted. */
  readonly selects: ObjectPredicate;
  /** Returns the line of an event, including the newline. */
  readonly encode: (event: WatchEvent) => string;
  /** Returns the current resource version, for bookmarks. */
  readonly resourceVersion: () => number;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
  /** Maximum number of pending events. The stream ends when a client falls further behind; the client can resume from the last event. */
  readonly pendingLimit: number;
  readonly signal?: AbortSignal;
  /** Called once when the stream ends, for any reason. */
  readonly onEnd: (stream: WatchStream) => void;
}

const bookmarkIntervalMs = 60_000;
/** Characters after which a write is full. A write joins several lines. */
const writeLimit = 64 * 1024;

type Life =
  { readonly state: 'open' } | { readonly state: 'ended' } | { readonly state: 'aborted'; readonly error: Error };

/**
 * The body of one watch. The collection pushes events, and the client reads them at its own pace. Supports one consumer.
 */
export class WatchStream implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  readonly #options: WatchStreamOptions;
  /** Events to send first, from #backlogAt on: those from before the watch began, then batches of #pending. */
  #backlog: readonly WatchEvent[] = [];
  #backlogAt = 0;
  #pending: WatchEvent[] = [];
  #life: Life = { state: 'open' };
  #waiting: ((result: IteratorResult<Uint8Array, undefined>) => void) | undefined;
  #waitingFailed: ((error: Error) => void) | undefined;
  #bookmarkTimer: Timer | undefined;
  readonly #timeoutTimer: Timer;
  readonly #onAbort: () => void;

  constructor(options: WatchStreamOptions, backlog: readonly WatchEvent[]) {
    this.#options = options;
    this.#backlog = backlog;
    this.#timeoutTimer = options.clock.setTimer(options.timeoutMs, () => {
      if (options.bookmarks) this.#push(this.#bookmark());
      this.end();
    });
    if (options.bookmarks) this.#scheduleBookmark();
    this.#onAbort = () => this.#finish({ state: 'aborted', error: abortError(options.signal) });
    options.signal?.addEventListener('abort', this.#onAbort);
  }

  /** Adds a change that the collection made after the backlog. */
  onChange(change: Change): void {
    const event = visibleEvent(change, this.#options.selects);
    if (event === undefined || this.#life.state !== 'open') return;
    if (this.#pending.length >= this.#options.pendingLimit) this.end();
    else this.#push(event);
  }

  /** Ends the stream after its pending events. Idempotent. */
  end(): void {
    this.#finish({ state: 'ended' });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#life.state === 'aborted') return Promise.reject(this.#life.error);
    let piece: Uint8Array | undefined;
    try {
      piece = this.#take();
    } catch (error) {
      // An event that cannot be encoded ends this watch. It must not fail the write that caused it.
      const failure = error as Error;
      this.#finish({ state: 'aborted', error: failure });
      return Promise.reject(failure);
    }
    if (piece !== undefined) return Promise.resolve({ done: false, value: piece });
    if (this.#life.state === 'ended') return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#waiting = resolve;
      this.#waitingFailed = reject;
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#backlog = [];
    this.#pending = [];
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  #scheduleBookmark(): void {
    this.#bookmarkTimer = this.#options.clock.setTimer(bookmarkIntervalMs, () => {
      this.#push(this.#bookmark());
      this.#scheduleBookmark();
    });
  }

  #bookmark(): WatchEvent {
    return { type: 'BOOKMARK', resourceVersion: this.#options.resourceVersion(), initialEventsEnd: false };
  }

  #push(event: WatchEvent): void {
    this.#pending.push(event);
    this.#wake();
  }

  #finish(life: Life): void {
    if (this.#life.state !== 'open') return;
    this.#life = life;
    this.#timeoutTimer.cancel();
    this.#bookmarkTimer?.cancel();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#options.onEnd(this);
    this.#wake();
  }

  #wake(): void {
    const [resolve, reject] = [this.#waiting, this.#waitingFailed];
    if (resolve === undefined || reject === undefined) return;
    this.#waiting = this.#waitingFailed = undefined;
    this.next().then(resolve, reject);
  }

  /** Returns the next lines, up to the size of one write. Undefined if there are none. */
  #take(): Uint8Array | undefined {
    const lines: string[] = [];
    let length = 0;
    for (let event = this.#nextEvent(); event !== undefined; event = this.#nextEvent()) {
      const line = this.#options.encode(event);
      lines.push(line);
      length += line.length;
      if (length >= writeLimit) break;
    }
    return lines.length === 0 ? undefined : Buffer.from(lines.join(''));
  }

  #nextEvent(): WatchEvent | undefined {
    if (this.#backlogAt < this.#backlog.length) return this.#backlog[this.#backlogAt++];
    if (this.#backlog.length > 0) {
      this.#backlog = [];
      this.#backlogAt = 0;
    }
    // Take all pending events at once: shifting them one by one would be quadratic.
    if (this.#pending.length > 0) {
      this.#backlog = this.#pending;
      this.#pending = [];
      return this.#backlog[this.#backlogAt++];
    }
    return undefined;
  }
}

/** Returns the event that a watch sends for a change. An object that enters or leaves the selection is added or deleted. */
export function visibleEvent(change: Change, selects: ObjectPredicate): WatchEvent | undefined {
  const { object } = change;
  if (change.type === 'ADDED') return selects(object.object) ? { type: 'ADDED', object } : undefined;
  const before = selects(change.previous.object);
  if (change.type === 'DELETED') return before ? { type: 'DELETED', object } : undefined;
  const after = selects(object.object);
  if (after) return { type: before ? 'MODIFIED' : 'ADDED', object };
  return before ? { type: 'DELETED', object: atVersion(change.previous, change.resourceVersion) } : undefined;
}

/** Returns the last state that matched, with the resource version of the change after which it no longer matches. */
function atVersion(stored: StoredObject, resourceVersion: number): StoredObject {
  const metadata = { ...(stored.object.metadata as JsonObject), resourceVersion: String(resourceVersion) };
  return new StoredObject({ ...stored.object, metadata }, resourceVersion);
}

function abortError(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('the watch was aborted');
}
