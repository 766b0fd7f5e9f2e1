import type { Pod } from '../../api/pod.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Transaction } from '../../cluster/transaction.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Candidate } from '../../framework/candidate.ts';
import type { Profile } from '../../framework/profile.ts';
import type { TrialOptions, TrialResult } from '../../framework/trial.ts';
import { demandOf } from './demand.ts';
import type { Plan, Planner } from './planner.ts';

/** What a trial found, and what its plan says besides. */
export interface Trial extends TrialResult {
  readonly isExhaustive: Plan['isExhaustive'];
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
  run(profile: Profile, candidate: Candidate, { without, within, members: only, need }: TrialOptions = {}): Trial {
    if (this.#cluster.isPlanning) {
      throw new Error(
        'a trial cannot be made while a plan is being made; ask for it in PostFilter, or between attempts',
      );
    }
    const transaction = this.#cluster.begin();
    try {
      const isGone = takeOut(transaction, candidate, without);
      const { members: all, needed: missing, gang } = demandOf(this.#cluster, candidate);
      const members = only === undefined ? all : among(all, only);
      const needed = need ?? missing;
      const plan = this.#planner.plan(
        {
          profile,
          members,
          needed,
          groupState: gang === undefined ? undefined : new CycleState(),
          within,
          isGone,
        },
        transaction,
      );
      this.#planner.unreserve(profile, plan.placements);
      return {
        fits: plan.placements.length >= needed,
        plan: plan.placements.map(({ pod, nodeName }) => ({ pod, nodeName })),
        blocked: plan.blocked,
        isExhaustive: plan.isExhaustive,
      };
    } finally {
      transaction.rollback();
    }
  }
}

/** Answers by uid whether a pod is gone, so that no room is kept for it either. */
function takeOut(
  transaction: Transaction,
  candidate: Candidate,
  without: TrialOptions['without'] = [],
): (uid: string) => boolean {
  if (without === 'others') {
    const own = candidate.kind === 'gang' ? candidate.gang.members : new Map([[candidate.pod.uid, candidate.pod]]);
    transaction.takeOutAllBut(own);
    return (uid) => !own.has(uid);
  }
  const gone = [...without];
  transaction.takeOut(gone);
  /** Only asked for where room is kept for somebody. */
  let uids: ReadonlySet<string> | undefined;
  return (uid) => (uids ??= new Set(gone.map((pod) => pod.uid))).has(uid);
}

function among(pods: readonly Pod[], wanted: readonly Pod[]): readonly Pod[] {
  const uids = new Set(wanted.map(({ uid }) => uid));
  return pods.filter(({ uid }) => uids.has(uid));
}
