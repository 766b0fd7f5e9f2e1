import type { Pace } from '../../../base/pace.ts';
import type { PlanRequest } from './plan.ts';

/** Counts the work of one plan, in looks at nodes and calls of plugins about one node, for the pace and for the limit of the request. */
export class PlanWork {
  readonly pace: Pace;
  readonly #request: PlanRequest;
  /** How many calls about a node the profile had made when they were last counted. */
  #calls: number;

  constructor(pace: Pace, request: PlanRequest) {
    this.pace = pace;
    this.#request = request;
    this.#calls = request.profile.nodeCalls;
  }

  get isDue(): boolean {
    if (!this.pace.isLimited) return false;
    const { nodeCalls } = this.#request.profile;
    this.pace.spend(nodeCalls - this.#calls);
    this.#calls = nodeCalls;
    return this.pace.isDue;
  }

  spend(steps: number): void {
    this.pace.spend(steps);
    this.#request.spend?.(steps);
  }
}
