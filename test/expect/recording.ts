import { systemClock } from '../../src/base/system-clock.ts';
import { ConnectionError, NotFoundError } from '../../src/client/api-errors.ts';
import type { KubeClient } from '../../src/client/kube-client.ts';
import { wait } from '../../src/client/wait.ts';
import { LineSplitter } from '../../src/informer/line-splitter.ts';
import { keyOf } from './watched.ts';
import type { WatchedObject } from './watched.ts';

/** One change of one object. */
export interface Change<T> {
  /** performance.now() when it arrived. */
  readonly at: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

interface WatchLine<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

const reconnectMs = 100;

interface RecordingOptions {
  /** The server may stop serving the collection for a while. Its objects do not change then, so a list has no gap. */
  readonly mayBeAbsent?: boolean;
}

/**
 * Records all changes of a collection from the moment it is opened, without a gap. It resumes a watch that ends. A resource version that
 * the server has forgotten is an error; the recording never skips changes.
 */
export class Recording<T extends WatchedObject> {
  /** All changes in order since it was opened. */
  readonly changes: Change<T>[] = [];
  /** key -> the object as it is now */
  readonly current = new Map<string, T>();
  readonly #client: KubeClient;
  readonly #path: string;
  readonly #onChange: () => void;
  readonly #mayBeAbsent: boolean;
  readonly #stop = new AbortController();
  /** Undefined: list first. */
  #resourceVersion: string | undefined;
  #failure: Error | undefined;
  #running: Promise<void> | undefined;

  private constructor(client: KubeClient, path: string, onChange: () => void, mayBeAbsent: boolean) {
    this.#client = client;
    this.#path = path;
    this.#onChange = onChange;
    this.#mayBeAbsent = mayBeAbsent;
  }

  /** Resolves when the existing objects are known and every later change will be recorded. Also calls `onChange` on failure. */
  static async open<T extends WatchedObject>(
    client: KubeClient,
    path: string,
    onChange: () => void,
    { mayBeAbsent = false }: RecordingOptions = {},
  ): Promise<Recording<T>> {
    const recording = new Recording<T>(client, path, onChange, mayBeAbsent);
    for (const item of await recording.#list()) recording.current.set(keyOf(item), item);
    recording.#running = recording.#run();
    return recording;
  }

  /** Set when the history has a gap and no longer proves anything. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error('the recording is closed'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#resourceVersion === undefined) this.#takeAll(await this.#list());
        await this.#watch(signal);
      } catch (error) {
        if (signal.aborted) return;
        const isAbsent = this.#mayBeAbsent && error instanceof NotFoundError;
        // No watch continues where the kind was last served.
        if (isAbsent) this.#resourceVersion = undefined;
        else if (!(error instanceof ConnectionError)) {
          this.#failure = new Error(`the record of ${this.#path} has a gap`, { cause: error });
          this.#onChange();
          return;
        }
        // The server went away; the missed changes follow when it is back.
        await wait(systemClock, reconnectMs, signal).catch(() => undefined);
      }
    }
  }

  async #list(): Promise<readonly T[]> {
    const { items, resourceVersion } = await this.#client.list(this.#path);
    this.#resourceVersion = resourceVersion;
    return items as readonly T[];
  }

  /** Records what has changed since the last object of each key. */
  #takeAll(listed: readonly T[]): void {
    const left = new Map(this.current);
    for (const object of listed) {
      const before = left.get(keyOf(object));
      left.delete(keyOf(object));
      if (before?.metadata.resourceVersion === object.metadata.resourceVersion) continue;
      this.#record({ type: before === undefined ? 'ADDED' : 'MODIFIED', object });
    }
    for (const object of left.values()) this.#record({ type: 'DELETED', object });
    this.#onChange();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ resourceVersion: this.#resourceVersion! });
    const splitter = new LineSplitter();
    for await (const chunk of readable(await this.#client.watch(this.#path, query, signal))) {
      splitter.push(chunk, (line) => this.#take(JSON.parse(line) as WatchLine<T>));
      this.#onChange();
    }
  }

  #take({ type, object }: WatchLine<T>): void {
    if (type === 'ERROR') throw new Error(JSON.stringify(object));
    this.#resourceVersion = object.metadata.resourceVersion;
    if (type !== 'BOOKMARK') this.#record({ type, object });
  }

  #record({ type, object }: Pick<Change<T>, 'type' | 'object'>): void {
    this.changes.push({ at: performance.now(), type, object });
    if (type === 'DELETED') this.current.delete(keyOf(object));
    else this.current.set(keyOf(object), object);
  }
}

/** Yields the same chunks; wraps a broken connection so that it differs from errors in the content. */
async function* readable(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw new ConnectionError('the watch broke', { ambiguous: false, cause });
  }
}
