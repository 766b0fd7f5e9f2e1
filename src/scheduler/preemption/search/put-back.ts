import type { Pod } from '../../../api/pod.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import type { PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import type { Profile } from '../../../framework/profile.ts';
import { workPerShortStep } from '../../../framework/work-per-member.ts';
import { NodeCheck } from '../../placement/planning/node-check.ts';
import type { NodeAssignment } from '../../placement/planning/planner.ts';
import { BudgetUse } from './budget-use.ts';
import type { EvictablePod } from './evictable-pod.ts';
import { mostImportantFirst } from './importance.ts';

/** The plan whose members must keep fitting. */
interface PlacedMembers {
  readonly cluster: Cluster;
  readonly profile: Profile;
  readonly transaction: Transaction;
  readonly assignments: readonly NodeAssignment[];
  readonly policy: PreemptionPolicy;
}

/** Work to check a member on its node, and of one that depends on pods of other nodes. */
const workPerCheck = 20;
const workPerDependent = 500;

/**
 * Puts victims back that the plan does not need, the most important first, and returns the others. The victims have been taken out in the open
 * transaction, in which the members are placed. Of a unit that goes whole, all pods are victims.
 *
 * If evicting more pods never makes a member unschedulable, each victim is necessary.
 */
export class PutBack {
  readonly #members: PlacedMembers;
  readonly #check: NodeCheck;
  /** node name -> members placed there */
  readonly #byNode: ReadonlyMap<string, readonly NodeAssignment[]>;

  constructor(members: PlacedMembers) {
    const { cluster, assignments } = members;
    this.#members = members;
    this.#check = new NodeCheck(cluster);
    this.#byNode = Map.groupBy(assignments, ({ nodeName }) => nodeName);
  }

  /** Runs in steps. */
  *run(victims: readonly EvictablePod[], budget: WorkBudget): Yielding<readonly EvictablePod[]> {
    const units = [...Map.groupBy(victims, ({ unit }) => unit).values()].map((pods) =>
      pods.toSorted(mostImportantFirst),
    );
    if (budget.lacks(victims.length * workPerShortStep)) yield;
    units.sort(([a], [b]) => mostImportantFirst(a!, b!));
    const { policy } = this.#members;
    const podsOf = (unit: readonly EvictablePod[]): readonly Pod[] => unit.map(({ pod }) => pod);
    return yield* this.#settle(new BudgetUse(policy).exceedingFirst(units, podsOf), budget);
  }

  /**
   * Puts back the pods of units, the most important unit first, and returns the rest. First heeds only the members on the pods' own nodes. If
   * other members then no longer fit, starts over with each half of the units.
   */
  *#settle(units: readonly (readonly EvictablePod[])[], budget: WorkBudget): Yielding<readonly EvictablePod[]> {
    const before = this.#members.transaction.savepoint();
    const left: EvictablePod[] = [];
    let isAnyBack = false;
    for (const pods of units) {
      budget.spend(this.#workFor(pods));
      if (budget.isDue) yield;
      const refused = this.#refused(pods);
      left.push(...refused);
      isAnyBack ||= refused.length < pods.length;
    }
    if (!isAnyBack || (yield* this.#othersFit(budget))) return left;
    this.#members.transaction.rollbackTo(before);
    if (units.length === 1) return yield* this.#refusedByAny(units[0]!, budget);
    const middle = units.length >> 1;
    const first = yield* this.#settle(units.slice(0, middle), budget);
    return [...first, ...(yield* this.#settle(units.slice(middle), budget))];
  }

  /** Puts back as many pods of one unit as possible: all, all but some that may go alone, or none. Returns the others. */
  #refused(pods: readonly EvictablePod[]): readonly EvictablePod[] {
    if (this.#putBack(pods)) return [];
    const { transaction } = this.#members;
    const before = transaction.savepoint();
    for (const order of this.#ordersOf(pods)) {
      const refused: EvictablePod[] = [];
      for (const each of order) if (!this.#putBack([each]) && refused.push(asSpare(each)) > each.unit.surplus) break;
      if (refused.length <= pods[0]!.unit.surplus) return refused;
      transaction.rollbackTo(before);
    }
    return pods;
  }

  /** Like `#refused`, but heeds all members. The pods cannot all go back. */
  *#refusedByAny(pods: readonly EvictablePod[], budget: WorkBudget): Yielding<readonly EvictablePod[]> {
    const { transaction } = this.#members;
    const start = transaction.savepoint();
    for (const order of this.#ordersOf(pods)) {
      const refused: EvictablePod[] = [];
      for (const each of order) {
        const before = transaction.savepoint();
        if (this.#putBack([each]) && (yield* this.#othersFit(budget))) continue;
        transaction.rollbackTo(before);
        if (refused.push(asSpare(each)) > each.unit.surplus) break;
      }
      if (refused.length <= pods[0]!.unit.surplus) return refused;
      transaction.rollbackTo(start);
    }
    return pods;
  }

  /**
   * Returns the orders in which to put back pods that do not all fit, but of which some may go alone: the most important first. If too many are
   * then left, the smallest first.
   */
  #ordersOf(pods: readonly EvictablePod[]): readonly (readonly EvictablePod[])[] {
    const { surplus } = pods[0]!.unit;
    if (surplus === 0 || pods.length === 1) return [];
    if (surplus >= pods.length) return [pods];
    const sizes = new Map(pods.map((each) => [each, this.#sizeOf(each)]));
    return [pods, pods.toSorted((a, b) => sizes.get(a)! - sizes.get(b)!)];
  }

  /** Returns which share of its node the pod requests, summed over resources; 0 on a node without members. */
  #sizeOf({ pod: { nodeName, template } }: EvictablePod): number {
    if (!this.#byNode.has(nodeName)) return 0;
    const { allocatable } = this.#members.cluster.node(nodeName)!;
    const { ids, amounts } = template.requests;
    return ids.reduce((sum, id, i) => sum + amounts[i]! / Math.max(1, allocatable.of(id)), 0);
  }

  /** Puts the pods back, unless a member on one of their nodes then no longer fits. */
  #putBack(pods: readonly EvictablePod[]): boolean {
    const { profile, transaction } = this.#members;
    const before = transaction.savepoint();
    transaction.putBack(pods.map(({ pod }) => pod));
    for (const name of new Set(pods.map(({ pod }) => pod.nodeName))) {
      for (const assignment of this.#byNode.get(name) ?? []) {
        if (this.#check.rejectionOf(profile, assignment) === undefined) continue;
        transaction.rollbackTo(before);
        return false;
      }
    }
    return true;
  }

  /** Returns whether all members fit that depend on pods of other nodes. Which do is decided by the pods that are back. */
  *#othersFit(budget: WorkBudget): Yielding<boolean> {
    const { profile, assignments } = this.#members;
    for (const assignment of assignments) {
      const isDependent = !profile.skipOthers(assignment.pod);
      budget.spend(isDependent ? workPerDependent : workPerCheck);
      if (budget.isDue) yield;
      if (isDependent && this.#check.rejectionByOthersOf(profile, assignment) !== undefined) return false;
    }
    return true;
  }

  #workFor(pods: readonly EvictablePod[]): number {
    let work = pods.length;
    for (const { pod } of pods) work += workPerCheck * (this.#byNode.get(pod.nodeName)?.length ?? 0);
    return work;
  }
}

function asSpare(victim: EvictablePod): EvictablePod {
  return { ...victim, isSpare: true };
}
