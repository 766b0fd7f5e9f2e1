import type { PackingBudget } from './packing-budget.ts';
import type { PackingProblem } from './packing-problem.ts';

/** A packing that is being built: the members on each node, and what they leave free. */
export class PackingState {
  /** class -> node -> number of members */
  readonly counts: readonly Int32Array[];
  /** node -> resource -> free amount */
  readonly free: readonly Float64Array[];
  /** Number of members on all nodes. */
  placed = 0;
  readonly #problem: PackingProblem;
  readonly #budget: PackingBudget;

  constructor(problem: PackingProblem, budget: PackingBudget) {
    this.#problem = problem;
    this.#budget = budget;
    this.counts = problem.classes.map(() => new Int32Array(problem.free.length));
    this.free = problem.free.map((amounts) => amounts.slice());
  }

  /** Returns how many more members of the class fit on the node, at most `most`. */
  capacity(index: number, node: number, most: number): number {
    this.#budget.looks--;
    const { requests, limits } = this.#problem.classes[index]!;
    let capacity = Math.min(most, limits[node]! - this.counts[index]![node]!);
    if (capacity <= 0) return 0;
    for (const other of this.#problem.apart[index]!) {
      if (this.counts[other]![node]! > 0) return 0;
      if (other === index) capacity = Math.min(capacity, 1);
    }
    const free = this.free[node]!;
    for (let r = 0; r < requests.length && capacity > 0; r++) {
      const amount = requests[r]!;
      // A node may be overcommitted in resources that the member does not request.
      if (amount > 0) capacity = Math.min(capacity, Math.floor(free[r]! / amount));
    }
    return Math.max(0, capacity);
  }

  /** Places members of the class on the node; a negative number removes some. */
  add(index: number, node: number, count: number): void {
    if (count > 0) this.#budget.placements++;
    const { requests } = this.#problem.classes[index]!;
    const free = this.free[node]!;
    for (let r = 0; r < requests.length; r++) free[r]! -= count * requests[r]!;
    this.counts[index]![node]! += count;
    this.placed += count;
  }
}
