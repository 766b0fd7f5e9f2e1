import type { Pod } from '../../../api/pod.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { notPreselected } from '../../../framework/profile.ts';
import type { Profile } from '../../../framework/profile.ts';
import { Status } from '../../../framework/status.ts';
import type { Nomination } from '../../../framework/dry-run.ts';
import { filterWithReservations } from '../cache/filter-with-reservations.ts';
import type { NodeAssignment, PlanRequest } from './planner.ts';

/** Whether pods fit on nodes that somebody else has chosen: no ranking, no score, no Reserve. */
export class NodeCheck {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /**
   * Does an assumed placement still pass Filter, its own room left aside? Plugins that read other nodes are asked PreFilter
   * first. Undefined: yes. Otherwise why not, also when the pod is no longer assumed or the node gone. `since`: as of that generation of the
   * cluster it did, so nobody need look at a node that has not changed; absent: that is not known.
   */
  stillFits(profile: Profile, { pod, nodeName, state }: NodeAssignment, since = -1): Status | undefined {
    if (!this.#cluster.isAssumed(pod.uid)) {
      return new Status('Unschedulable', `pod ${pod.key} was deleted or bound elsewhere`);
    }
    const node = this.#cluster.node(nodeName);
    if (node?.pods.has(pod.uid) !== true) return new Status('Unschedulable', `node ${nodeName} is gone`);
    if (node.generation <= since && profile.skipOthers(pod)) return undefined;
    // Nothing is changed in it; while it is open nobody can make another plan on what is not so.
    const transaction = this.#cluster.begin();
    const { pods, before } = node.takeOff([pod]);
    try {
      // What PreFilter computed of other nodes may no longer be so, and counts the pod itself in.
      const anew = new CycleState(state.group);
      return (
        profile.filter(profile.localFilters, state, pod, node) ??
        profile.preFilters.othersReject(anew, pod, nodeName) ??
        profile.filter(profile.otherFilters, anew, pod, node)
      );
    } finally {
      node.restore(before, { came: pods });
      transaction.rollback();
    }
  }

  /**
   * Do these pods fit on just these nodes, one after the other in this order? They are assumed in the transaction as far as they
   * do. Answers why the first does not that does not.
   */
  placeAs(
    { profile, groupState, isGone }: Pick<PlanRequest, 'profile' | 'groupState' | 'isGone'>,
    nominations: readonly Nomination[],
    transaction: Transaction,
  ): Status | undefined {
    const reserved: NodeAssignment[] = [];
    try {
      for (const { pod, nodeName } of nominations) {
        const state = new CycleState(groupState);
        const rejection = this.#placeOn(nodeName, pod, state, profile, isGone, transaction);
        if (rejection !== undefined) return rejection;
        reserved.push({ pod, nodeName, state });
        const answer = profile.reserve(state, pod, this.#cluster.node(nodeName)!);
        if (answer !== undefined) return answer;
      }
      return undefined;
    } finally {
      for (const { state, pod, nodeName } of reserved.reverse()) profile.unreserve(state, pod, nodeName);
    }
  }

  #placeOn(
    nodeName: string,
    pod: Pod,
    state: CycleState,
    profile: Profile,
    isGone: PlanRequest['isGone'],
    transaction: Transaction,
  ): Status | undefined {
    const node = this.#cluster.node(nodeName);
    if (node === undefined) return new Status('Unschedulable', `node ${nodeName} is not known`);
    const answer = profile.preFilter(state, pod);
    if (answer.status !== undefined) return answer.status;
    if (answer.nodeNames?.has(nodeName) === false) return notPreselected;
    const hasNoReservation = (uid: string): boolean => this.#cluster.isAssumed(uid) || isGone?.(uid) === true;
    for (const filters of [profile.localFilters, profile.otherFilters]) {
      const rejection = filterWithReservations(profile, filters, state, pod, node, hasNoReservation);
      if (rejection !== undefined) return rejection;
    }
    transaction.assume(pod, node);
    return undefined;
  }
}
