/** How many members are on a node: pairs of node index and number. */
export type Placement = readonly (readonly [node: number, members: number])[];

/** The free GPUs of each node, for schedulers that are modeled instead of run. */
export class NodePool {
  readonly free: Int32Array;

  constructor(nodes: number, gpusPerNode: number) {
    this.free = new Int32Array(nodes).fill(gpusPerNode);
  }

  static copyOf(pool: NodePool): NodePool {
    const copy = new NodePool(0, 0);
    (copy as { free: Int32Array }).free = Int32Array.from(pool.free);
    return copy;
  }

  /** Returns where the members fit, fullest nodes first, or undefined. Within `limit` as well, if it is given. */
  place(
    { members, gpus }: { readonly members: number; readonly gpus: number },
    limit?: NodePool,
  ): Placement | undefined {
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
