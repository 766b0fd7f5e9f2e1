import type { Change } from './change.ts';

interface KeptChange {
  readonly change: Change;
  /** About how much memory goes free when it is dropped. */
  readonly bytes: number;
}

/** Of a change without its objects. */
const changeBytes = 200;

/**
 * The latest changes of one collection, oldest first, at most `limit` of them. Whoever asks for changes that have been
 * dropped is told so by `undefined` and must list again.
 */
export class History {
  readonly #limit: number;
  /** Undefined: dropped; such places are at the beginning only, and are taken away in bulk. */
  #changes: (KeptChange | undefined)[] = [];
  /** Index in #changes of the oldest change still kept. */
  #start = 0;
  /** Changes after this resource version are complete; older ones may be missing. */
  #floor: number;
  #bytes = 0;

  constructor(limit: number, floor: number) {
    this.#limit = limit;
    this.#floor = floor;
  }

  /** About how much memory only this history holds. */
  get bytes(): number {
    return this.#bytes;
  }

  push(change: Change): void {
    const kept = { change, bytes: heldBytes(change) };
    this.#changes.push(kept);
    this.#bytes += kept.bytes;
    while (this.#changes.length - this.#start > this.#limit) this.dropOldest();
    if (this.#start > this.#changes.length / 2) {
      this.#changes = this.#changes.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Forgets everything: each resource version up to `resourceVersion` is too old from now on. */
  clear(resourceVersion: number): void {
    this.#changes = [];
    this.#start = 0;
    this.#bytes = 0;
    this.#floor = resourceVersion;
  }

  /** The changes after `resourceVersion`, oldest first; undefined when some of them are gone. */
  after(resourceVersion: number): readonly Change[] | undefined {
    if (resourceVersion < this.#floor) return undefined;
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#changes[middle]!.change.resourceVersion <= resourceVersion) low = middle + 1;
      else high = middle;
    }
    return this.#changes.slice(low).map((kept) => kept!.change);
  }

  /** Does nothing when there is none. */
  dropOldest(): void {
    const dropped = this.#changes[this.#start];
    if (dropped === undefined) return;
    this.#floor = dropped.change.resourceVersion;
    this.#bytes -= dropped.bytes;
    this.#changes[this.#start] = undefined;
    this.#start++;
  }
}

/** The version that a change replaced; the one that it made is the collection's, until the next change replaces it. */
function heldBytes(change: Change): number {
  return changeBytes + (change.type === 'ADDED' ? 0 : change.previous.bytes);
}
