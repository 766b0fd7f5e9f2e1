import type { PackingBudget } from './packing-budget.ts';
import { scarcestShare, totalFree } from './packing-problem.ts';
import type { PackingProblem } from './packing-problem.ts';
import { PackingState } from './packing-state.ts';
import type { PackingResult, PackingStrategy } from './packing-strategy.ts';

/** Maximum size of a problem to search, in members and in classes times nodes. Larger ones would use up any budget. */
const maxMembers = 256;
const maxCells = 4_096;

/**
 * Searches all packings: branch and bound over how many members of each class each node gets, hardest class first. For a dozen members in a
 * few classes this takes about 50 looks, and rarely some thousand. Finds all needed members or none.
 */
export const packingSearch: PackingStrategy = {
  name: 'Search',

  pack(problem: PackingProblem, budget: PackingBudget): PackingResult {
    return new PackingSearch(problem, budget).run();
  },
};

class PackingSearch {
  readonly #problem: PackingProblem;
  readonly #budget: PackingBudget;
  readonly #state: PackingState;
  /** Classes in the order of the search, hardest first. */
  readonly #order: readonly number[];
  readonly #resources: readonly number[];
  /** position in the order -> resource -> requests of the members from there on, ascending */
  readonly #requests: (readonly (readonly number[])[])[] = [];
  /** States of the nodes before a class from which no packing exists. */
  readonly #dead = new Set<string>();
  #isOver = false;

  constructor(problem: PackingProblem, budget: PackingBudget) {
    this.#problem = problem;
    this.#budget = budget;
    this.#state = new PackingState(problem, budget);
    const { classes } = problem;
    const totals = totalFree(problem);
    const shares = classes.map((each) => scarcestShare(each, totals));
    this.#order = [...classes.keys()].sort((a, b) => shares[b]! - shares[a]! || a - b);
    this.#resources = [...totals.keys()];
  }

  run(): PackingResult {
    const { classes, free, needed } = this.#problem;
    const members = classes.reduce((sum, { count }) => sum + count, 0);
    this.#isOver = members > maxMembers || classes.length * free.length > maxCells;
    if (members >= needed && !this.#isOver) this.#place(0, members - needed);
    const { counts, placed } = this.#state;
    return { packing: counts, placed, isDecided: !this.#isOver };
  }

  /** Places the classes from this position of the order on. `spare`: how many members may stay unplaced. */
  #place(position: number, spare: number): boolean {
    const index = this.#order[position];
    if (index === undefined) return true;
    if (!this.#mayFit(position, spare)) return false;
    const states = this.#nodeStates(position);
    const state = `${position} ${spare} ${states.join(';')}`;
    if (this.#dead.has(state)) return false;
    if (this.#spread(position, 0, this.#problem.classes[index]!.count, spare, twinsOf(states))) return true;
    if (!this.#isOver) this.#dead.add(state);
    return false;
  }

  /** Places members of one class on the nodes from `node` on. `twins`: see `twinsOf`. */
  #spread(position: number, node: number, members: number, spare: number, twins: Int32Array): boolean {
    if (this.#budget.isUsedUp) this.#isOver = true;
    if (this.#isOver) return false;
    const state = this.#state;
    if (node === twins.length || members === 0) return members <= spare && this.#place(position + 1, spare - members);
    const index = this.#order[position]!;
    if (members > spare && !this.#hasCapacity(index, node, members - spare)) return false;
    const twin = twins[node]!;
    const counts = state.counts[index]!;
    // Among nodes that are alike, earlier ones get at least as many members: other orders are the same packing.
    const most = state.capacity(index, node, twin < 0 ? members : Math.min(members, counts[twin]!));
    for (let count = most; count >= 0; count--) {
      state.add(index, node, count);
      if (this.#spread(position, node + 1, members - count, spare, twins)) return true;
      state.add(index, node, -count);
    }
    return false;
  }

  /** Returns whether the nodes from `node` on have capacity for this number of members of a class. */
  #hasCapacity(index: number, from: number, members: number): boolean {
    let left = members;
    for (let node = from; node < this.#problem.free.length && left > 0; node++) {
      left -= this.#state.capacity(index, node, left);
    }
    return left <= 0;
  }

  /** Necessary conditions: each class fits without the others, and the sums of what is free suffice. */
  #mayFit(position: number, spare: number): boolean {
    const { classes, free } = this.#problem;
    let missing = 0;
    for (const index of this.#order.slice(position)) {
      let left = classes[index]!.count;
      for (let node = 0; node < free.length && left > 0; node++) left -= this.#state.capacity(index, node, left);
      missing += left;
      if (missing > spare) return false;
    }
    this.#budget.looks -= this.#resources.length;
    for (const r of this.#resources) {
      let total = 0;
      for (const amounts of this.#state.free) total += Math.max(0, amounts[r]!);
      // The members that request most of the resource are the ones that stay unplaced.
      const requests = this.#requestsFrom(position)[r]!;
      let least = 0;
      for (let i = 0; i < requests.length - spare; i++) least += requests[i]!;
      if (least > total) return false;
    }
    return true;
  }

  #requestsFrom(position: number): readonly (readonly number[])[] {
    const { classes } = this.#problem;
    return (this.#requests[position] ??= this.#resources.map((r) =>
      this.#order
        .slice(position)
        .flatMap((index) => new Array<number>(classes[index]!.count).fill(classes[index]!.requests[r]!))
        .sort((a, b) => a - b),
    ));
  }

  /** node -> all that matters to the classes from this position on, as text */
  #nodeStates(position: number): readonly string[] {
    const { classes, apart } = this.#problem;
    const { free, counts } = this.#state;
    const rest = this.#order.slice(position);
    const before = this.#order.slice(0, position);
    const conflicting = before.filter((index) => rest.some((other) => apart[index]!.has(other)));
    return free.map(
      (amounts, node) =>
        `${amounts.join()} ${rest.map((index) => classes[index]!.limits[node]).join()} ${conflicting.map((index) => counts[index]![node]).join()}`,
    );
  }
}

/** Returns for each node the nearest earlier one in the same state; -1: none. */
function twinsOf(states: readonly string[]): Int32Array {
  const latest = new Map<string, number>();
  return Int32Array.from(states, (state, node) => {
    const twin = latest.get(state) ?? -1;
    latest.set(state, node);
    return twin;
  });
}
