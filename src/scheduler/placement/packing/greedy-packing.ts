import type { PackingBudget } from './packing-budget.ts';
import { totalFree, totalShare } from './packing-problem.ts';
import type { PackingClass, PackingProblem } from './packing-problem.ts';
import { PackingState } from './packing-state.ts';
import type { PackingResult, PackingStrategy } from './packing-strategy.ts';

/** Number of classes that can be searched for members on a node at the cost of one look. */
const classesPerLook = 8;
/** Number of nodes that can be sorted again at the cost of one look. */
const nodesPerLook = 8;

/** Returns how hard a class is to place; the hardest goes first. `totals`: resource -> total free amount. */
type Hardness = (packingClass: PackingClass, totals: readonly number[]) => number;

/**
 * Places the cheapest members that are enough, hardest class first, each on the fullest node on which it fits. If a member does not fit, moves
 * or swaps one placed member to make space. Members that still do not fit are replaced by those that were left out.
 */
export function greedyPacking(name: string, hardness: Hardness): PackingStrategy {
  return { name, pack: (problem, budget) => new GreedyPacking(problem, budget, hardness).run() };
}

class GreedyPacking {
  readonly #problem: PackingProblem;
  readonly #budget: PackingBudget;
  readonly #state: PackingState;
  readonly #totals: readonly number[];
  readonly #order: readonly number[];
  /** The nodes, fullest first when they were last sorted. */
  readonly #nodes: number[];

  constructor(problem: PackingProblem, budget: PackingBudget, hardness: Hardness) {
    this.#problem = problem;
    this.#budget = budget;
    this.#state = new PackingState(problem, budget);
    this.#totals = totalFree(problem);
    const values = problem.classes.map((each) => hardness(each, this.#totals));
    this.#order = [...values.keys()].sort((a, b) => values[b]! - values[a]! || a - b);
    this.#nodes = [...problem.free.keys()];
  }

  run(): PackingResult {
    const { classes, needed } = this.#problem;
    const state = this.#state;
    const chosen = this.#cheapest();
    for (const index of this.#order) this.#place(index, chosen[index]!);
    // The members that were left out replace those that do not fit, easiest first.
    for (const index of this.#order.toReversed()) {
      const placed = state.counts[index]!.reduce((sum, count) => sum + count, 0);
      this.#place(index, Math.min(needed - state.placed, classes[index]!.count - placed));
    }
    return { packing: state.counts, placed: state.placed, isDecided: state.placed >= needed };
  }

  /** class -> how many of its members to place: as many as needed in total, those with the smallest requests */
  #cheapest(): readonly number[] {
    const { classes, needed } = this.#problem;
    const costs = classes.map((each) => totalShare(each, this.#totals));
    const chosen = classes.map(() => 0);
    let left = needed;
    for (const index of [...costs.keys()].sort((a, b) => costs[a]! - costs[b]! || a - b)) {
      chosen[index] = Math.min(left, classes[index]!.count);
      left -= chosen[index];
    }
    return chosen;
  }

  #place(index: number, members: number): void {
    const state = this.#state;
    let left = members;
    if (left <= 0 || this.#budget.isUsedUp) return;
    // A node that gets a member stays the fullest until no more fit.
    for (const node of this.#fullestFirst()) {
      if (this.#budget.isUsedUp) return;
      const count = state.capacity(index, node, left);
      if (count > 0) state.add(index, node, count);
      left -= count;
      if (left === 0) return;
    }
    while (left > 0 && !this.#budget.isUsedUp && this.#makeSpace(index)) left--;
  }

  #fullestFirst(): readonly number[] {
    this.#budget.looks -= this.#nodes.length / nodesPerLook;
    const shares = Float64Array.from(this.#nodes, (_, node) => this.#freeShare(node));
    // Few nodes have changed since the last time, so that this takes about one step per node.
    return this.#nodes.sort((a, b) => shares[a]! - shares[b]! || a - b);
  }

  /** Returns the node with the smallest share of free resources on which a member of the class fits; -1: none. */
  #bestFit(index: number, except = -1): number {
    let best = -1;
    let least = Infinity;
    for (let node = 0; node < this.#problem.free.length; node++) {
      if (node === except || this.#state.capacity(index, node, 1) === 0) continue;
      const free = this.#freeShare(node);
      if (free >= least) continue;
      best = node;
      least = free;
    }
    return best;
  }

  #freeShare(node: number): number {
    const free = this.#state.free[node]!;
    let share = 0;
    for (let r = 0; r < free.length; r++) share += Math.max(0, free[r]!) / this.#totals[r]!;
    return share;
  }

  /** Returns the classes with members on the node, hardest first. */
  #classesOn(node: number): readonly number[] {
    this.#budget.looks -= this.#order.length / classesPerLook;
    return this.#order.filter((index) => this.#state.counts[index]![node]! > 0);
  }

  /** Places a member of the class on a node that one placed member leaves, by a move or by a swap. */
  #makeSpace(index: number): boolean {
    const state = this.#state;
    for (let node = 0; node < this.#problem.free.length && !this.#budget.isUsedUp; node++) {
      for (const other of this.#classesOn(node)) {
        if (other === index) continue;
        state.add(other, node, -1);
        if (state.capacity(index, node, 1) > 0) {
          state.add(index, node, 1);
          if (this.#placeElsewhere(other, node)) return true;
          state.add(index, node, -1);
        }
        state.add(other, node, 1);
        if (this.#budget.isUsedUp) return false;
      }
    }
    return false;
  }

  /** Places a member elsewhere that has left the node: where it fits, or where one that then fits on the node was. */
  #placeElsewhere(index: number, left: number): boolean {
    const state = this.#state;
    const free = this.#bestFit(index, left);
    if (free >= 0) {
      state.add(index, free, 1);
      return true;
    }
    for (let node = 0; node < this.#problem.free.length && !this.#budget.isUsedUp; node++) {
      if (node === left) continue;
      for (const other of this.#classesOn(node)) {
        if (other === index) continue;
        state.add(other, node, -1);
        if (state.capacity(index, node, 1) > 0) {
          state.add(index, node, 1);
          const place = this.#bestFit(other, node);
          if (place >= 0) {
            state.add(other, place, 1);
            return true;
          }
          state.add(index, node, -1);
        }
        state.add(other, node, 1);
        if (this.#budget.isUsedUp) return false;
      }
    }
    return false;
  }
}
