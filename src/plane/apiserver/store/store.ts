import type { Change } from './change.ts';
import type { IndexFunctions } from './collection.ts';
import { Collection } from './collection.ts';

/** Resource version before the first write. */
const initialResourceVersion = 1;

export type StoreListener = (collection: Collection, change: Change) => void;

/** The collections of an API server. They share one resource version counter. */
export class Store {
  readonly #historyLimit: number;
  /** resource name, such as "pods" or "podgroups.scheduling.x-k8s.io" -> its collection */
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<StoreListener>();
  #resourceVersion = initialResourceVersion;

  /** `historyLimit` is the number of changes that each collection keeps for watches to replay. */
  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  /** The resource version of the latest write to any collection. */
  get resourceVersion(): number {
    return this.#resourceVersion;
  }

  /** Uses up a resource version, as a write of another server would. */
  skipResourceVersion(): void {
    this.#resourceVersion++;
  }

  /** Returns the collection of that name. The first call creates it; only that call's `indexes` apply. */
  collection(name: string, indexes?: IndexFunctions): Collection {
    let collection = this.#collections.get(name);
    if (collection === undefined) {
      const created = new Collection({
        name,
        historyLimit: this.#historyLimit,
        floor: initialResourceVersion,
        nextResourceVersion: () => ++this.#resourceVersion,
        ...(indexes && { indexes }),
      });
      created.subscribe((change) => {
        for (const listener of this.#listeners) listener(created, change);
      });
      collection = created;
      this.#collections.set(name, created);
    }
    return collection;
  }

  collections(): Iterable<Collection> {
    return this.#collections.values();
  }

  /** Calls `listener` synchronously after each write to any collection. Returns the function that unsubscribes it. */
  subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
