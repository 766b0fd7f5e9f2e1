import type { WorkBudget } from '../../../base/work-budget.ts';
import type { PlanRequest } from './plan.ts';

/** Counts the work of one plan, in looks at nodes and calls of plugins about one node, for the pace and for the limit of the request. */
export class PlanWork {
  readonly budget: WorkBudget;
  readonly #request: PlanRequest;
  /** How many calls about a node the profile had made when they were last counted. */
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
