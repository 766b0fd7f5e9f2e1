import type { ClusterEvent } from '../framework/cluster-event.ts';

interface Reader {
  /** Events from before the reader was opened. */
  readonly before: readonly ClusterEvent[];
  /** Number of the first event after that. */
  readonly from: number;
}

/** Number of events that no reader needs at which the log drops them. */
const trimAt = 1024;

/**
 * Events for several absent readers. They share one log, because they are absent at the same time and each event concerns all of them. Keeps
 * no more than the longest-absent reader needs.
 */
export class EventLog<Key> {
  /** key -> start of its part, in order of absence */
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
