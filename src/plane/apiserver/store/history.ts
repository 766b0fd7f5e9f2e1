import type { Change } from './change.ts';

/** The latest changes of one collection, oldest first, at most `limit` of them. */
export class History {
  readonly #limit: number;
  #changes: Change[] = [];
  /** The history is complete after this resource version. Older changes may be missing. */
  #floor: number;

  constructor(limit: number, floor: number) {
    this.#limit = limit;
    this.#floor = floor;
  }

  push(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > this.#limit) this.#floor = this.#changes.shift()!.resourceVersion;
  }

  /** Drops all changes. Every resource version before `resourceVersion` is then too old. */
  clear(resourceVersion: number): void {
    this.#changes = [];
    this.#floor = resourceVersion;
  }

  /** Returns the changes after `resourceVersion`, oldest first. Undefined if some are gone; the client must then list again. */
  after(resourceVersion: number): readonly Change[] | undefined {
    if (resourceVersion < this.#floor) return undefined;
    return this.#changes.slice(this.#changes.findLastIndex((change) => change.resourceVersion <= resourceVersion) + 1);
  }
}
