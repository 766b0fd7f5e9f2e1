import type { InformerHandler } from './informer-handler.ts';
import { readObjectMeta } from './object-meta.ts';
import type { ObjectMeta } from './object-meta.ts';
import { toError } from '../base/to-error.ts';
import { Store } from './store.ts';
import type { Indexers } from './store.ts';

export interface ObjectCacheOptions<T> {
  /** Returns the projection of an object that the store keeps. Throws on a malformed object. */
  readonly project: (raw: unknown) => T;
  /** Returns true if the owner reads no changed field: then only the resourceVersion changes, and the handler is not called. */
  readonly isSame?: (previous: T, object: T) => boolean;
  readonly handler: InformerHandler<T>;
  /** Must not throw. */
  readonly indexers?: Indexers<T>;
  /** `where` names the object, or its position if it has no name. */
  readonly onMalformed: (where: string, error: Error) => void;
  readonly onHandlerError: (where: string, error: Error) => void;
}

/** Applies the objects of lists and watches to a store, and notifies the handler of each change. It uses no network. Never throws. */
export class ObjectCache<T> {
  readonly store: Store<T>;
  readonly #options: ObjectCacheOptions<T>;
  readonly #handler: InformerHandler<T>;

  constructor(options: ObjectCacheOptions<T>) {
    this.store = new Store(options.indexers);
    this.#options = options;
    this.#handler = options.handler;
  }

  /**
   * Applies this state of an existing object. Returns its key, or undefined if its metadata is malformed. If the projection
   * fails, the object keeps its last known state. `where` is the position, for messages.
   */
  exists(raw: unknown, where: string): string | undefined {
    const meta = this.#metaOf(raw, where);
    if (meta === undefined) return undefined;
    const { key, uid } = meta;
    const known = this.store.entry(key);
    if (known?.uid === uid && known.resourceVersion === meta.resourceVersion) return key;
    // Another uid: the predecessor is gone, even if this object is malformed, and its deletion was missed.
    if (known !== undefined && known.uid !== uid) this.#delete(key, known.object, true);
    let object: T;
    try {
      object = this.#options.project(raw);
    } catch (thrown) {
      this.#options.onMalformed(key, toError(thrown));
      return key;
    }
    if (known?.uid !== uid) {
      this.store.set(meta, object);
      this.#notify('onAdd', key, () => this.#handler.onAdd(object));
    } else if (this.#options.isSame?.(known.object, object)) {
      this.store.set(meta, known.object);
    } else {
      this.store.set(meta, object);
      this.#notify('onUpdate', key, () => this.#handler.onUpdate(known.object, object));
    }
    return key;
  }

  /** Applies a deletion with this last state. An unknown or already replaced object changes nothing. */
  deleted(raw: unknown, where: string): void {
    const meta = this.#metaOf(raw, where);
    if (meta === undefined) return;
    const known = this.store.entry(meta.key);
    if (known?.uid !== meta.uid) return;
    let last = known.object;
    try {
      last = this.#options.project(raw);
    } catch (thrown) {
      this.#options.onMalformed(meta.key, toError(thrown));
    }
    this.#delete(meta.key, last, false);
  }

  /** Deletes every object that is not in this complete list. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of [...this.store.keys()]) {
      if (!keys.has(key)) this.#delete(key, this.store.get(key)!, true);
    }
  }

  synced(): void {
    this.#notify('onSynced', '', () => this.#handler.onSynced?.());
  }

  listing(): void {
    this.#notify('onListing', '', () => this.#handler.onListing?.());
  }

  replaced(): void {
    this.#notify('onReplaced', '', () => this.#handler.onReplaced?.());
  }

  #delete(key: string, last: T, isFinalStateUnknown: boolean): void {
    this.store.delete(key);
    this.#notify('onDelete', key, () => this.#handler.onDelete(last, isFinalStateUnknown));
  }

  #metaOf(raw: unknown, where: string): ObjectMeta | undefined {
    try {
      return readObjectMeta(raw);
    } catch (thrown) {
      this.#options.onMalformed(where, toError(thrown));
      return undefined;
    }
  }

  #notify(method: string, key: string, call: () => void): void {
    try {
      call();
    } catch (thrown) {
      this.#options.onHandlerError(key === '' ? method : `${method} of ${key}`, toError(thrown));
    }
  }
}
