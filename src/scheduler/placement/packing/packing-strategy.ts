import type { PackingBudget } from './packing-budget.ts';
import type { Packing, PackingProblem } from './packing-problem.ts';

/** What a strategy found. `isDecided`: it placed all needed members, or no packing does. */
export interface PackingResult {
  readonly packing: Packing;
  readonly placed: number;
  readonly isDecided: boolean;
}

/** One way to solve a packing problem. Deterministic. */
export interface PackingStrategy {
  readonly name: string;
  pack(problem: PackingProblem, budget: PackingBudget): PackingResult;
}
