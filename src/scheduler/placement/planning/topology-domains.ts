import type { Yielding } from '../../../base/yielding.ts';
import { domainsByFreeCapacity } from './domains-by-free-capacity.ts';
import { isCompleteOrFailed } from './plan.ts';
import type { Plan } from './plan.ts';
import type { PlacementStrategy, StrategyInput } from './placement-strategy.ts';
import { runStrategies } from './run-strategies.ts';

/**
 * Maximum of members times domains. Above it, only the first strategy is tried in every domain: otherwise the rejection of 1,000 members of
 * different classes would take three times as long in 100 domains.
 */
const maxPlacementsInEachWay = 10_000;

/**
 * Tries one topology domain after another, for members that need a common one: the first member may have taken a node in a domain that is
 * too full for the rest. `first` and `others`: the strategies for each domain.
 */
export function topologyDomains(
  first: readonly PlacementStrategy[],
  others: readonly PlacementStrategy[],
): PlacementStrategy {
  return {
    name: 'TopologyDomains',

    *place({ scope, passes }: StrategyInput): Yielding<Plan | undefined> {
      const { cluster, request, work, indexes: allowed } = scope;
      const { members, needed, profile } = request;
      const domains = profile.domainsFor(members);
      const strategies = members.length * domains.length <= maxPlacementsInEachWay ? [...first, ...others] : first;
      if (domains.length === 0 || strategies.length === 0) return undefined;
      const isAllowed = allowed && new Set(allowed);
      const open = isAllowed ? domains.map((indexes) => indexes.filter((index) => isAllowed.has(index))) : domains;
      // Charges the work of splitting the nodes by each topology and summing their free capacity.
      work.budget.spend(domains.reduce((sum, { length }) => sum + length, 0));
      if (work.isDue) yield;
      // Undo the last pass first, so that it takes no capacity from the next.
      yield* passes.undo(work.budget);
      for (const indexes of domainsByFreeCapacity(cluster, open, members, needed)) {
        const plan = yield* runStrategies({ ...scope, indexes }, passes, strategies);
        if (plan !== undefined && isCompleteOrFailed(plan)) return plan;
      }
      return undefined;
    },
  };
}
