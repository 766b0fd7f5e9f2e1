import type { Change } from './change.ts';
import type { IndexFunctions } from './collection.ts';
import { Collection } from './collection.ts';

export interface StoreOptions {
  /** How many changes each collection keeps for watches to replay. */
  readonly historyLimit: number;
  /** The resource version before the first write. */
  readonly initialResourceVersion: number;
}

export type StoreListener = (collection: Collection, change: Change) => void;

/** The collections of an API server, under one counter of resource versions. */
export class Store {
  readonly #historyLimit: number;
  readonly #initialResourceVersion: number;
  /** resource name, such as "pods" or "podgroups.scheduling.x-k8s.io" -> its collection */
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<StoreListener>();
  #resourceVersion: number;

  constructor(options: StoreOptions) {
    this.#historyLimit = options.historyLimit;
    this.#initialResourceVersion = options.initialResourceVersion;
    this.#resourceVersion = options.initialResourceVersion;
  }

  /** The resource version of the latest write of any collection. */
  get resourceVersion(): number {
    return this.#resourceVersion;
  }

  /** The collection of that name, made at the first call; `indexes` count only then. */
  collection(name: string, indexes?: IndexFunctions): Collection {
    let collection = this.#collections.get(name);
    if (collection === undefined) {
      const made = new Collection({
        name,
        historyLimit: this.#historyLimit,
        floor: this.#initialResourceVersion,
        nextResourceVersion: () => ++this.#resourceVersion,
        ...(indexes && { indexes }),
      });
      made.subscribe((change) => {
        for (const listener of this.#listeners) listener(made, change);
      });
      collection = made;
      this.#collections.set(name, made);
    }
    return collection;
  }

  collections(): Iterable<Collection> {
    return this.#collections.values();
  }

  /** Calls `listener` synchronously after each write to any collection. Returns the function that ends it. */
  subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
