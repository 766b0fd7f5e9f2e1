import type { Pod } from '../../../api/pod.ts';
import { WorkBudget } from '../../../base/work-budget.ts';
import { finish } from '../../../base/yielding.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import type { SchedulingEntity } from '../../../framework/scheduling-entity.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Profile } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import type { Nomination, DryRunOptions, DryRunResult } from '../../../framework/dry-run.ts';
import type { NodeSubsetOf } from '../cache/node-subset.ts';
import { demandOf } from './demand.ts';
import { NodeCheck } from './node-check.ts';
import type { Plan, Planner, PlanRequest } from './planner.ts';
import { takeOutPods } from './take-out-pods.ts';

/** The result of a dry run, with details of its plan. */
export interface DryRun extends DryRunResult {
  readonly isExhaustive: Plan['isExhaustive'];
  readonly never: Plan['never'];
}

/** What only the core may assume. */
export interface CoreDryRunOptions extends DryRunOptions {
  /** Pods to add for the dry run: they wait for nodes and are not in the cluster cache. */
  readonly arrivals?: readonly Pod[];
  /** The nodes that extenders left to each member. Default: all. */
  readonly nodeSubsetOf?: NodeSubsetOf | undefined;
  /** Returns whether the capacity that is reserved for this owner, by uid, until a predicted start is free. Default: it is not. */
  readonly ignoresBackfillOf?: ((uid: string) => boolean) | undefined;
  /** See PlanRequest. */
  readonly shortages?: PlanRequest['shortages'];
  /** Returns what to place instead of a member: a copy of it that the plugins treat differently. Default: the member. */
  readonly asIf?: (member: Pod) => Pod;
}

/** The pods to take out, and the reservations that do not count. */
export interface RejectionOptions extends Pick<CoreDryRunOptions, 'ignoresBackfillOf'> {
  readonly without: readonly Pod[];
}

/** Plans that are always rolled back: would the entity fit without these pods, or on these nodes only? */
export class DryRuns {
  readonly #cluster: Cluster;
  readonly #planner: Planner;

  constructor(cluster: Cluster, planner: Planner) {
    this.#cluster = cluster;
    this.#planner = planner;
  }

  /**
   * Runs a plan and leaves the cluster cache as it was, whatever happens. Throws while a plan is in progress. Calls `spend` with
   * the work of the plan before the plan does it, and throws what `spend` throws.
   */
  run(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    options: CoreDryRunOptions = {},
    spend?: PlanRequest['spend'],
  ): DryRun {
    const { arrivals = [] } = options;
    this.#mustNotBePlanning();
    for (const pod of arrivals) this.#cluster.setPod(pod);
    try {
      return finish(this.steps(profile, schedulingEntity, options, new WorkBudget(), spend));
    } finally {
      for (const { uid } of arrivals) this.#cluster.removePod(uid);
    }
  }

