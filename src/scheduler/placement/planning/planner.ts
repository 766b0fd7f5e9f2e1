import type { Pod } from '../../../api/pod.ts';
import { WorkBudget } from '../../../base/work-budget.ts';
import type { Random } from '../../../base/random.ts';
import { finish } from '../../../base/yielding.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import type { PodSignatures, Profile } from '../../../framework/profile.ts';
import { CachedResults } from '../cache/cached-results.ts';
import { GangPlanning } from './gang-planning.ts';
import type { NodeAssignment, Plan, PlanRequest } from './plan.ts';
import { PlanWork } from './plan-work.ts';
import { RankingBuffers } from '../cache/ranking-buffers.ts';

export type { NodeAssignment, Plan, PlanRequest } from './plan.ts';

/**
 * Places pods on the picture inside a transaction: PreFilter, Filter, Score and Reserve of each, nothing else. No Permit,
 * PostFilter, event or write happens here, so the same function serves trials.
 */
export class Planner {
  readonly #cluster: Cluster;
  readonly #seed: number;
  readonly #buffers = new RankingBuffers();
  /** profile -> what its plugins have answered */
  readonly #answers = new WeakMap<Profile, CachedResults>();

  /** `random` is read once: another scheduler takes equal nodes in another order. */
  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster;
    this.#seed = Math.floor(random() * 2 ** 32);
  }

  /**
   * Places as many of the members as are needed, hardest first (those that fit on the fewest nodes), identical ones together, and
   * stops as soon as that many are placed or can no longer be reached. A member that was rejected because of where its
   * siblings are not yet is tried again after others have landed, until a round places nobody. Where that is not enough, and there
   * are more members than needed, it begins once more with the easiest. A plugin that fails ends the plan.
   *
   * The same question about the same picture has the same answer, word for word, whatever was asked between.
   *
   * On return the placed members are assumed in the transaction and reserved; undoing both is the caller's (`unreserve`,
   * then rollback). When it throws nothing is reserved any more, and the rollback is still the caller's.
   */
  plan(request: PlanRequest, transaction: Transaction): Plan {
    return finish(this.steps(request, transaction, new WorkBudget()));
  }

  /**
   * As `plan`, with a pause whenever one is due: after a pass over the nodes at most. One at a time; until it has ended or was given
   * up, after which nothing is reserved, the picture must not change otherwise.
   */
  steps(request: PlanRequest, transaction: Transaction, budget: WorkBudget): Yielding<Plan> {
    return new GangPlanning({
      cluster: this.#cluster,
      buffers: this.#buffers,
      answers: this.#answersOf(request.profile),
      seed: this.#seed,
      request,
      transaction,
      work: new PlanWork(budget, request),
    }).run();
  }

  /** Undoes Reserve for placements, in reverse order. */
  unreserve(profile: Profile, assignments: readonly NodeAssignment[]): void {
    for (const { state, pod, nodeName } of assignments.toReversed()) profile.unreserve(state, pod, nodeName);
  }

  /** What makes pods alike to the profile's plugins. */
  signaturesOf(profile: Profile, pod: Pod): PodSignatures {
    return profile.signaturesOf(pod);
  }

  #answersOf(profile: Profile): CachedResults {
    let answers = this.#answers.get(profile);
    if (answers === undefined) {
      answers = new CachedResults(profile);
      this.#answers.set(profile, answers);
    }
    return answers;
  }
}
