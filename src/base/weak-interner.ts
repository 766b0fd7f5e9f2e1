/** Keeps one object per key for as long as other code references it. */
export class WeakInterner<T extends WeakKey> {
  /** key -> the object, while it is alive */
  readonly #objects = new Map<string, WeakRef<T>>();
  readonly #collected = new FinalizationRegistry<string>((key) => {
    if (this.#objects.get(key)?.deref() === undefined) this.#objects.delete(key);
  });

  /** Returns the object interned under this key, or interns and returns `candidate`. */
  intern(key: string, candidate: T): T {
    const existing = this.#objects.get(key)?.deref();
    if (existing !== undefined) return existing;
    this.#objects.set(key, new WeakRef(candidate));
    this.#collected.register(candidate, key);
    return candidate;
  }
}
