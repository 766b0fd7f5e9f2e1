import type { Yielding } from '../../../base/yielding.ts';
import type { PlacementStrategy, StrategyInput } from './placement-strategy.ts';
import type { Plan } from './plan.ts';

/** Places the easiest members of an elastic gang first. Harder members may have taken capacity that is enough for these. */
export const easiestFirst: PlacementStrategy = {
  name: 'EasiestFirst',

  *place({ scope, order, passes }: StrategyInput): Yielding<Plan | undefined> {
    const { members, needed } = scope.request;
    if (members.length === needed || order.length < 2) return undefined;
    return yield* passes.run(scope, yield* passes.start(scope, order.toReversed()), easiestFirst.name);
  },
};
