import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
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
    const units = [...Map.groupBy(victims, ({ unit }) => unit).values()].map((pods) => pods.toSorted(mostImportantFirst));
    units.sort(([a], [b]) => mostImportantFirst(a!, b!));
    return yield* this.#settle(units, budget);
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
    if (units.length === 1) return units[0]!;
    const middle = units.length >> 1;
    const first = yield* this.#settle(units.slice(0, middle), budget);
    return [...first, ...(yield* this.#settle(units.slice(middle), budget))];
  }

  /** Puts back as many pods of one unit as possible: all, all but some that may go alone, or none. Returns the others. */
  #refused(pods: readonly EvictablePod[]): readonly EvictablePod[] {
    const { transaction } = this.#members;
    const before = transaction.savepoint();
    if (this.#putBack(pods)) return [];
    const { unit } = pods[0]!;
    const refused: EvictablePod[] = [];
    for (const each of pods.length === 1 ? [] : pods) {
      if (this.#putBack([each])) continue;
      refused.push({ ...each, isSpare: true });
      if (refused.length > unit.surplus) break;
    }
    if (refused.length > 0 && refused.length <= unit.surplus) return refused;
    transaction.rollbackTo(before);
    return pods;
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

  /** Returns whether all members fit that depend on pods of other nodes. */
  *#othersFit(budget: WorkBudget): Yielding<boolean> {
    for (const assignment of this.#dependent) {
      budget.spend(workPerDependent);
      if (budget.isDue) yield;
      if (this.#check.rejectionByOthersOf(this.#members.profile, assignment) !== undefined) return false;
    }
    return true;
  }

  #workFor(pods: readonly EvictablePod[]): number {
    let work = pods.length;
    for (const { pod } of pods) work += workPerCheck * (this.#byNode.get(pod.nodeName)?.length ?? 0);
    return work;
  }
}
