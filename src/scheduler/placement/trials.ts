import type { Cluster } from '../../cluster/cluster.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Candidate } from '../../framework/candidate.ts';
import type { Profile } from '../../framework/profile.ts';
import type { TrialOptions, TrialResult } from '../../framework/trial.ts';
import { demandOf } from './demand.ts';
import type { Plan, Planner } from './planner.ts';

/** What a trial found, and what its plan says besides. */
export interface Trial extends TrialResult {
  readonly never: Plan['never'];
}

/** Plans that are always rolled back: what if these pods were gone, or only these nodes there? */
export class Trials {
  readonly #cluster: Cluster;
  readonly #planner: Planner;

  constructor(cluster: Cluster, planner: Planner) {
    this.#cluster = cluster;
    this.#planner = planner;
  }

  /** Leaves the picture as it was, whatever happens. Throws while a plan is being made. */
  run(profile: Profile, candidate: Candidate, { without, within, need }: TrialOptions = {}): Trial {
    const transaction = this.#cluster.begin();
    try {
      const gone = without === undefined ? [] : [...without];
      transaction.takeOut(gone);
      const { members, needed: missing, gang } = demandOf(this.#cluster, candidate);
      const needed = need ?? missing;
      /** uids of the pods that are gone; only asked for where room is kept for somebody */
      let uids: ReadonlySet<string> | undefined;
      const plan = this.#planner.plan(
        {
          profile,
          members,
          needed,
          groupState: gang === undefined ? undefined : new CycleState(),
          within,
          isGone: (uid) => (uids ??= new Set(gone.map((pod) => pod.uid))).has(uid),
        },
        transaction,
      );
      this.#planner.unreserve(profile, plan.placements);
      return {
        fits: plan.placements.length >= needed,
        plan: plan.placements.map(({ pod, nodeName }) => ({ pod, nodeName })),
        blocked: plan.blocked,
        never: plan.never,
      };
    } finally {
      transaction.rollback();
    }
  }
}
