import type { WorkBudget } from '../../../base/work-budget.ts';
import type { PlanRequest } from './plan.ts';

/**
 * Counts the work of one plan in node checks and plugin calls about one node, for the work budget and for the request's limit.
 */
export class PlanWork {
  readonly budget: WorkBudget;
  readonly #request: PlanRequest;
  /** The profile's calls about a node at the last count. */
  #calls: number;

  constructor(budget: WorkBudget, request: PlanRequest) {
    this.budget = budget;
    this.#request = request;
    this.#calls = request.profile.nodeCalls;
  }

  get isDue(): boolean {
    if (!this.budget.isLimited) return false;
    const { nodeCalls } = this.#request.profile;
    this.budget.spend(nodeCalls - this.#calls);
    this.#calls = nodeCalls;
    return this.budget.isDue;
  }

  spend(steps: number): void {
    this.budget.spend(steps);
    this.#request.spend?.(steps);
  }
}
