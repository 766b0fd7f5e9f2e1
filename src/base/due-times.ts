import type { Clock, Timer } from './clock.ts';
import { Heap } from './heap.ts';

interface Entry<Key, Value> {
  readonly key: Key;
  /** When the timer looks at the entry: never later than its key is due. */
  readonly at: number;
  /** Position among entries of one time. */
  readonly sequence: number;
  due: number;
  value: Value;
}

/** Keys that each become due once, with a value, all on one timer. Times are Clock.monotonic(). Keys of one time become due in the order of `set`. */
export class DueTimes<Key, Value = undefined> {
  readonly #clock: Clock;
  readonly #onDue: (key: Key, value: Value) => void;
  /** key -> its entry; the heap may still hold older ones */
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  readonly #byTime = new Heap<Entry<Key, Value>>((a, b) => a.at - b.at || a.sequence - b.sequence);
  #sequence = 0;
  #timer: Timer | undefined;
  #timerAt = Infinity;

  /** Calls `onDue` with each key when its time has come. The key is then no longer set. */
  constructor(clock: Clock, onDue: (key: Key, value: Value) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Makes the key due at this time with this value, instead of an earlier or later one set before. */
  set(key: Key, due: number, value: Value): void {
    const known = this.#entries.get(key);
    if (known !== undefined && known.at <= due) Object.assign(known, { due, value });
    else this.#push(key, due, value);
    this.#setTimer();
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  /** Forgets all keys. */
  clear(): void {
    this.#timer?.cancel();
    this.#timerAt = Infinity;
    this.#entries.clear();
    this.#byTime.retain(() => false);
  }

  #push(key: Key, due: number, value: Value): void {
    const entry = { key, at: due, sequence: this.#sequence++, due, value };
    this.#entries.set(key, entry);
    this.#byTime.push(entry);
  }

  #setTimer(): void {
    const next = this.#byTime.peek();
    if (next === undefined || next.at >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = next.at;
    this.#timer = this.#clock.setTimer(Math.max(0, next.at - this.#clock.monotonic()), () => {
      this.#timerAt = Infinity;
      this.#fire();
      this.#setTimer();
    });
  }

  #fire(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#byTime.peek(); next !== undefined && next.at <= now; next = this.#byTime.peek()) {
      this.#byTime.pop();
      const { key, due, value } = next;
      if (this.#entries.get(key) !== next) continue;
      if (due > now) this.#push(key, due, value);
      else {
        this.#entries.delete(key);
        this.#onDue(key, value);
      }
    }
  }
}
