import type { PackingBudget } from './packing-budget.ts';
import type { Packing, PackingProblem } from './packing-problem.ts';

/** What a strategy found. `isProvedBest`: no packing places more members, as far as the problem describes them. */
export interface PackingResult {
  readonly packing: Packing;
  readonly placed: number;
  readonly isProvedBest: boolean;
}

/** One way to solve a packing problem. Deterministic. */
export interface PackingStrategy {
  readonly name: string;
  pack(problem: PackingProblem, budget: PackingBudget): PackingResult;
}
