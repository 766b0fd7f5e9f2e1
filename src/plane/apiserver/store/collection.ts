import type { JsonObject } from '../json.ts';
import type { Change, ChangeListener } from './change.ts';
import { History } from './history.ts';
import { StoredObject, objectKey } from './stored-object.ts';

/** Index name -> the value an object is found under; undefined leaves the object out of that index. */
export type IndexFunctions = Readonly<Record<string, (object: JsonObject) => string | undefined>>;

export interface CollectionOptions {
  readonly name: string;
  /** Number of changes kept for watches to replay. */
  readonly historyLimit: number;
  /** The oldest resource version that clients can watch from. */
  readonly floor: number;
  readonly indexes?: IndexFunctions;
  /** Takes the next resource version; shared by all collections of a store. */
  readonly nextResourceVersion: () => number;
}

/** The objects of one resource, in memory, with their recent history. */
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
  /** All keys, sorted. Undefined after an object was added or removed, until the next list. */
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

  /** Returns the objects, of one namespace if given, sorted by namespace and name. The caller owns the array. */
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

  /** Returns the objects that an index holds under `value`, sorted. Undefined if the index does not exist. */
  listByIndex(index: string, value: string): StoredObject[] | undefined {
    const values = this.#indexes.get(index);
    if (values === undefined) return undefined;
    const keys = [...(values.get(value) ?? [])].sort();
    return keys.map((key) => this.#objects.get(key)!);
  }

  /** Returns the changes after a resource version; see History.after. */
  changesAfter(resourceVersion: number): readonly Change[] | undefined {
    return this.#history.after(resourceVersion);
  }

  /** Makes every resource version before `resourceVersion` too old to watch from. */
  forgetHistory(resourceVersion: number): void {
    this.#history.clear(resourceVersion);
  }

  /**
   * Stores the object, and writes the next resource version into its metadata. The caller must own the object, and must not
   * change it afterwards.
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
   * Removes an object and returns its last state with the deletion's resource version. `last` replaces the state that
   * watchers see, such as one with a deletion timestamp.
   */
  remove(previous: StoredObject, last: JsonObject = previous.object): StoredObject {
    const stored = this.#stamp({ ...last, metadata: { ...(last.metadata as JsonObject) } });
    this.#objects.delete(previous.key);
    this.#sortedKeys = undefined;
    this.#reindex(previous.key, previous, undefined);
    this.#publish({ type: 'DELETED', resourceVersion: stored.resourceVersion, object: stored, previous });
    return stored;
  }

  /** Calls `listener` synchronously after each write. Returns the function that unsubscribes it. */
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
