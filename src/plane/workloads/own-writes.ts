import { isOlderVersion } from '../../api/resource-version.ts';
import type { Lister } from '../../informer/store.ts';

export interface WrittenObject {
  /** namespace/name */
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Write<T> {
  readonly uid: string;
  /** Undefined: it is gone. */
  readonly object: T | undefined;
  /** On the monotonic clock. */
  readonly writtenAt: number;
}

/**
 * What our own writes have left, for as long as the watch does not show as much: so that a controller never acts on a picture from
 * before its last call, and makes nothing twice.
 */
export class OwnWrites<T extends WrittenObject> {
  readonly #known: Pick<Lister<T>, 'get'>;
  readonly #now: () => number;
  /** object key -> what a write has left there */
  readonly #writes = new Map<string, Write<T>>();

  /** `now`: on the monotonic clock. */
  constructor(known: Pick<Lister<T>, 'get'>, now: () => number) {
    this.#known = known;
    this.#now = now;
  }

  /** A call has made this object. */
  created(object: T): void {
    if (!this.#isKnown(object)) this.#set(object.key, object.uid, object);
  }

  /** A call has left the object so. */
  changed(object: T): void {
    // One that nobody knows any more has been deleted meanwhile, and that has been seen.
    if (!this.#isThere(object) || this.#isKnown(object)) return;
    this.#set(object.key, object.uid, object);
  }

  /** A call has shown that the object is not there any more. */
  gone(object: T): void {
    if (this.#isThere(object)) this.#set(object.key, object.uid, undefined);
  }

  /** The watch shows the object so. */
  saw(object: T): void {
    const write = this.#writes.get(object.key);
    if (write === undefined) return;
    const isNewer =
      write.object === undefined
        ? write.uid !== object.uid
        : !isOlderVersion(object.resourceVersion, write.object.resourceVersion);
    if (isNewer) this.#writes.delete(object.key);
  }

  /** The watch shows that the object is gone. */
  sawGone(object: T): void {
    if (this.#writes.get(object.key)?.uid === object.uid) this.#writes.delete(object.key);
  }

  /** The object as it is now, as far as we know; undefined when it is gone. */
  newest(known: T): T | undefined {
    const write = this.#writes.get(known.key);
    return write?.uid === known.uid ? write.object : known;
  }

  /** What our writes have made and the watch has not shown yet. */
  *unseen(): Iterable<T> {
    for (const [key, { object, uid }] of this.#writes) {
      if (object !== undefined && this.#known.get(key)?.uid !== uid) yield object;
    }
  }

  /** Writes that the watch ought to have shown by now: made longer ago than `ageMs`. */
  overdue(ageMs: number): T[] {
    const found: T[] = [];
    for (const [key, { writtenAt, object }] of this.#writes) {
      if (this.#now() - writtenAt < ageMs) return found;
      const last = object ?? this.#known.get(key);
      if (last !== undefined) found.push(last);
    }
    return found;
  }

  /** Nothing of it is believed any more: the watch is right. */
  forget({ key }: T): void {
    this.#writes.delete(key);
  }

  #set(key: string, uid: string, object: T | undefined): void {
    this.#writes.delete(key);
    this.#writes.set(key, { uid, object, writtenAt: this.#now() });
  }

  #isThere({ key, uid }: T): boolean {
    return this.#known.get(key)?.uid === uid || this.#writes.get(key)?.uid === uid;
  }

  #isKnown({ key, uid, resourceVersion }: T): boolean {
    const known = this.#known.get(key);
    return known?.uid === uid && !isOlderVersion(known.resourceVersion, resourceVersion);
  }
}
