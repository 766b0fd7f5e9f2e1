/** Members with the same requests that may use the same nodes. */
export interface PackingClass {
  readonly count: number;
  /** resource -> amount that one member requests */
  readonly requests: readonly number[];
  /** node -> how many of its members the node takes at most; 0 if it takes none even before any is placed */
  readonly limits: Uint16Array;
}

/**
 * A gang and the nodes as numbers: how many members of each class go to which node? It holds the requests, and which classes cannot share a
 * node. It does not hold every rule of every plugin, so the plugins still have to accept a solution. The order of classes and nodes must not
 * depend on the order of arrival.
 */
export interface PackingProblem {
  readonly classes: readonly PackingClass[];
  /** node -> resource -> free amount; negative if the node is overcommitted */
  readonly free: readonly Float64Array[];
  /** How many of the members must be placed. */
  readonly needed: number;
  /** class -> classes with which it cannot share a node, possibly itself; symmetric */
  readonly apart: readonly ReadonlySet<number>[];
}

/** class -> node -> number of members */
export type Packing = readonly Int32Array[];

/** Returns the total free amount of each resource over all nodes; at least 1. */
export function totalFree({ free }: PackingProblem): readonly number[] {
  const totals = Array.from({ length: free[0]?.length ?? 0 }, () => 0);
  for (const amounts of free) for (let r = 0; r < totals.length; r++) totals[r]! += Math.max(0, amounts[r]!);
  return totals.map((total) => Math.max(1, total));
}

/** Returns what share of the scarcest resource one member requests. `totals`: resource -> total free amount. */
export function scarcestShare({ requests }: PackingClass, totals: readonly number[]): number {
  return requests.reduce((most, amount, r) => Math.max(most, amount / totals[r]!), 0);
}

/** Returns what shares of all resources one member requests in total. `totals`: resource -> total free amount. */
export function totalShare({ requests }: PackingClass, totals: readonly number[]): number {
  return requests.reduce((sum, amount, r) => sum + amount / totals[r]!, 0);
}
