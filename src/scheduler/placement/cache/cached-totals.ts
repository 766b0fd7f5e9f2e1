import type { Extremes } from './extremes.ts';

/** The range of raw scores that one scorer's normalized scores were computed from. */
export interface Measure {
  /** Position among the profile's scorers. */
  readonly position: number;
  /** Lowest and highest raw score; undefined: the scorer does not normalize. */
  readonly extremes: Pick<Extremes, 'lowest' | 'highest'> | undefined;
}

/**
 * The weighted sum of some scorers' normalized scores on each node, in scorer order. A node's sum is valid as long as its raw
 * scores are. All sums become invalid when the set of scorers or a scorer's range changes.
 */
export class CachedTotals {
  /** node index -> sum; NaN: unknown */
  column = new Float64Array(0);
  #measures: readonly Measure[] = [];

  reserve(size: number): void {
    if (this.column.length >= size) return;
    const larger = new Float64Array(size).fill(NaN);
    larger.set(this.column);
    this.column = larger;
  }

  /** Declares which scorers and ranges the sums are for. Clears all sums if either changed. */
  measureBy(measures: readonly Measure[]): void {
    const areSame =
      measures.length === this.#measures.length && measures.every((measure, i) => isSame(measure, this.#measures[i]!));
    if (!areSame) this.column.fill(NaN);
    // Copy, because the caller may change its extremes.
    this.#measures = measures.map(({ position, extremes }) => ({ position, extremes: extremes && { ...extremes } }));
  }

  clear(): void {
    this.column.fill(NaN);
    this.#measures = [];
  }
}

function isSame(a: Measure, b: Measure): boolean {
  if (a.position !== b.position) return false;
  return a.extremes?.lowest === b.extremes?.lowest && a.extremes?.highest === b.extremes?.highest;
}
