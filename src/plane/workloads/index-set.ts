/** Indexes from `first` to `last`, both included. */
interface Run {
  readonly first: number;
  readonly last: number;
}

/**
 * A set of completion indexes, kept as runs: a Job of a million completions that has finished is one of them. Immutable.
 * As text it is what `status.completedIndexes` says: `0,2-5`, two in a row as `3,4`.
 */
export class IndexSet {
  static readonly empty = new IndexSet([]);
  /** In order, none touching the next. */
  readonly #runs: readonly Run[];
  readonly size: number;

  private constructor(runs: readonly Run[]) {
    this.#runs = runs;
    this.size = runs.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  /** What is not below `limit`, and what cannot be read, is left out. */
  static parse(text: string | undefined, limit: number): IndexSet {
    const runs: Run[] = [];
    for (const part of (text ?? '').split(',')) {
      const match = /^(\d+)(?:-(\d+))?$/.exec(part);
      if (match === null) continue;
      const first = Number(match[1]);
      const last = Math.min(Number(match[2] ?? match[1]), limit - 1);
      if (first <= last) runs.push({ first, last });
    }
    return IndexSet.#of(runs);
  }

  with(indexes: Iterable<number>): IndexSet {
    const runs = [...indexes].map((index) => ({ first: index, last: index }));
    return runs.length === 0 ? this : IndexSet.#of([...this.#runs, ...runs]);
  }

  union(other: IndexSet): IndexSet {
    return IndexSet.#of([...this.#runs, ...other.#runs]);
  }

  has(index: number): boolean {
    let [low, high] = [0, this.#runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#runs[middle]!.last < index) low = middle + 1;
      else high = middle;
    }
    return low < this.#runs.length && this.#runs[low]!.first <= index;
  }

  /** How many are in both. */
  common(other: IndexSet): number {
    let sum = 0;
    let [here, there] = [0, 0];
    while (here < this.#runs.length && there < other.#runs.length) {
      const [a, b] = [this.#runs[here]!, other.#runs[there]!];
      sum += Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1);
      if (a.last <= b.last) here++;
      if (b.last <= a.last) there++;
    }
    return sum;
  }

  /** The lowest indexes below `limit` that are not in the set, at most `count` of them. */
  missing(count: number, limit: number): number[] {
    const found: number[] = [];
    let next = 0;
    for (const { first, last } of [...this.#runs, { first: limit, last: limit }]) {
      for (; next < Math.min(first, limit) && found.length < count; next++) found.push(next);
      next = Math.max(next, last + 1);
    }
    return found;
  }

  toString(): string {
    const texts = this.#runs.map(({ first, last }) => {
      if (first === last) return String(first);
      return `${first}${last === first + 1 ? ',' : '-'}${last}`;
    });
    return texts.join(',');
  }

  static #of(runs: readonly Run[]): IndexSet {
    const merged: Run[] = [];
    for (const run of runs.toSorted((a, b) => a.first - b.first)) {
      const previous = merged.at(-1);
      if (previous === undefined || run.first > previous.last + 1) merged.push(run);
      else merged[merged.length - 1] = { first: previous.first, last: Math.max(previous.last, run.last) };
    }
    return new IndexSet(merged);
  }
}
