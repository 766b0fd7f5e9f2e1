import type { Yielding } from '../../../base/yielding.ts';
import type { Batch, ClassContext } from './batch.ts';
import { compareSizes } from './bin-packing-order.ts';
import type { PlacementStrategy } from './placement-strategy.ts';
import { better, isCompleteOrFailed } from './plan.ts';
import type { Plan } from './plan.ts';
import type { PlanPasses } from './plan-passes.ts';
import type { PlanScope } from './plan-scope.ts';
import { podClassesOf } from './pod-classes.ts';

/**
 * Tries the strategies in order until one places enough members, or none of the rest can help. Returns the complete plan, or else the
 * one that placed most members, the first among equals; undefined if no strategy placed any.
 */
export function* runStrategies(
  scope: PlanScope,
  passes: PlanPasses,
  strategies: readonly PlacementStrategy[],
): Yielding<Plan | undefined> {
  const batches = yield* hardestFirstBatches(scope, passes);
  const order = batches.map(({ context }) => context);
  let best: Plan | undefined;
  for (const strategy of strategies) {
    const plan = yield* strategy.place({ scope, order, batches, passes, best });
    if (plan === undefined) continue;
    if (isCompleteOrFailed(plan)) return plan;
    best = best === undefined ? plan : better(best, plan);
    if (isFinal(best)) break;
  }
  return best;
}

/** Returns batches in the state before the plan, hardest first: those that fit on the fewest nodes, and among equals the larger request. */
function* hardestFirstBatches(scope: PlanScope, passes: PlanPasses): Yielding<Batch[]> {
  const batches = yield* passes.start(scope, yield* classContexts(scope));
  if (batches.length < 2) return batches;
  /** batch -> number of nodes that it fits on */
  const counts = new Map<Batch, number>();
  for (const batch of batches) {
    counts.set(batch, batch.ranking?.count() ?? 0);
    if (scope.work.isDue) yield;
  }
  return batches.sort((a, b) => counts.get(a)! - counts.get(b)! || compareSizes(a, b));
}

function* classContexts({ cluster, cachedResults, request, work }: PlanScope): Yielding<ClassContext[]> {
  const podClasses = yield* podClassesOf(cluster, request, work.budget);
  const split = cachedResults.of(podClasses.map(({ signatures }) => signatures));
  return podClasses.map((podClass, i) => ({ podClass, split: split[i]! }));
}

/** Returns whether no strategy can place more members. */
function isFinal({ never, placed, isExhaustive }: Plan): boolean {
  return never || placed === 0 || isExhaustive;
}
