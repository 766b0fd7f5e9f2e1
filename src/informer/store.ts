import type { ObjectMeta } from './object-meta.ts';

/** index name -> function that returns the values of an object in that index; empty: not indexed */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** Read access to the objects of one kind. They change between two reads only when a watch event is delivered. */
export interface Lister<T> {
  readonly size: number;
  /** `key`: `namespace/name`, or `name` for cluster-scoped objects. */
  get(key: string): T | undefined;
  values(): Iterable<T>;
  /** Returns the objects with this value in the named index. Throws if there is no such index. */
  byIndex(index: string, value: string): Iterable<T>;
}

export interface StoreEntry<T> {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: T;
}

/** The projections of one kind, with indexes. Only its reflector writes to it. */
export class Store<T> implements Lister<T> {
  readonly #indexers: Indexers<T>;
  /** object key -> its entry */
  readonly #entries = new Map<string, StoreEntry<T>>();
  /** index name -> value -> object key -> object */
  readonly #indexes = new Map<string, Map<string, Map<string, T>>>();

  constructor(indexers: Indexers<T> = {}) {
    this.#indexers = indexers;
    for (const name of Object.keys(indexers)) this.#indexes.set(name, new Map());
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.object;
  }

  entry(key: string): StoreEntry<T> | undefined {
    return this.#entries.get(key);
  }

  *values(): Iterable<T> {
    for (const entry of this.#entries.values()) yield entry.object;
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  byIndex(index: string, value: string): Iterable<T> {
    const values = this.#indexes.get(index);
    if (values === undefined) throw new Error(`there is no index "${index}"`);
    return values.get(value)?.values() ?? [];
  }

  set(meta: ObjectMeta, object: T): void {
    const previous = this.#entries.get(meta.key);
    if (previous !== undefined && previous.object !== object) this.#unfile(meta.key, previous.object);
    this.#entries.set(meta.key, { uid: meta.uid, resourceVersion: meta.resourceVersion, object });
    if (previous?.object !== object) this.#file(meta.key, object);
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#unfile(key, entry.object);
  }

  #file(key: string, object: T): void {
    for (const [name, values] of this.#indexes) {
      for (const value of this.#indexers[name]!(object)) {
        const filed = values.get(value);
        if (filed === undefined) values.set(value, new Map([[key, object]]));
        else filed.set(key, object);
      }
    }
  }

  #unfile(key: string, object: T): void {
    for (const [name, values] of this.#indexes) {
      for (const value of this.#indexers[name]!(object)) {
        const filed = values.get(value);
        filed?.delete(key);
        if (filed?.size === 0) values.delete(value);
      }
    }
  }
}
