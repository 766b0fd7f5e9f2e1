/** Several values for each key. Values of one key keep the order in which they were added. */
export class Multimap<Key, Value> {
  /** key -> its values, at least one */
  readonly #sets = new Map<Key, Set<Value>>();

  keys(): Iterable<Key> {
    return this.#sets.keys();
  }

  values(): readonly Value[] {
    return [...this.#sets.values()].flatMap((set) => [...set]);
  }

  has(key: Key): boolean {
    return this.#sets.has(key);
  }

  /** Returns the values of the key, as they are now. */
  of(key: Key): readonly Value[] {
    return [...(this.#sets.get(key) ?? [])];
  }

  add(key: Key, value: Value): void {
    const set = this.#sets.get(key);
    if (set === undefined) this.#sets.set(key, new Set([value]));
    else set.add(value);
  }

  /** Returns false if the key does not have the value. */
  delete(key: Key, value: Value): boolean {
    const set = this.#sets.get(key);
    if (set?.delete(value) !== true) return false;
    if (set.size === 0) this.#sets.delete(key);
    return true;
  }
}
