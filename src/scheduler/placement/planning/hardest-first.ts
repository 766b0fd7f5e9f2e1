import type { Yielding } from '../../../base/yielding.ts';
import type { PlacementStrategy, StrategyInput } from './placement-strategy.ts';
import type { Plan } from './plan.ts';

/** Places the hardest members first, each on the node with the highest score. */
export const hardestFirst: PlacementStrategy = {
  name: 'HardestFirst',

  place({ scope, batches, passes }: StrategyInput): Yielding<Plan> {
    return passes.run(scope, batches, hardestFirst.name);
  },
};
