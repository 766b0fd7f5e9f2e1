import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import type { EvictionUnit } from '../../../framework/preemption-policy.ts';
import type { Profile } from '../../../framework/profile.ts';
import { NodeCheck } from '../../placement/planning/node-check.ts';
import type { NodeAssignment } from '../../placement/planning/planner.ts';
import type { EvictablePod } from './eviction-units.ts';
import { mostImportantFirst } from './importance.ts';

/** The plan whose members must keep fitting. */
interface PlacedMembers {
  readonly cluster: Cluster;
  readonly profile: Profile;
  readonly transaction: Transaction;
  readonly assignments: readonly NodeAssignment[];
}

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
  /** Members that plugins which read other nodes check, so that any pod may be in their way. */
  readonly #dependent: readonly NodeAssignment[];

  constructor(members: PlacedMembers) {
    const { cluster, profile, assignments } = members;
    this.#members = members;
    this.#check = new NodeCheck(cluster);
    this.#byNode = Map.groupBy(assignments, ({ nodeName }) => nodeName);
    this.#dependent = assignments.filter(({ pod }) => !profile.skipOthers(pod));
  }

  /** Runs in steps. */
  *run(victims: readonly EvictablePod[], budget: WorkBudget): Yielding<readonly EvictablePod[]> {
    const left: EvictablePod[] = [];
    const byUnit = [...Map.groupBy(victims, ({ unit }) => unit)];
    const sorted = byUnit.map(([unit, pods]) => ({ unit, pods: pods.toSorted(mostImportantFirst) }));
    sorted.sort((a, b) => mostImportantFirst(a.pods[0]!, b.pods[0]!));
    for (const { unit, pods } of sorted) {
      budget.spend(this.#workFor(pods));
      if (budget.isDue) yield;
      left.push(...this.#remaining(unit, pods));
    }
    return left;
  }

  /** Puts back as many pods of one unit as possible: all, all but some that may go alone, or none. Returns the rest. */
  #remaining(unit: EvictionUnit, pods: readonly EvictablePod[]): readonly EvictablePod[] {
    const { transaction } = this.#members;
    const before = transaction.savepoint();
    if (this.#fitWith(pods)) return [];
    const refused: EvictablePod[] = [];
    for (const each of pods) {
      if (this.#fitWith([each])) continue;
      refused.push({ ...each, isSpare: true });
      if (refused.length > unit.surplus) {
        transaction.rollbackTo(before);
        return pods;
      }
    }
    return refused;
  }

  /** Puts the pods back; takes them out again if a member then no longer fits. Returns whether all members fit. */
  #fitWith(pods: readonly EvictablePod[]): boolean {
    const { profile, transaction } = this.#members;
    const before = transaction.savepoint();
    transaction.putBack(pods.map(({ pod }) => pod));
    const nodes = new Set(pods.map(({ pod }) => pod.nodeName));
    const affected = new Set(this.#dependent);
    for (const name of nodes) for (const assignment of this.#byNode.get(name) ?? []) affected.add(assignment);
    for (const assignment of affected) {
      if (this.#check.rejectionOf({ profile }, assignment) === undefined) continue;
      transaction.rollbackTo(before);
      return false;
    }
    return true;
  }

  #workFor(pods: readonly EvictablePod[]): number {
    let members = this.#dependent.length;
    for (const name of new Set(pods.map(({ pod }) => pod.nodeName))) members += this.#byNode.get(name)?.length ?? 0;
    return pods.length + 10 * members;
  }
}