  /** Like `run`, but yields whenever the work budget is due, and takes no arrivals. */
  *steps(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    options: Omit<CoreDryRunOptions, 'arrivals'>,
    budget: WorkBudget,
    spend?: PlanRequest['spend'],
  ): Yielding<DryRun> {
    const { transaction, isGone } = this.#begin(schedulingEntity, options.without);
    try {
      const { members, needed: missing, gang } = demandOf(this.#cluster, schedulingEntity);
      const wanted = options.members && new Set(options.members.map(({ uid }) => uid));
      const needed = options.need ?? missing;
      const chosen = members.filter(({ uid }) => !isGone(uid) && wanted?.has(uid) !== false);
      const { asIf } = options;
      const request = {
        profile,
        members: asIf === undefined ? chosen : chosen.map(asIf),
        needed,
        groupState: gang === undefined ? undefined : new CycleState(),
        within: options.within,
        nodeSubsetOf: options.nodeSubsetOf,
        shortages: options.shortages,
        ignoresReservationOf: this.#ignoring(isGone, options),
        spend,
      };
      const plan = yield* this.#planner.steps(request, transaction, budget);
      if (plan.blocked === undefined) this.#planner.unreserve(profile, plan.assignments);
      return {
        fits: plan.assignments.length >= needed,
        plan: plan.assignments.map(({ pod, nodeName }) => ({ pod, nodeName })),
        blocked: plan.blocked,
        isExhaustive: plan.isExhaustive,
        never: plan.never,
      };
    } finally {
      transaction.rollback();
    }
  }

  /** Like `rejectionSteps`, at once. */
  rejectionOf(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    nominations: readonly Nomination[],
    options: RejectionOptions,
  ): Status | undefined {
    return finish(this.rejectionSteps(profile, schedulingEntity, nominations, options, new WorkBudget()));
  }

  /** Returns why these members do not fit together on exactly these nodes; undefined if they fit. */
  *rejectionSteps(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    nominations: readonly Nomination[],
    options: RejectionOptions,
    budget: WorkBudget,
  ): Yielding<Status | undefined> {
    this.#mustNotBePlanning();
    const { without } = options;
    const transaction = this.#cluster.begin();
    try {
      yield* takeOutPods(transaction, without, budget);
      const groupState = schedulingEntity.kind === 'gang' ? new CycleState() : undefined;
      const request = { profile, groupState, ignoresReservationOf: this.#ignoring(isIn(without), options) };
      return yield* new NodeCheck(this.#cluster).rejectionSteps(request, nominations, transaction, budget);
    } finally {
      transaction.rollback();
    }
  }

  /**
   * Opens a transaction without these pods. `isGone`: returns whether a pod, by uid, is gone: it is then not placed, and its reservation does
   * not count.
   */
  #begin(
    schedulingEntity: SchedulingEntity,
    without: DryRunOptions['without'] = [],
  ): { readonly transaction: Transaction; readonly isGone: (uid: string) => boolean } {
    this.#mustNotBePlanning();
    if (without === 'others') {
      const own = ownPods(schedulingEntity);
      return { transaction: this.#cluster.begin({ onlyWith: own.values() }), isGone: (uid) => !own.has(uid) };
    }
    const transaction = this.#cluster.begin();
    const gone = [...without];
    transaction.takeOut(gone);
    return { transaction, isGone: isIn(gone) };
  }

  /** Returns a function that returns whether the reservation of this owner, by uid, does not count. */
  #ignoring(
    isGone: (uid: string) => boolean,
    { ignoresBackfillOf }: Pick<CoreDryRunOptions, 'ignoresBackfillOf'>,
  ): (uid: string) => boolean {
    if (ignoresBackfillOf === undefined) return isGone;
    return (uid) => isGone(uid) || (ignoresBackfillOf(uid) && this.#cluster.reservationOf(uid)?.kind === 'backfill');
  }

  #mustNotBePlanning(): void {
    if (!this.#cluster.isPlanning) return;
    throw new Error(
      'cannot start a dry run while a plan is in progress; call dryRun in PostFilter or between attempts',
    );
  }
}

/** Returns whether a pod, by uid, is one of these. */
function isIn(pods: readonly Pod[]): (uid: string) => boolean {
  if (pods.length === 0) return () => false;
  const uids = new Set(pods.map(({ uid }) => uid));
  return (uid) => uids.has(uid);
}

/**
 * Returns the pods that stay. Pods that are terminating, or belong to a former group of the same name, make way like other pods.
 */
function ownPods(schedulingEntity: SchedulingEntity): ReadonlyMap<string, Pod> {
  if (schedulingEntity.kind === 'pod') return new Map([[schedulingEntity.pod.uid, schedulingEntity.pod]]);
  const { gang } = schedulingEntity;
  if (gang.count('leaving') + gang.count('former') === 0) return gang.members;
  return new Map([...gang.members].filter(([uid, pod]) => !pod.deleting && gang.stateOf(uid) !== 'former'));
}
