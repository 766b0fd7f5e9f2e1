import type { Clock, Timer } from './clock.ts';
import { Heap } from './heap.ts';

interface Entry<Key, Value> {
  readonly key: Key;
  /** When the timer looks at the entry: never later than its key is due. */
  readonly at: number;
  /** Position among entries with the same time. */
  readonly sequence: number;
  due: number;
  value: Value;
}

/** Number of outdated entries that the heap may hold beyond the number of current ones. */
const slack = 64;

/**
 * Keys that each become due once, with a value, all on one timer. Times are Clock.monotonic(). Keys with the same time become due in the order
 * of `set`. No timer runs while no key is set.
 */
export class DueTimes<Key, Value = undefined> {
  readonly #clock: Pick<Clock, 'monotonic' | 'setTimer'>;
  readonly #onDue: (key: Key, value: Value) => void;
  /** key -> its entry; the heap may still hold outdated ones */
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  readonly #byTime = new Heap<Entry<Key, Value>>((a, b) => a.at - b.at || a.sequence - b.sequence);
  #sequence = 0;
  #timer: Timer | undefined;
  #timerAt = Infinity;
  #isStopped = false;

  /** Calls `onDue` with each key when its time has come. The key is then no longer set. */
  constructor(clock: Pick<Clock, 'monotonic' | 'setTimer'>, onDue: (key: Key, value: Value) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** When the key becomes due; Infinity if it is not set. */
  dueAt(key: Key): number {
    return this.#entries.get(key)?.due ?? Infinity;
  }

  /** Returns a copy, so that the caller may set and delete keys while iterating. */
  values(): Value[] {
    return Array.from(this.#entries.values(), ({ value }) => value);
  }

  /** Makes the key due at this time with this value, instead of an earlier or later one set before. Does nothing after `stop`. */
  set(key: Key, due: number, value: Value): void {
    if (this.#isStopped) return;
    const known = this.#entries.get(key);
    if (known !== undefined && known.at <= due) {
      known.due = due;
      known.value = value;
      return;
    }
    this.#push(key, due, value);
    if (known !== undefined) this.#dropOutdated();
    this.#setTimer();
  }

  /** Returns whether the key was set. */
  delete(key: Key): boolean {
    const wasSet = this.#entries.delete(key);
    if (wasSet) this.#dropOutdated();
    return wasSet;
  }

  /** Forgets all keys. No key becomes due after that. */
  stop(): void {
    this.#isStopped = true;
    this.#entries.clear();
    this.#dropOutdated();
  }

  /** Keeps the heap small: outdated entries leave it otherwise only when they reach the top. */
  #dropOutdated(): void {
    const { size } = this.#entries;
    if (size === 0) this.#cancelTimer();
    if (size === 0 || this.#byTime.size > 2 * size + slack) this.#byTime.retain((entry) => this.#isCurrent(entry));
  }

  #isCurrent(entry: Entry<Key, Value>): boolean {
    return this.#entries.get(entry.key) === entry;
  }

  #push(key: Key, due: number, value: Value): void {
    const entry = { key, at: due, sequence: this.#sequence++, due, value };
    this.#entries.set(key, entry);
    this.#byTime.push(entry);
  }

  #setTimer(): void {
    const next = this.#first();
    if (next === undefined || next.at >= this.#timerAt) return;
    this.#cancelTimer();
    this.#timerAt = next.at;
    this.#timer = this.#clock.setTimer(Math.max(0, next.at - this.#clock.monotonic()), () => {
      this.#timerAt = Infinity;
      this.#fire();
      this.#setTimer();
    });
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAt = Infinity;
  }

  #fire(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#first(); next !== undefined && next.at <= now; next = this.#first()) {
      this.#byTime.pop();
      const { key, due, value } = next;
      if (due > now) this.#push(key, due, value);
      else {
        this.#entries.delete(key);
        this.#onDue(key, value);
      }
    }
  }

  /** Returns the first current entry; drops outdated ones before it. */
  #first(): Entry<Key, Value> | undefined {
    for (let next = this.#byTime.peek(); next !== undefined; next = this.#byTime.peek()) {
      if (this.#isCurrent(next)) return next;
      this.#byTime.pop();
    }
    return undefined;
  }
}
