/** The answers that were asked for last, by text; the one that was not asked for the longest is given up first. */
export class KeptByText<T> {
  readonly #limit: number;
  /** text -> answer, least recently used first */
  readonly #kept = new Map<string, T>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(text: string, make: () => T): T {
    let kept = this.#kept.get(text);
    if (kept === undefined) {
      kept = make();
      if (this.#kept.size >= this.#limit) this.#kept.delete(this.#kept.keys().next().value!);
    } else {
      this.#kept.delete(text);
    }
    this.#kept.set(text, kept);
    return kept;
  }

  clear(): void {
    this.#kept.clear();
  }
}
