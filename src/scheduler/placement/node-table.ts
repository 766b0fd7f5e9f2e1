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

  constructor(scorerCount: number) {
    this.scores = Array.from({ length: scorerCount }, () => new Float64Array(0));
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
    while (this.statuses.length < size) this.statuses.push(undefined);
  }

  isCurrent(node: NodeInfo): boolean {
    return this.generations[node.index] === node.generation;
  }

  clear(): void {
    this.generations.fill(-1);
  }
}
