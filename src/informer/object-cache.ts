import type { InformerHandler } from './informer-handler.ts';
import { readObjectMeta } from './object-meta.ts';
import type { ObjectMeta } from './object-meta.ts';
import { toError } from '../base/to-error.ts';
import { Store } from './store.ts';
import type { Indexers } from './store.ts';

export interface ObjectCacheOptions<T> {
  /** Makes the small thing that is kept of an object. Throws on a malformed one. */
  readonly project: (raw: unknown) => T;
  /** True when the difference is nothing the owner reads: then only the resourceVersion is taken over, and nobody is told. */
  readonly isSame?: (previous: T, object: T) => boolean;
  readonly handler: InformerHandler<T>;
  /** Must not throw. */
  readonly indexers?: Indexers<T>;
  /** `where` names the object, or the place of one that has no name. */
  readonly onMalformed: (where: string, error: Error) => void;
  readonly onHandlerError: (where: string, error: Error) => void;
}

/** Turns what a list or watch says into changes of a store, and tells the handler of each. Knows no network. Never throws. */
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
   * The object exists in this state. Answers its key, or undefined when its metadata is malformed; an object that cannot
   * be projected keeps its last known state. `where` tells the place for a message.
   */
  exists(raw: unknown, where: string): string | undefined {
    const meta = this.#metaOf(raw, where);
    if (meta === undefined) return undefined;
    const { key, uid } = meta;
    const known = this.store.entry(key);
    if (known?.uid === uid && known.resourceVersion === meta.resourceVersion) return key;
    // Another uid: its predecessor is gone, whatever becomes of this one, and the deletion was missed.
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

  /** The object was deleted in this state. One that is not known, or has been replaced already, changes nothing. */
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

  /** A whole list has been seen: whatever is not in it is gone. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of [...this.store.keys()]) {
      if (!keys.has(key)) this.#delete(key, this.store.get(key)!, true);
    }
  }

  synced(): void {
    this.#notify('onSynced', '', () => this.#handler.onSynced?.());
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
