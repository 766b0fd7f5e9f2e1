import type { Pod } from '../../../api/pod.ts';
import { WorkBudget } from '../../../base/work-budget.ts';
import { finish } from '../../../base/yielding.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { notPreselected } from '../../../framework/profile.ts';
import type { Profile } from '../../../framework/profile.ts';
import { Status } from '../../../framework/status.ts';
import type { Nomination } from '../../../framework/dry-run.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';
import { filterWithReservations } from '../cache/filter-with-reservations.ts';
import type { NodeAssignment, PlanRequest } from './plan.ts';
import { undoAssignments, unreserveAll } from './undo-assignments.ts';

/** The request for pods that are placed on given nodes. */
type PlacedRequest = Pick<PlanRequest, 'profile' | 'groupState' | 'ignoresReservationOf'>;

/**
 * Checks whether pods fit on nodes that a caller has already chosen. Runs no ranking, no Score; only `rejectionSteps` runs Reserve.
 */
export class NodeCheck {
  readonly #cluster: Cluster;
  /** Returns whether a reservation no longer keeps off a pod that is on the node already. A predicted start takes such a pod into account. */
  readonly #isSettled = (uid: string): boolean =>
    this.#cluster.isAssumed(uid) || this.#cluster.reservationOf(uid)?.kind === 'backfill';

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /**
   * Returns which assumed pods no longer pass Filter on their nodes, not counting their own requests, and why. Runs PreFilter first for
   * plugins that read other nodes. A pod that is no longer assumed, or a missing node, is a reason too.
   * `since`: the cluster generation at which the pods last passed, so an unchanged node needs no check. Absent: unknown.
   * `planned`: all assignments of the plan, in the order of placement; `assignments` are some of them, in the same order. As in the plan, a
   * pod need not fit beside members placed after it, if it fits without them: with another nodeSelector, such a member may exceed the
   * maxSkew of this pod within its own.
   *
   * During a pause of an attempt, only plugins run that read no other node. The others may have reserved something for the unfinished plan.
   */
  problems(
    profile: Profile,
    assignments: readonly NodeAssignment[],
    since = -1,
    planned: readonly NodeAssignment[] = [],
  ): ReadonlyMap<NodeAssignment, Status> {
    const problems = new Map<NodeAssignment, Status>();
    const rejectedBesideLater: NodeAssignment[] = [];
    const { isPlanning } = this.#cluster;
    // The transaction makes no lasting change. While it is open, no other plan can start on this temporary state.
    const transaction = isPlanning ? undefined : this.#cluster.begin();
    try {
      for (const assignment of assignments) {
        const { pod, state } = assignment;
        const node = this.#nodeOf(assignment);
        if (node instanceof Status) {
          problems.set(assignment, node);
          continue;
        }
        if (node.generation <= since && (isPlanning || profile.skipOthers(pod))) continue;
        const { pods, before } = node.takeOff([pod]);
        try {
          let problem = profile.filter(profile.localFilters, state, pod, node);
          if (problem === undefined && !isPlanning) {
            problem = this.#othersReject(profile, assignment);
            // The order makes no difference between members of one template.
            const isBeforeOthers = (): boolean =>
              planned.findLastIndex((other) => other.pod.template !== pod.template) > planned.indexOf(assignment);
            if (problem !== undefined && isBeforeOthers()) rejectedBesideLater.push(assignment);
          }
          if (problem !== undefined) problems.set(assignment, problem);
        } finally {
          node.restore(before, { came: pods });
        }
      }
      this.#checkWithoutLater(profile, rejectedBesideLater, planned, problems);
    } finally {
      transaction?.rollback();
    }
    return problems;
  }

