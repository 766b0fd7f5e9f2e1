/** A cache of values by text with a size limit. It evicts the least recently used value. */
export class LruCache<T> {
  readonly #limit: number;
  /** text -> value, least recently used first */
  readonly #values = new Map<string, T>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(text: string, make: () => T): T {
    let value = this.#values.get(text);
    if (value === undefined) {
      value = make();
      if (this.#values.size >= this.#limit) this.#values.delete(this.#values.keys().next().value!);
    } else {
      this.#values.delete(text);
    }
    this.#values.set(text, value);
    return value;
  }

  clear(): void {
    this.#values.clear();
  }
}
