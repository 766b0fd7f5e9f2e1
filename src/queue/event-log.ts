import type { ClusterEvent } from '../framework/cluster-event.ts';

interface Reader {
  /** Earlier events, from before `open`. */
  readonly before: readonly ClusterEvent[];
  /** Number of the first event after `open`. */
  readonly from: number;
}

/** The log drops events that no reader needs once there are this many of them. */
const trimAt = 1024;

/**
 * Stores events for several readers, each of which gets the events between its `open` and its `close`. The readers share one log, because
 * each event concerns all of them. Keeps only the events since the oldest `open`, and fewer than `trimAt` older ones.
 */
export class EventLog<Key> {
  /** key -> start of its events, in the order of `open` */
  readonly #readers = new Map<Key, Reader>();
  #events: ClusterEvent[] = [];
  /** Number of the first stored event. */
  #first = 0;

  /** Stored events, in order. */
  get events(): readonly ClusterEvent[] {
    return this.#events;
  }

  /** Starts recording for `key`; `before` are earlier events that `close` returns as well. */
  open(key: Key, before: readonly ClusterEvent[]): void {
    this.#readers.set(key, { before, from: this.#first + this.#events.length });
  }

  add(event: ClusterEvent): void {
    if (this.#readers.size > 0) this.#events.push(event);
  }

  /** Stops recording for `key`. Returns its earlier events and those since. */
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
