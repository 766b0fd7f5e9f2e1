import type { NodeInfo } from '../../cluster/node-info.ts';
import type { Status } from '../../framework/status.ts';

/**
 * The node-local answers for one pod signature: for each node (by `NodeInfo.index`) its verdict and raw scores, good for
 * as long as the node's generation stands.
 */
export class NodeTable {
  /** Generation that the row was computed for; -1: never. */
  generations = new Float64Array(0);
  /** First refusal of a local Filter; undefined: feasible. */
  readonly statuses: (Status | undefined)[] = [];
  /** One column a scorer, in the profile's order. */
  readonly scores: Float64Array[];
  /** By column: the rows that are current have this score. */
  readonly isScored: boolean[];
  /** Working room of the ranking that uses the table. Weighted total by node index, for feasible nodes. */
  totals = new Float64Array(0);
  /** Working room: feasible node indexes, as a heap in the end. */
  order = new Int32Array(0);
  /** Working room: one plugin's scores of the feasible nodes, in that order. */
  column = new Float64Array(0);

  constructor(scorerCount: number) {
    this.scores = Array.from({ length: scorerCount }, () => new Float64Array(0));
    this.isScored = this.scores.map(() => true);
  }

  /** Makes room for at least this many nodes, keeping what is there. */
  reserve(nodeCount: number): void {
    const known = this.generations.length;
    if (known >= nodeCount) return;
    const size = Math.max(nodeCount, known + (known >> 1), 16);
    const generations = new Float64Array(size).fill(-1);
    generations.set(this.generations);
    this.generations = generations;
    for (let column = 0; column < this.scores.length; column++) {
      const grown = new Float64Array(size);
      grown.set(this.scores[column]!);
      this.scores[column] = grown;
    }
    this.totals = new Float64Array(size);
    this.order = new Int32Array(size);
    this.column = new Float64Array(size);
    while (this.statuses.length < size) this.statuses.push(undefined);
  }

  /** The row of this node is good for as long as nothing changes there. What claims mean is not in a pod's signature. */
  markCurrent(node: NodeInfo): void {
    this.generations[node.index] = node.claims.size === 0 ? node.generation : -1;
  }

  clear(): void {
    this.generations.fill(-1);
  }
}
