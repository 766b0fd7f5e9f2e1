import type { Pod } from '../../../api/pod.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { NodeAssignment, Plan, Planner, PlanRequest } from '../../placement/planning/planner.ts';
import { workPerShortStep } from '../../../framework/work-per-member.ts';
import { takeOutPods } from '../../placement/planning/take-out-pods.ts';
import { undoAssignments } from '../../placement/planning/undo-assignments.ts';
import type { EvictablePod } from './evictable-pod.ts';
import { PutBack } from './put-back.ts';
import type { SearchWork } from './search-work.ts';
import type { MemberClass } from './victim-estimate.ts';
import type { VictimSearchRequest } from './victim-search-request.ts';

/** A complete plan without these victims. */
export interface ConfirmedVictims {
  readonly assignments: readonly NodeAssignment[];
  readonly victims: readonly EvictablePod[];
  /** Pods that must be gone too, and go in any case. */
  readonly going: readonly Pod[];
}

export interface VictimPlansOptions {
  readonly cluster: Cluster;
  readonly planner: Planner;
  readonly request: VictimSearchRequest;
  /** Open; the caller rolls it back after `undo` or `abandon`. */
  readonly transaction: Transaction;
  /** Pods that are terminating, or about to be evicted for others. No plan counts on their staying. */
  readonly going: readonly Pod[];
  readonly work: SearchWork;
}

/** The plans of one search. Each begins in the state before the search, so that none depends on another; the last one may be in effect. */
export class VictimPlans {
  readonly #options: VictimPlansOptions;
  readonly #budget: WorkBudget;
  /** The members of the last plan, for which Reserve was called. */
  #reserved: readonly NodeAssignment[] = [];

  constructor(options: VictimPlansOptions) {
    this.#options = options;
    this.#budget = options.work.budget;
  }

  /** True if no further plan may be made. */
  get areExhausted(): boolean {
    return this.#options.work.plans >= this.#options.request.policy.maxPlans;
  }

  /** Plans without these pods, on these nodes only. An incomplete plan changes nothing. */
  *plan(victims: readonly EvictablePod[], within?: ReadonlySet<string>): Yielding<Plan> {
    const { planner, request, transaction, going, work } = this.#options;
    const { profile, demand, nodeSubsetOf, ignoresReservationOf } = request;
    const { members, needed, signed, gang } = demand;
    yield* this.undo();
    work.plans++;
    yield* takeOutPods(transaction, [...going, ...victims.map(({ pod }) => pod)], this.#budget);
    const planRequest: PlanRequest = {
      ...{ profile, members, needed, signed, within, nodeSubsetOf, ignoresReservationOf },
      groupState: gang === undefined ? undefined : new CycleState(),
      spend: (steps) => work.spend(steps),
    };
    const plan = yield* planner.steps(planRequest, transaction, this.#budget);
    if (plan.blocked === undefined) this.#reserved = plan.assignments;
    else {
      yield* this.undo();
      for (const name of plan.unschedulablePlugins) work.unschedulablePlugins.add(name);
    }
    return plan;
  }

  /** Like `plan`, and then puts victims back that the plan does not need. Returns undefined if the entity does not fit. */
  *confirm(victims: readonly EvictablePod[], within?: ReadonlySet<string>): Yielding<ConfirmedVictims | undefined> {
    const { blocked, assignments } = yield* this.plan(victims, within);
    return blocked === undefined ? yield* this.putBack(victims, assignments) : undefined;
  }

  /** Puts back the victims, and the pods that go in any case, that the last plan does not need to be gone. Returns the rest. */
  *putBack(victims: readonly EvictablePod[], assignments: readonly NodeAssignment[]): Yielding<ConfirmedVictims> {
    const { cluster, request, transaction, going } = this.#options;
    const { profile, policy } = request;
    if (this.#budget.lacks(assignments.length * workPerShortStep)) yield;
    const putBack = new PutBack({ cluster, profile, transaction, assignments, policy });
    const left = yield* putBack.run(victims, this.#budget);
    const awaited = yield* putBack.run(going.map(asVictim), this.#budget);
    return { assignments, victims: left, going: awaited.map(({ pod }) => pod) };
  }

  /**
   * Returns the classes with only those nodes that the plugins which read other nodes accept now. Members may need pods of lower priority on
   * other nodes, such as by affinity, so they may fit only if those pods stay.
   */
  *acceptedNow(classes: readonly MemberClass[]): Yielding<readonly MemberClass[]> {
    const { request, transaction, going, work } = this.#options;
    const { profile } = request;
    yield* this.undo();
    yield* takeOutPods(transaction, going, this.#budget);
    const accepted: MemberClass[] = [];
    for (const each of classes) {
      const state = new CycleState();
      const isRejected = profile.preFilter(state, each.pod).status !== undefined;
      const accepts = (node: NodeInfo): boolean =>
        profile.filter(profile.otherFilters, state, each.pod, node) === undefined;
      accepted.push({ ...each, nodes: isRejected ? [] : each.nodes.filter(accepts) });
      work.spend(each.nodes.length);
      this.#budget.spend(each.nodes.length);
      if (this.#budget.isDue) yield;
    }
    yield* this.undo();
    return accepted;
  }

  /** Restores the state before the search: undoes the last plan, and puts all pods back. Runs in steps. */
  *undo(): Yielding<void> {
    const { request, transaction } = this.#options;
    const reserved = this.#reserved;
    this.#reserved = [];
    yield* undoAssignments(request.profile, reserved, transaction, 0, this.#budget);
  }

  /** Like `undo`, but leaves the transaction to the caller. */
  abandon(): void {
    this.#options.planner.unreserve(this.#options.request.profile, this.#reserved);
    this.#reserved = [];
  }
}

/** Pods that go in any case are put back like pods without a group. */
function asVictim(pod: Pod): EvictablePod {
  const unit = { gang: undefined, pods: [pod], priority: pod.priority, surplus: 1, mayGoWhole: true };
  return { pod, unit, isSpare: true };
}
