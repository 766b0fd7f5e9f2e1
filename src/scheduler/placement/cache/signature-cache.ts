/**
 * Cached results by signature. At the limit, a new signature reuses the object of the least recently used one, so a stream of new
 * signatures allocates nothing.
 */
export class SignatureCache<Results extends { clear(): void }> {
  readonly #make: () => Results;
  readonly #limit: number;
  /** signature -> its results, least recently used first */
  readonly #bySignature = new Map<string, Results>();

  constructor(make: () => Results, limit = 64) {
    this.#make = make;
    this.#limit = limit;
  }

  /**
   * Returns the results of this signature, cleared if new. The object is valid until those of `limit - 1` other signatures have been
   * requested.
   */
  of(signature: string): Results {
    let results = this.#bySignature.get(signature);
    if (results !== undefined) this.#bySignature.delete(signature);
    else results = this.#bySignature.size < this.#limit ? this.#make() : this.#evictOldest();
    this.#bySignature.set(signature, results);
    return results;
  }

  #evictOldest(): Results {
    const [signature, results] = this.#bySignature.entries().next().value!;
    this.#bySignature.delete(signature);
    results.clear();
    return results;
  }
}
