import type { WorkBudget } from '../../../base/work-budget.ts';

/** The search would take more work than it may. */
export class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError';
}

/** Maximum work of one search, in node checks: about five seconds. */
const workLimit = 10_000_000;

/** Counts the work of one search, in node checks, and collects what its plans met. */
export class SearchWork {
  /** For pauses. */
  readonly budget: WorkBudget;
  /** Number of plans. */
  plans = 0;
  /** Names of the plugins that rejected members in incomplete plans. */
  readonly unschedulablePlugins = new Set<string>();
  #spent = 0;

  constructor(budget: WorkBudget) {
    this.budget = budget;
  }

  /** Throws WorkLimitError beyond the limit. */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > workLimit) throw new WorkLimitError();
  }
}
