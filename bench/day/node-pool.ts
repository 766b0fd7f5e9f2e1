import type { Job } from './job.ts';

/** How many members are on a node: pairs of node index and number. */
export type Placement = readonly (readonly [node: number, members: number])[];

/** The free GPUs of each node, for schedulers that are modeled instead of run. */
export class NodePool {
  readonly free: Int32Array;

  private constructor(free: Int32Array) {
    this.free = free;
  }

  static empty(nodes: number, gpusPerNode: number): NodePool {
    return new NodePool(new Int32Array(nodes).fill(gpusPerNode));
  }

  static copyOf({ free }: NodePool): NodePool {
    return new NodePool(Int32Array.from(free));
  }

  /** Returns where the members fit, fullest nodes first, or undefined. Within `limit` as well, if it is given. */
  place({ members, gpus }: Pick<Job, 'members' | 'gpus'>, limit?: NodePool): Placement | undefined {
    const usable = (node: number): number => Math.min(this.free[node]!, limit?.free[node] ?? Infinity);
    const nodes = [...this.free.keys()]
      .filter((node) => usable(node) >= gpus)
      .sort((a, b) => usable(a) - usable(b) || a - b);
    const placement: (readonly [number, number])[] = [];
    let left = members;
    for (const node of nodes) {
      const here = Math.min(left, Math.floor(usable(node) / gpus));
      placement.push([node, here]);
      left -= here;
      if (left === 0) return placement;
    }
    return undefined;
  }

  take(placement: Placement, gpus: number): void {
    for (const [node, members] of placement) this.free[node]! -= members * gpus;
  }

  release(placement: Placement, gpus: number): void {
    for (const [node, members] of placement) this.free[node]! += members * gpus;
  }
}
