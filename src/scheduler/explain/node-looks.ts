import type { Pod } from '../../api/pod.ts';
import type { WorkBudget } from '../../base/work-budget.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { Transaction } from '../../cluster/transaction.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Nomination } from '../../framework/dry-run.ts';
import { notPreselected } from '../../framework/profile.ts';
import type { Profile } from '../../framework/profile.ts';
import type { Status } from '../../framework/status.ts';
import { workPerMember } from '../../framework/work-per-member.ts';
import { filterWithReservations } from '../placement/cache/filter-with-reservations.ts';
import { notSentToExtenders } from '../placement/cache/node-subset.ts';
import type { NodeSubset, NodeSubsetOf } from '../placement/cache/node-subset.ts';
import type { NodeAssignment } from '../placement/planning/plan.ts';
import { unreserveAll } from '../placement/planning/undo-assignments.ts';

/** The member to look at, and the nodes of the siblings that were placed before it. */
export interface NodeLooksRequest {
  readonly profile: Profile;
  readonly pod: Pod;
  readonly isOfGang: boolean;
  readonly siblings: readonly Nomination[];
  readonly nodeSubsetOf?: NodeSubsetOf | undefined;
  /** Returns whether the reservation of this owner, by uid, does not count. */
  readonly ignoresReservationOf?: ((uid: string) => boolean) | undefined;
}

/** One node, as one member finds it. */
export interface NodeLook {
  readonly node: NodeInfo;
  /** Why the first plugin that rejects the pod, beside its siblings, does so; undefined: none does. */
  readonly status: Status | undefined;
  /** The pod would fit without its siblings. */
  readonly isTaken: boolean;
}

/** What `read` may use of the open transaction. */
export interface LookScope {
  readonly looks: readonly NodeLook[];
  /** Returns all plugins that reject the pod on this node. */
  readonly rejectionsOn: (node: NodeInfo) => readonly Status[];
}

/**
 * Looks at every node as one member finds it: first alone, then beside its siblings. Calls `read` while the siblings are placed, and rolls
 * everything back. Asks the plugins node by node, in the order in which a plan asks them, and uses no cached result.
 */
export class NodeLooks {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  *steps<T>(request: NodeLooksRequest, read: (scope: LookScope) => T, budget: WorkBudget): Yielding<T> {
    const { profile, siblings, isOfGang } = request;
    const groupState = isOfGang ? new CycleState() : undefined;
    const transaction = this.#cluster.begin();
    const reserved: NodeAssignment[] = [];
    try {
      const alone = siblings.length === 0 ? undefined : yield* this.#look(request, groupState, transaction, budget);
      for (const { pod, nodeName } of siblings) {
        budget.spend(workPerMember);
        if (budget.isDue) yield;
        const state = new CycleState(groupState);
        profile.preFilter(state, pod);
        const node = this.#cluster.node(nodeName)!;
        transaction.assume(pod, node);
        reserved.push({ pod, nodeName, state });
        profile.reserve(state, pod, node);
      }
      const beside = yield* this.#look(request, groupState, transaction, budget);
      const looks = beside.map((status, index) => ({
        node: this.#cluster.nodes[index]!,
        status,
        isTaken: alone !== undefined && alone[index] === undefined && status !== undefined,
      }));
      return read({ looks, rejectionsOn: (node) => this.#rejectionsOn(request, groupState, transaction, node) });
    } finally {
      unreserveAll(profile, reserved);
      transaction.rollback();
    }
  }

  *#look(
    request: NodeLooksRequest,
    groupState: CycleState | undefined,
    transaction: Transaction,
    budget: WorkBudget,
  ): Yielding<readonly (Status | undefined)[]> {
    const { profile, pod, nodeSubsetOf } = request;
    const state = new CycleState(groupState);
    const { status: rejected, ...answer } = profile.preFilter(state, pod);
    const nodeNames = 'nodeNames' in answer ? answer.nodeNames : undefined;
    const subset = nodeSubsetOf?.(pod);
    const statuses: (Status | undefined)[] = [];
    for (const node of this.#cluster.nodes) {
      statuses.push(
        rejected ??
          this.#filter(request, state, node, profile.localFilters) ??
          exclusionOf(node, nodeNames, subset) ??
          this.#filter(request, state, node, profile.otherFilters) ??
          reserveRejection(profile, state, pod, node, transaction),
      );
      budget.spend(1);
      if (budget.isDue) yield;
    }
    return statuses;
  }

  #filter(
    { profile, pod, ignoresReservationOf }: NodeLooksRequest,
    state: CycleState,
    node: NodeInfo,
    filters: Profile['localFilters'],
  ): Status | undefined {
    const isFree = (uid: string): boolean => this.#cluster.isAssumed(uid) || ignoresReservationOf?.(uid) === true;
    return filterWithReservations(profile, filters, state, pod, node, isFree);
  }

  #rejectionsOn(
    request: NodeLooksRequest,
    groupState: CycleState | undefined,
    transaction: Transaction,
    node: NodeInfo,
  ): readonly Status[] {
    const { profile, pod } = request;
    const state = new CycleState(groupState);
    const { status, ...answer } = profile.preFilter(state, pod);
    if (status !== undefined) return [status];
    const nodeNames = 'nodeNames' in answer ? answer.nodeNames : undefined;
    const excluded = exclusionOf(node, nodeNames, request.nodeSubsetOf?.(pod));
    const found = [...profile.localFilters, ...profile.otherFilters].flatMap(
      (filter) => this.#filter(request, state, node, [filter]) ?? [],
    );
    if (excluded !== undefined) return [...found, excluded];
    return found.length > 0 ? found : [reserveRejection(profile, state, pod, node, transaction) ?? []].flat();
  }
}

/** Returns the rejection by Reserve, which a plan asks of a node that passes all filters. Changes nothing. */
function reserveRejection(
  profile: Profile,
  state: CycleState,
  pod: Pod,
  node: NodeInfo,
  transaction: Transaction,
): Status | undefined {
  const savepoint = transaction.savepoint();
  transaction.assume(pod, node);
  const rejection = profile.reserve(state, pod, node);
  profile.unreserve(state, pod, node.name);
  transaction.rollbackTo(savepoint);
  return rejection;
}

/** Returns the rejection by PreFilter's node names, or by the subset of nodes that the pod may use. */
function exclusionOf(
  { name }: NodeInfo,
  nodeNames: ReadonlySet<string> | undefined,
  subset: NodeSubset | undefined,
): Status | undefined {
  if (nodeNames?.has(name) === false) return notPreselected;
  return subset?.allowed.has(name) === false ? (subset.rejected.get(name) ?? notSentToExtenders) : undefined;
}
