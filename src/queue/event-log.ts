import type { ClusterEvent } from '../framework/cluster-event.ts';

interface Reader {
  /** What it knew of before it began to read here. */
  readonly before: readonly ClusterEvent[];
  /** Number of the first event since. */
  readonly from: number;
}

/** Events that no reader needs any more are dropped when they are so many. */
const trimAt = 1024;

/**
 * What happened while each of several readers was away: one log for all of them, because they are away at the same time and each
 * event concerns all. Keeps no more than the reader needs that has been away longest.
 */
export class EventLog<Key> {
  /** key -> where its part begins; in order of beginning */
  readonly #readers = new Map<Key, Reader>();
  #events: ClusterEvent[] = [];
  /** Number of the first event that is kept. */
  #first = 0;

  /** Those that are kept, in order. */
  get events(): readonly ClusterEvent[] {
    return this.#events;
  }

  /** `key` is away from now on. */
  open(key: Key, before: readonly ClusterEvent[]): void {
    this.#readers.set(key, { before, from: this.#first + this.#events.length });
  }

  add(event: ClusterEvent): void {
    if (this.#readers.size > 0) this.#events.push(event);
  }

  /** `key` is back: what happened before it left and since. */
  close(key: Key): ClusterEvent[] {
    const reader = this.#readers.get(key);
    if (reader === undefined) return [];
    const events = [...reader.before, ...this.#events.slice(reader.from - this.#first)];
    this.#readers.delete(key);
    this.#trim();
    return events;
  }

  #trim(): void {
    const [oldest] = this.#readers.values();
    const unread = oldest === undefined ? this.#events.length : oldest.from - this.#first;
    if (oldest !== undefined && unread < trimAt) return;
    this.#events = this.#events.slice(unread);
    this.#first += unread;
  }
}
