import type { WatchStream } from './watch-stream.ts';

/** All watches that are open, so that they can be ended: on shutdown, or when their resource is gone. */
export class WatchStreams {
  /** name of the watched collection -> its open watches */
  readonly #streams = new Map<string, Set<WatchStream>>();

  add(storage: string, stream: WatchStream): void {
    const streams = this.#streams.get(storage);
    if (streams === undefined) this.#streams.set(storage, new Set([stream]));
    else streams.add(stream);
  }

  delete(storage: string, stream: WatchStream): void {
    this.#streams.get(storage)?.delete(stream);
  }

  /** How many watches are open. */
  get size(): number {
    let size = 0;
    for (const streams of this.#streams.values()) size += streams.size;
    return size;
  }

  /** Ends the watches of one collection, or all. Clients see a clean end of the body. */
  end(storage?: string): void {
    for (const [name, streams] of this.#streams) {
      if (storage === undefined || name === storage) for (const stream of [...streams]) stream.end();
    }
  }
}
