import type { WatchStream } from './watch-stream.ts';

/** The open watches. The server ends them on shutdown, or when their resource changes or is removed. */
export class WatchStreams {
  /** open watch -> name of the collection that it watches */
  readonly #storages = new Map<WatchStream, string>();

  add(storage: string, stream: WatchStream): void {
    this.#storages.set(stream, storage);
  }

  delete(stream: WatchStream): void {
    this.#storages.delete(stream);
  }

  /** Number of open watches. */
  get size(): number {
    return this.#storages.size;
  }

  /** Ends the watches of one collection, or all watches. Clients see a clean end of the body. */
  end(storage?: string): void {
    for (const [stream, name] of [...this.#storages]) if (storage === undefined || name === storage) stream.end();
  }
}
