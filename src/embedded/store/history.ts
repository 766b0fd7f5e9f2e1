import type { Change } from './change.ts';

/**
 * The latest changes of one collection, oldest first, at most `limit` of them. Whoever asks for changes that have been
 * dropped is told so by `undefined` and must list again.
 */
export class History {
  readonly #limit: number;
  #changes: Change[] = [];
  /** Index in #changes of the oldest change still kept; what is before it is freed in bulk. */
  #start = 0;
  /** Changes after this resource version are complete; older ones may be missing. */
  #floor: number;

  constructor(limit: number, floor: number) {
    this.#limit = limit;
    this.#floor = floor;
  }

  push(change: Change): void {
    this.#changes.push(change);
    while (this.#changes.length - this.#start > this.#limit) this.#dropOldest();
    if (this.#start > this.#limit) {
      this.#changes = this.#changes.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Forgets everything: each resource version up to `resourceVersion` is too old from now on. */
  clear(resourceVersion: number): void {
    this.#changes = [];
    this.#start = 0;
    this.#floor = resourceVersion;
  }

  /** The changes after `resourceVersion`, oldest first; undefined when some of them are gone. */
  after(resourceVersion: number): readonly Change[] | undefined {
    if (resourceVersion < this.#floor) return undefined;
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#changes[middle]!.resourceVersion <= resourceVersion) low = middle + 1;
      else high = middle;
    }
    return this.#changes.slice(low);
  }

  #dropOldest(): void {
    const dropped = this.#changes[this.#start]!;
    this.#floor = dropped.resourceVersion;
    this.#start++;
  }
}
