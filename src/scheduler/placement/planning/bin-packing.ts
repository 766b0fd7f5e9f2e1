import type { Yielding } from '../../../base/yielding.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';
import { largestRequestFirst } from '../packing/largest-request-first.ts';
import { PackingBudget } from '../packing/packing-budget.ts';
import { packingSearch } from '../packing/packing-search.ts';
import type { PackingResult, PackingStrategy } from '../packing/packing-strategy.ts';
import { scarcestResourceFirst } from '../packing/scarcest-resource-first.ts';
import { leastRequests } from './domains-by-free-capacity.ts';
import { GangPacking } from './gang-packing.ts';
import type { PlacementStrategy, StrategyInput } from './placement-strategy.ts';
import { better, isCompleteOrFailed } from './plan.ts';
import type { Plan } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';

const strategies: readonly PackingStrategy[] = [packingSearch, scarcestResourceFirst, largestRequestFirst];

/** How many looks take as long as one node check. */
const looksPerCheck = 16;
/** Work that every gang may use, in node checks: about a millisecond and a half. */
const leastWork = 3_000;
/** Maximum number of looks of one strategy, which cannot be interrupted: at most about 30 ms. */
const maxLooks = 200_000;
/** Maximum number of packings to try with the plugins. */
const maxPackings = 4;

/**
 * Solves the gang as a packing problem in numbers, which costs a fraction of asking the plugins. Then places the members as the packing says, as
 * far as the plugins agree. Does not consider scores. Solving takes at most half the work of an ordinary plan, and a packing that the plugins
 * reject about as much as one. A large gang tries one packing, a small one several.
 */
export const binPacking: PlacementStrategy = {
  name: 'BinPacking',

  *place({ scope, order, passes, best }: StrategyInput): Yielding<Plan | undefined> {
    if (order.length < 2) return undefined;
    const { cluster, indexes, request } = scope;
    const { members, needed } = request;
    const { capacity } = cluster;
    // The members of the last pass take capacity until then.
    yield* passes.undo(scope.work.budget);
    for (const [id, amount] of leastRequests(members, needed)) if (amount > capacity.free(id)) return undefined;
    let batches = yield* passes.start(scope, order);
    const gang = yield* GangPacking.of(scope, batches);
    if (gang === undefined) return undefined;
    const nodeCount = indexes?.length ?? cluster.nodes.length;
    const ordinaryWork = order.length * (nodeCount + workPerMember) + members.length * workPerMember;
    let left = Math.max(leastWork, ordinaryWork);
    let plan = best;
    let placements = 0;
    for (let count = 0; count < maxPackings && left > 0; count++) {
      const found = yield* packingOf(scope, gang, left / 2);
      left -= found.work + ordinaryWork;
      placements += found.placements;
      const isEnough = found.placed >= needed;
      if (!isEnough && found.isDecided && gang.isNecessary) return plan;
      if (!isEnough && found.placed <= (plan?.placed ?? 0)) break;
      const next = yield* passes.run(scope, batches, found.strategy, gang.chosen(found.packing));
      if (isCompleteOrFailed(next)) return next;
      plan = plan === undefined ? next : better(plan, next);
      if (!isEnough || left <= 0) break;
      const { rejected } = passes;
      batches = yield* passes.start(scope, order);
      for (const chosen of rejected) {
        if (left <= 0) break;
        left -= yield* gang.rejected(scope, batches, found.packing, chosen, left);
      }
    }
    return plan && { ...plan, searchedPlacements: placements };
  },
};

interface FoundPacking extends PackingResult {
  /** Name of the strategy. */
  readonly strategy: string;
  /** Work of all strategies, in node checks. */
  readonly work: number;
  /** How many times the strategies have placed members on a node. */
  readonly placements: number;
}

/** Returns the first packing with all needed members, or else the one with most; `isDecided` only for the last strategy. */
function* packingOf({ work }: PlanScope, { problem }: GangPacking, maxWork: number): Yielding<FoundPacking> {
  const budget = new PackingBudget();
  let most: Omit<FoundPacking, 'work' | 'placements'> | undefined;
  let spent = 0;
  for (const strategy of strategies) {
    const looks = Math.min(maxLooks, (maxWork - spent) * looksPerCheck);
    budget.allow(looks);
    const result = strategy.pack(problem, budget);
    const cost = (looks - budget.looks) / looksPerCheck;
    spent += cost;
    work.spend(cost);
    if (work.isDue) yield;
    if (most === undefined || result.placed > most.placed || result.isDecided) {
      most = { ...result, strategy: strategy.name };
    }
    if (result.isDecided) break;
  }
  return { ...most!, work: spent, placements: budget.placements };
}
