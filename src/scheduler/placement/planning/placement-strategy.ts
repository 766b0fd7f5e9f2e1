import type { Yielding } from '../../../base/yielding.ts';
import type { Batch, ClassContext } from './batch.ts';
import type { Plan } from './plan.ts';
import type { PlanPasses } from './plan-passes.ts';
import type { PlanScope } from './plan-scope.ts';

/** What a strategy works with. */
export interface StrategyInput {
  readonly scope: PlanScope;
  /** The pod classes, hardest first. Equal gangs have the same order. */
  readonly order: readonly ClassContext[];
  /** Batches of these classes in the state before the plan, for the first strategy only. */
  readonly batches: Batch[];
  readonly passes: PlanPasses;
  /** The most complete plan of the strategies before; undefined: this is the first. */
  readonly best: Plan | undefined;
}

/** One way to choose the nodes of a gang's members. */
export interface PlacementStrategy {
  readonly name: string;
  /**
   * Places members with `passes`, in steps. Returns the plan of its last or most complete pass; undefined if it cannot do better than
   * `best`.
   */
  place(input: StrategyInput): Yielding<Plan | undefined>;
}
