/** Keeps one object per key for as long as somebody else holds it. */
export class WeakInterner<T extends WeakKey> {
  /** key -> the object, while it lives */
  readonly #objects = new Map<string, WeakRef<T>>();
  readonly #collected = new FinalizationRegistry<string>((key) => {
    if (this.#objects.get(key)?.deref() === undefined) this.#objects.delete(key);
  });

  /** The object first interned under this key, or `candidate` when there is none. */
  intern(key: string, candidate: T): T {
    const existing = this.#objects.get(key)?.deref();
    if (existing !== undefined) return existing;
    this.#objects.set(key, new WeakRef(candidate));
    this.#collected.register(candidate, key);
    return candidate;
  }
}
