import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Status } from '../../../framework/status.ts';
import { CachedTotals } from './cached-totals.ts';

const never = -1;
const noScores = new Float64Array(0);

/**
 * What some plugins that read one node at a time answered about each node (by `NodeInfo.index`) for pods that they sign alike: the
 * verdict, raw scores, and what those come to; each good for as long as the node's generation stands.
 */
export class NodeTable {
  /** Generation that the verdict is of; -1: none. */
  filtered = new Float64Array(0);
  /** First rejection; of rows that fit it means nothing. */
  readonly statuses: (Status | undefined)[] = [];
  /** 1 where there is no rejection. */
  fits = new Uint8Array(0);
  /** Generation that the scores are of; -1: none. */
  scored = new Float64Array(0);
  /** One column a scorer of the profile; empty where it was never asked. */
  readonly scores: Float64Array[];
  /** By column: the rows that are scored have this score. */
  readonly isScored: boolean[];
  /** What the scores come to; known only of rows that are scored. */
  readonly totals = new CachedTotals();

  constructor(scorerCount: number) {
    this.scores = Array.from({ length: scorerCount }, () => noScores);
    this.isScored = this.scores.map(() => false);
  }

  /** Makes room for at least this many nodes, keeping what is there. */
  reserve(nodeCount: number): void {
    const known = this.filtered.length;
    if (known >= nodeCount) return;
    const size = Math.max(nodeCount, known + (known >> 1), 16);
    this.filtered = grown(this.filtered, size, never);
    this.scored = grown(this.scored, size, never);
    const fits = new Uint8Array(size);
    fits.set(this.fits);
    this.fits = fits;
    this.totals.reserve(size);
    for (let column = 0; column < this.scores.length; column++) {
      if (this.scores[column]!.length > 0) this.scores[column] = grown(this.scores[column]!, size, 0);
    }
    while (this.statuses.length < size) this.statuses.push(undefined);
  }

  /** The column of a scorer that is asked from now on, or no longer; rows that lack its score are no good. */
  useScorer(column: number, isAsked: boolean): void {
    if (isAsked && !this.isScored[column]!) {
      this.scored.fill(never);
      if (this.scores[column]!.length < this.scored.length) this.scores[column] = new Float64Array(this.scored.length);
    }
    this.isScored[column] = isAsked;
  }

  /** The rows are about to be answered anew: nothing stands of them should that fail, or the nodes be as they were before. */
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

  /** The verdict on this node is good for as long as nothing changes there. What claims mean is not in a pod's signature. */
  markFiltered(node: NodeInfo): void {
    this.filtered[node.index] = node.reservations.size === 0 ? node.generation : never;
  }

  /** The scores of this node are good for as long as nothing changes there. */
  markScored(node: NodeInfo): void {
    this.scored[node.index] = node.reservations.size === 0 ? node.generation : never;
  }

  /** Nothing is kept of what was answered. */
  clear(): void {
    this.statuses.fill(undefined);
    this.filtered.fill(never);
    this.scored.fill(never);
    this.totals.clear();
  }
}

function grown(column: Float64Array, size: number, filler: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(size).fill(filler);
  larger.set(column);
  return larger;
}
