import type { Change } from './change.ts';

/** The latest changes of one collection, oldest first, at most `limit` of them. */
export class History {
  readonly #limit: number;
  #changes: Change[] = [];
  /** Changes after this resource version are complete; older ones may be missing. */
  #floor: number;

  constructor(limit: number, floor: number) {
    this.#limit = limit;
    this.#floor = floor;
  }

  push(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > this.#limit) this.#floor = this.#changes.shift()!.resourceVersion;
  }

  /** Forgets everything: each resource version up to `resourceVersion` is too old from now on. */
  clear(resourceVersion: number): void {
    this.#changes = [];
    this.#floor = resourceVersion;
  }

  /** The changes after `resourceVersion`, oldest first; undefined when some of them are gone, and the client must list again. */
  after(resourceVersion: number): readonly Change[] | undefined {
    if (resourceVersion < this.#floor) return undefined;
    return this.#changes.slice(this.#changes.findLastIndex((change) => change.resourceVersion <= resourceVersion) + 1);
  }
}
