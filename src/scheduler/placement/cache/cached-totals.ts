import type { Extremes } from './extremes.ts';

/** What one scorer's normalised scores were measured against. */
export interface Measure {
  /** Its position among the scorers. */
  readonly position: number;
  /** Least and greatest raw score; undefined: it does not normalise. */
  readonly extremes: Pick<Extremes, 'least' | 'greatest'> | undefined;
}

/**
 * What some scorers' normalised scores come to on each node, weighted and summed in their order. A node's sum stands for as long as its raw
 * scores do, and all of them until a scorer is measured against something else.
 */
export class CachedTotals {
  /** node index -> sum; NaN: not known */
  column = new Float64Array(0);
  #measures: readonly Measure[] = [];

  reserve(size: number): void {
    if (this.column.length >= size) return;
    const larger = new Float64Array(size).fill(NaN);
    larger.set(this.column);
    this.column = larger;
  }

  /** From here on the sums are of these. Nothing is known if they were of others, or measured otherwise. */
  measureBy(measures: readonly Measure[]): void {
    const stand =
      measures.length === this.#measures.length && measures.every((measure, i) => isSame(measure, this.#measures[i]!));
    if (!stand) this.column.fill(NaN);
    // Those that are given may change.
    this.#measures = measures.map(({ position, extremes }) => ({ position, extremes: extremes && { ...extremes } }));
  }

  clear(): void {
    this.column.fill(NaN);
    this.#measures = [];
  }
}

function isSame(a: Measure, b: Measure): boolean {
  if (a.position !== b.position) return false;
  return a.extremes?.least === b.extremes?.least && a.extremes?.greatest === b.extremes?.greatest;
}