  /** Returns the node on which the pod is assumed, or a Status if there is none. */
  #nodeOf({ pod, nodeName }: NodeAssignment): NodeInfo | Status {
    if (!this.#cluster.isAssumed(pod.uid)) {
      return new Status('Unschedulable', `pod ${pod.key} was deleted or bound elsewhere`);
    }
    const node = this.#cluster.node(nodeName);
    return node?.pods.has(pod.uid) === true ? node : new Status('Unschedulable', 'the chosen node is gone');
  }

  /** Runs the plugins that read other nodes. */
  #othersReject(profile: Profile, { pod, nodeName, state }: NodeAssignment): Status | undefined {
    // PreFilter's results about other nodes may be outdated, and they count the pod itself.
    const freshState = new CycleState(state.group);
    return (
      profile.preFilters.othersReject(freshState, pod, nodeName) ??
      profile.filter(profile.otherFilters, freshState, pod, this.#cluster.node(nodeName)!)
    );
  }

  /** Checks each assignment again while no member placed after it is on its node. Updates `problems`. */
  #checkWithoutLater(
    profile: Profile,
    assignments: readonly NodeAssignment[],
    planned: readonly NodeAssignment[],
    problems: Map<NodeAssignment, Status>,
  ): void {
    const restores: (() => void)[] = [];
    let end = planned.length;
    try {
      // From the last to the first, so that each member is taken off once.
      for (const assignment of assignments.toReversed()) {
        const position = planned.indexOf(assignment);
        for (const [nodeName, there] of Map.groupBy(planned.slice(position, end), (each) => each.nodeName)) {
          const node = this.#cluster.node(nodeName);
          const present = there.map(({ pod }) => pod).filter(({ uid }) => node?.pods.has(uid) === true);
          if (node === undefined || present.length === 0) continue;
          const { pods, before } = node.takeOff(present);
          restores.push(() => node.restore(before, { came: pods }));
        }
        end = position;
        const problem = this.#othersReject(profile, assignment);
        if (problem === undefined) problems.delete(assignment);
        else problems.set(assignment, problem);
      }
    } finally {
      for (const restore of restores.reverse()) restore();
    }
  }

  /**
   * Returns why the plugins that read one node at a time, or the reservations there, now reject a pod that the open transaction has placed, not
   * counting its own requests.
   */
  rejectionOf(profile: Profile, assignment: NodeAssignment): Status | undefined {
    const { pod, state } = assignment;
    return this.#without(assignment, (node) =>
      filterWithReservations(profile, profile.localFilters, state, pod, node, this.#isSettled),
    );
  }

  /** Like `rejectionOf`, for the plugins that read other nodes. */
  rejectionByOthersOf(profile: Profile, assignment: NodeAssignment): Status | undefined {
    const { pod, nodeName } = assignment;
    // PreFilter's results about other nodes may be outdated, and they count the pod itself.
    const state = new CycleState(assignment.state.group);
    return this.#without(
      assignment,
      (node) =>
        profile.preFilters.othersReject(state, pod, nodeName) ??
        filterWithReservations(profile, profile.otherFilters, state, pod, node, this.#isSettled),
    );
  }

  #without<T>({ pod, nodeName }: NodeAssignment, read: (node: NodeInfo) => T): T {
    const node = this.#cluster.node(nodeName)!;
    const { pods, before } = node.takeOff([pod]);
    try {
      return read(node);
    } finally {
      node.restore(before, { came: pods });
    }
  }

  /** Like `rejectionSteps`, at once. */
  rejectionTogether(
    request: PlacedRequest,
    nominations: readonly Nomination[],
    transaction: Transaction,
  ): Status | undefined {
    return finish(this.rejectionSteps(request, nominations, transaction, new WorkBudget()));
  }

  /**
   * Places the pods on exactly these nodes, one by one in this order, and undoes it. Returns why the first pod that does not fit is
   * rejected; undefined if all fit. If it throws or is abandoned, the caller must roll the transaction back.
   */
  *rejectionSteps(
    request: PlacedRequest,
    nominations: readonly Nomination[],
    transaction: Transaction,
    budget: WorkBudget,
  ): Yielding<Status | undefined> {
    const { profile } = request;
    const before = transaction.savepoint();
    const reserved: NodeAssignment[] = [];
    let isPlacing = true;
    try {
      const rejection = yield* this.#placeAll(request, nominations, transaction, reserved, budget);
      isPlacing = false;
      yield* undoAssignments(profile, reserved, transaction, before, budget);
      return rejection;
    } finally {
      if (isPlacing) unreserveAll(profile, reserved);
    }
  }

  /** Adds the pods for which it calls Reserve to `reserved`. */
  *#placeAll(
    { profile, groupState, ignoresReservationOf }: PlacedRequest,
    nominations: readonly Nomination[],
    transaction: Transaction,
    reserved: NodeAssignment[],
    budget: WorkBudget,
  ): Yielding<Status | undefined> {
    for (const { pod, nodeName } of nominations) {
      budget.spend(workPerMember);
      if (budget.isDue) yield;
      const state = new CycleState(groupState);
      const rejection = this.#placeOn(nodeName, pod, state, profile, ignoresReservationOf, transaction);
      if (rejection !== undefined) return rejection;
      reserved.push({ pod, nodeName, state });
      const answer = profile.reserve(state, pod, this.#cluster.node(nodeName)!);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  #placeOn(
    nodeName: string,
    pod: Pod,
    state: CycleState,
    profile: Profile,
    isIgnored: PlacedRequest['ignoresReservationOf'],
    transaction: Transaction,
  ): Status | undefined {
    const node = this.#cluster.node(nodeName);
    if (node === undefined) return new Status('Unschedulable', 'the chosen node was not found');
    const answer = profile.preFilter(state, pod);
    if (answer.status !== undefined) return answer.status;
    if (answer.nodeNames?.has(nodeName) === false) return notPreselected;
    const hasNoReservation = (uid: string): boolean => this.#cluster.isAssumed(uid) || isIgnored?.(uid) === true;
    for (const filters of [profile.localFilters, profile.otherFilters]) {
      const rejection = filterWithReservations(profile, filters, state, pod, node, hasNoReservation);
      if (rejection !== undefined) return rejection;
    }
    transaction.assume(pod, node);
    return undefined;
  }
}
