import type { WatchStream } from './watch-stream.ts';

/** The open watches. The server ends them on shutdown, or when their resource changes or is removed. */
export class WatchStreams {
  /** collection name -> its open watches */
  readonly #streams = new Map<string, Set<WatchStream>>();

  add(storage: string, stream: WatchStream): void {
    const streams = this.#streams.get(storage);
    if (streams === undefined) this.#streams.set(storage, new Set([stream]));
    else streams.add(stream);
  }

  delete(storage: string, stream: WatchStream): void {
    this.#streams.get(storage)?.delete(stream);
  }

  /** Number of open watches. */
  get size(): number {
    let size = 0;
    for (const streams of this.#streams.values()) size += streams.size;
    return size;
  }

  /** Ends the watches of one collection, or all watches. Clients see a clean end of the body. */
  end(storage?: string): void {
    for (const [name, streams] of this.#streams) {
      if (storage === undefined || name === storage) for (const stream of [...streams]) stream.end();
    }
  }
}
