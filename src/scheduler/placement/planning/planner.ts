import { WorkBudget } from '../../../base/work-budget.ts';
import type { Random } from '../../../base/random.ts';
import { finish } from '../../../base/yielding.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import type { Profile } from '../../../framework/profile.ts';
import { CachedResults } from '../cache/cached-results.ts';
import { GangPlanning } from './gang-planning.ts';
import type { NodeAssignment, Plan, PlanRequest } from './plan.ts';
import { PlanWork } from './plan-work.ts';
import { RankingBuffers } from '../cache/ranking-buffers.ts';
import { unreserveAll } from './undo-assignments.ts';

export type { NodeAssignment, Plan, PlanRequest } from './plan.ts';

/**
 * Places pods in the cluster cache inside a transaction: PreFilter, Filter, Score and Reserve for each pod, nothing else. It runs
 * no Permit and no PostFilter, and makes no Events or writes, so dry runs use the same function.
 */
export class Planner {
  readonly #cluster: Cluster;
  /** Orders equal nodes. */
  readonly seed: number;
  readonly #buffers = new RankingBuffers();
  /** profile -> cached results of its plugins */
  readonly #cachedResults = new WeakMap<Profile, CachedResults>();
  /** The same for nodes without pods, which seldom change. */
  readonly #cachedResultsWithoutPods = new WeakMap<Profile, CachedResults>();

  /** Reads `random` once: each scheduler orders equal nodes differently. */
  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster;
    this.seed = Math.floor(random() * 2 ** 32);
  }

  /**
   * Places as many members as needed, hardest first (the members that fit on the fewest nodes) and identical ones together. Stops
   * as soon as that many are placed or can no longer be reached.
   *
   * A member may be rejected only because siblings have no node yet. It is tried again after others have been placed, until a
   * round places no member. If too few are placed, further strategies start over, unless they cannot help. A plugin failure ends the plan.
   *
   * The same request on the same cluster state gives the same result, verdict text included, whatever was planned in between.
   *
   * If the plan is complete, its members are assumed in the transaction and reserved. The caller must undo both: `unreserve`, then
   * rollback. Otherwise no member is assumed or reserved. If this throws, none is reserved, but the caller must roll back.
   */
  plan(request: PlanRequest, transaction: Transaction): Plan {
    return finish(this.steps(request, transaction, new WorkBudget()));
  }

  /**
   * Like `plan`, but yields whenever the work budget is due: after one pass over the nodes at most. Run only one at a time. Until
   * it ends or is abandoned, after which no member is reserved, nothing else may change the cluster cache.
   */
  steps(request: PlanRequest, transaction: Transaction, budget: WorkBudget): Yielding<Plan> {
    return new GangPlanning({
      cluster: this.#cluster,
      buffers: this.#buffers,
      cachedResults: this.#cachedResultsOf(request.profile),
      seed: this.seed,
      request,
      transaction,
      work: new PlanWork(budget, request),
    }).run();
  }

  /** Calls Unreserve for the assignments, in reverse order. */
  unreserve(profile: Profile, assignments: readonly NodeAssignment[]): void {
    unreserveAll(profile, assignments);
  }

  #cachedResultsOf(profile: Profile): CachedResults {
    const known = this.#cluster.isEmptied ? this.#cachedResultsWithoutPods : this.#cachedResults;
    let cachedResults = known.get(profile);
    if (cachedResults === undefined) {
      cachedResults = new CachedResults(profile);
      known.set(profile, cachedResults);
    }
    return cachedResults;
  }
}
