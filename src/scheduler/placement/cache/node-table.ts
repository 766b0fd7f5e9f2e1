import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Status } from '../../../framework/status.ts';
import { CachedTotals } from './cached-totals.ts';

const never = -1;
const noScores = new Float64Array(0);

/**
 * Cached results of some node-local plugins for each node (by `NodeInfo.index`), for pods to which these plugins give the same
 * signature: the verdict, the raw scores and their total. Each result is valid while the node's generation stays the same.
 */
export class NodeTable {
  /** Generation of the verdict; -1: no verdict. */
  filtered = new Float64Array(0);
  /** First rejection; meaningless for rows that fit. */
  readonly statuses: (Status | undefined)[] = [];
  /** 1 if no filter rejects the node. */
  fits = new Uint8Array(0);
  /** Generation of the scores; -1: no scores. */
  scored = new Float64Array(0);
  /** One column per scorer of the profile; empty if it was never used. */
  readonly scores: Float64Array[];
  /** By column: rows that are scored have this score. */
  readonly isScored: boolean[];
  /** Sums of the scores; known only for rows that are scored. */
  readonly totals = new CachedTotals();

  constructor(scorerCount: number) {
    this.scores = Array.from({ length: scorerCount }, () => noScores);
    this.isScored = this.scores.map(() => false);
  }

  /** Grows to at least this many nodes, and keeps the contents. */
  reserve(nodeCount: number): void {
    const known = this.filtered.length;
    if (known >= nodeCount) return;
    const size = Math.max(nodeCount, known + (known >> 1), 16);
    this.filtered = grow(this.filtered, size, never);
    this.scored = grow(this.scored, size, never);
    const fits = new Uint8Array(size);
    fits.set(this.fits);
    this.fits = fits;
    this.totals.reserve(size);
    for (let column = 0; column < this.scores.length; column++) {
      if (this.scores[column]!.length > 0) this.scores[column] = grow(this.scores[column]!, size, 0);
    }
    while (this.statuses.length < size) this.statuses.push(undefined);
  }

  /** Enables or disables a scorer's column. Enabling one invalidates all rows, because they lack its score. */
  useScorer(column: number, isUsed: boolean): void {
    if (isUsed && !this.isScored[column]!) {
      this.scored.fill(never);
      if (this.scores[column]!.length < this.scored.length) this.scores[column] = new Float64Array(this.scored.length);
    }
    this.isScored[column] = isUsed;
  }

  /**
   * Invalidates rows before they are evaluated. Otherwise a half-written row could pass as valid after a failure, or after a
   * rollback to the node's old generation.
   */
  forgetFiltered(indexes: Int32Array, count: number): void {
    for (let i = 0; i < count; i++) this.filtered[indexes[i]!] = never;
  }

  forgetScored(indexes: Int32Array, count: number): void {
    for (let i = 0; i < count; i++) this.forgetScore(indexes[i]!);
  }

  forgetScore(index: number): void {
    this.scored[index] = never;
    this.totals.column[index] = NaN;
  }

  setStatus(index: number, status: Status | undefined): void {
    if (status !== undefined) this.statuses[index] = status;
    this.fits[index] = status === undefined ? 1 : 0;
    this.filtered[index] = never;
  }

  /** Marks the node's verdict as valid until the node changes. */
  markFiltered({ index, generation }: NodeInfo): void {
    this.filtered[index] = generation;
  }

  /** Marks the node's scores as valid until the node changes. */
  markScored({ index, generation }: NodeInfo): void {
    this.scored[index] = generation;
  }

  /** Drops all results. */
  clear(): void {
    this.statuses.fill(undefined);
    this.filtered.fill(never);
    this.scored.fill(never);
    this.totals.clear();
  }
}

function grow(column: Float64Array, size: number, filler: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(size).fill(filler);
  larger.set(column);
  return larger;
}
