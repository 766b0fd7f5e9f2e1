import type { JsonObject } from '../json.ts';
import type { Change, ChangeListener } from './change.ts';
import { History } from './history.ts';
import { StoredObject, objectKey } from './stored-object.ts';

/** Index name -> the value an object is found under; undefined leaves the object out of that index. */
export type IndexFunctions = Readonly<Record<string, (object: JsonObject) => string | undefined>>;

export interface CollectionOptions {
  readonly name: string;
  /** How many changes are kept for watches to replay. */
  readonly historyLimit: number;
  /** Resource versions up to this one are before the collection's time. */
  readonly floor: number;
  readonly indexes?: IndexFunctions;
  /** Takes the next resource version; shared by all collections of a store. */
  readonly nextResourceVersion: () => number;
}

/** All objects of one resource, in memory, with their recent history. */
export class Collection {
  readonly name: string;
  readonly #nextResourceVersion: () => number;
  readonly #indexFunctions: IndexFunctions;
  readonly #history: History;
  /** namespace/name -> object */
  readonly #objects = new Map<string, StoredObject>();
  /** index name -> value -> keys of the objects found under it */
  readonly #indexes = new Map<string, Map<string, Set<string>>>();
  readonly #listeners = new Set<ChangeListener>();
  /** All keys in order; undefined when an object came or went since it was made. */
  #sortedKeys: string[] | undefined;

  constructor(options: CollectionOptions) {
    this.name = options.name;
    this.#nextResourceVersion = options.nextResourceVersion;
    this.#indexFunctions = options.indexes ?? {};
    this.#history = new History(options.historyLimit, options.floor);
    for (const index of Object.keys(this.#indexFunctions)) this.#indexes.set(index, new Map());
  }

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string, name: string): StoredObject | undefined {
    return this.#objects.get(objectKey(namespace, name));
  }

  /** The objects, of one namespace if given, sorted by namespace and name. The array is the caller's. */
  list(namespace?: string): StoredObject[] {
    const keys = (this.#sortedKeys ??= [...this.#objects.keys()].sort());
    if (namespace === undefined) return keys.map((key) => this.#objects.get(key)!);
    const prefix = `${namespace}/`;
    const result: StoredObject[] = [];
    for (let index = firstAtLeast(keys, prefix); index < keys.length && keys[index]!.startsWith(prefix); index++) {
      result.push(this.#objects.get(keys[index]!)!);
    }
    return result;
  }

  /** The objects that an index holds under `value`, sorted; undefined when there is no such index. */
  listByIndex(index: string, value: string): StoredObject[] | undefined {
    const values = this.#indexes.get(index);
    if (values === undefined) return undefined;
    const keys = [...(values.get(value) ?? [])].sort();
    return keys.map((key) => this.#objects.get(key)!);
  }

  /** See History.after. */
  changesAfter(resourceVersion: number): readonly Change[] | undefined {
    return this.#history.after(resourceVersion);
  }

  /** Makes every resource version up to now too old to watch from. */
  forgetHistory(resourceVersion: number): void {
    this.#history.clear(resourceVersion);
  }

  /**
   * Stores the object under the next resource version, which is written into its metadata: the object must be the
   * caller's own and is frozen from here on.
   */
  write(object: JsonObject): StoredObject {
    const stored = this.#stamp(object);
    const previous = this.#objects.get(stored.key);
    this.#objects.set(stored.key, stored);
    if (previous === undefined) {
      this.#sortedKeys = undefined;
      this.#reindex(stored.key, undefined, stored);
      this.#publish({ type: 'ADDED', resourceVersion: stored.resourceVersion, object: stored });
    } else {
      this.#reindex(stored.key, previous, stored);
      this.#publish({ type: 'MODIFIED', resourceVersion: stored.resourceVersion, object: stored, previous });
    }
    return stored;
  }

  /**
   * Removes an object and gives its last state with the deletion's resource version. `last` replaces the state that
   * watchers see (such as one with its deletion timestamp set).
   */
  remove(previous: StoredObject, last: JsonObject = previous.object): StoredObject {
    const stored = this.#stamp({ ...last, metadata: { ...(last.metadata as JsonObject) } });
    this.#objects.delete(previous.key);
    this.#sortedKeys = undefined;
    this.#reindex(previous.key, previous, undefined);
    this.#publish({ type: 'DELETED', resourceVersion: stored.resourceVersion, object: stored, previous });
    return stored;
  }

  /** Calls `listener` synchronously after each write. Returns the function that ends it. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #stamp(object: JsonObject): StoredObject {
    const resourceVersion = this.#nextResourceVersion();
    (object.metadata as JsonObject).resourceVersion = String(resourceVersion);
    return new StoredObject(object, resourceVersion);
  }

  #publish(change: Change): void {
    this.#history.push(change);
    for (const listener of this.#listeners) listener(change);
  }

  #reindex(key: string, previous: StoredObject | undefined, next: StoredObject | undefined): void {
    for (const [index, values] of this.#indexes) {
      const valueOf = this.#indexFunctions[index]!;
      const before = previous && valueOf(previous.object);
      const after = next && valueOf(next.object);
      if (before === after) continue;
      if (before !== undefined) {
        const keys = values.get(before);
        keys?.delete(key);
        if (keys?.size === 0) values.delete(before);
      }
      if (after !== undefined) {
        const keys = values.get(after);
        if (keys === undefined) values.set(after, new Set([key]));
        else keys.add(key);
      }
    }
  }
}

function firstAtLeast(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
