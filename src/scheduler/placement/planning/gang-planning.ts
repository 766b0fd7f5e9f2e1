import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Savepoint } from '../../../cluster/transaction.ts';
import { failureIn } from '../../../framework/diagnosis.ts';
import { batchOf } from './batch.ts';
import type { Batch, ClassContext } from './batch.ts';
import { compareSizes } from './bin-packing-order.ts';
import { podClassesOf } from './pod-classes.ts';
import { AssignmentPass } from './assignment-pass.ts';
import type { NodeAssignment, Plan } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';
import { domainsByFreeCapacity } from './domains-by-free-capacity.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';

/**
 * Maximum of members times topology domains for which every domain is tried in both orders. Otherwise the rejection of 1,000 members of
 * different classes would take three times as long in 100 domains.
 */
const maxPlacementsInBothOrders = 10_000;

/** One run of the planner: the orders and node sets in which it tries to place the members. See `Planner.plan`. */
export class GangPlanning {
  readonly #scope: PlanScope;
  #assignments: readonly NodeAssignment[] = [];

  constructor(scope: Omit<PlanScope, 'indexes'>) {
    const { cluster, request } = scope;
    this.#scope = { ...scope, indexes: request.within && indexesOf(cluster, request.within) };
  }

  /** Runs in steps of one pass over the nodes at most. If it throws or is abandoned, no member stays reserved. */
  *run(): Yielding<Plan> {
    let isComplete = false;
    try {
      const plan = yield* this.#plan();
      isComplete = true;
      return plan;
    } finally {
      if (!isComplete) this.#unreserve();
    }
  }

  /** Calls Unreserve for all placed members, in reverse order. */
  #unreserve(): void {
    const { profile } = this.#scope.request;
    for (const { state, pod, nodeName } of this.#assignments.toReversed()) profile.unreserve(state, pod, nodeName);
    this.#assignments = [];
  }

  *#plan(): Yielding<Plan> {
    const before = this.#scope.transaction.savepoint();
    const plan = yield* this.#placeInOrders(this.#scope, before, true);
    if (isFinal(plan)) return plan;
    const within = yield* this.#placeWithinDomains(before);
    return within ?? { ...plan, assignments: this.#assignments };
  }

  /** Places the hardest members first. They may take capacity that is enough for easier ones; `inBothOrders` then tries the easiest first. */
  *#placeInOrders(scope: PlanScope, before: Savepoint, inBothOrders: boolean): Yielding<Plan> {
    const { members, needed } = scope.request;
    const hardestFirst = yield* this.#inOrder(scope, yield* this.#contexts());
    const first = yield* this.#place(scope, hardestFirst);
    if (!inBothOrders || isFinal(first) || members.length === needed || hardestFirst.length < 2) return first;
    this.#startOver(before);
    const easiestFirst = hardestFirst.toReversed().map(({ context }) => context);
    const second = yield* this.#place(scope, yield* this.#batchesOf(scope, easiestFirst));
    if (isCompleteOrFailed(second)) return second;
    return {
      ...first,
      assignments: this.#assignments,
      unschedulablePlugins: new Set([...first.unschedulablePlugins, ...second.unschedulablePlugins]),
      pending: new Set([...first.pending, ...second.pending]),
    };
  }

  /**
   * Retries within one topology domain after another: the first member may have taken a node in a domain that is too full for the
   * rest.
   */
  *#placeWithinDomains(before: Savepoint): Yielding<Plan | undefined> {
    const { cluster, request, work, indexes: allowed } = this.#scope;
    const { members, needed, profile } = request;
    const domains = profile.domainsFor(members);
    if (domains.length === 0) return undefined;
    const isAllowed = allowed && new Set(allowed);
    const open = isAllowed ? domains.map((indexes) => indexes.filter((index) => isAllowed.has(index))) : domains;
    // Charges the work of splitting the nodes by each topology and summing their free capacity.
    work.budget.spend(domains.reduce((sum, { length }) => sum + length, 0));
    if (work.isDue) yield;
    // Undo the last pass first, so that it takes no capacity from the next.
    this.#startOver(before);
    const inBothOrders = members.length * open.length <= maxPlacementsInBothOrders;
    for (const indexes of domainsByFreeCapacity(cluster, open, members, needed)) {
      this.#startOver(before);
      const scope = { ...this.#scope, indexes };
      const plan = yield* this.#placeInOrders(scope, before, inBothOrders);
      if (isCompleteOrFailed(plan)) return plan;
    }
    return undefined;
  }

  #place(scope: PlanScope, batches: Batch[]): Yielding<Plan> {
    const pass = new AssignmentPass(scope, batches);
    this.#assignments = pass.assignments;
    return pass.run();
  }

  #startOver(before: Savepoint): void {
    this.#unreserve();
    this.#scope.transaction.rollbackTo(before);
  }

  *#contexts(): Yielding<ClassContext[]> {
    const { cluster, cachedResults, request, work } = this.#scope;
    const podClasses = yield* podClassesOf(cluster, request, work.budget);
    const split = cachedResults.of(podClasses.map(({ signatures }) => signatures));
    return podClasses.map((podClass, i) => ({ podClass, split: split[i]! }));
  }

  /** Orders batches hardest first: those that fit on the fewest nodes, and among equals the larger request. */
  *#inOrder(scope: PlanScope, contexts: readonly ClassContext[]): Yielding<Batch[]> {
    const batches = yield* this.#batchesOf(scope, contexts);
    if (batches.length === 1) return batches;
    /** batch -> number of nodes that it fits on */
    const counts = new Map<Batch, number>();
    for (const batch of batches) {
      counts.set(batch, batch.ranking?.count() ?? 0);
      if (scope.work.isDue) yield;
    }
    return batches.sort((a, b) => counts.get(a)! - counts.get(b)! || compareSizes(a, b));
  }

  *#batchesOf(scope: PlanScope, contexts: readonly ClassContext[]): Yielding<Batch[]> {
    const batches: Batch[] = [];
    for (const context of contexts) {
      batches.push(batchOf(scope, context));
      scope.work.budget.spend(workPerMember);
      if (scope.work.isDue) yield;
    }
    return batches;
  }
}

/** Returns whether no other order or node set can place more members: the plan is complete, a plugin failed, or no member ever fits. */
function isFinal(plan: Plan): boolean {
  return isCompleteOrFailed(plan) || plan.never || plan.placed === 0;
}

function isCompleteOrFailed({ blocked }: Plan): boolean {
  return blocked === undefined || failureIn(blocked) !== undefined;
}

function indexesOf(cluster: Cluster, names: ReadonlySet<string>): readonly number[] {
  const indexes: number[] = [];
  for (const name of names) {
    const node = cluster.node(name);
    if (node !== undefined) indexes.push(node.index);
  }
  return indexes.sort((a, b) => a - b);
}
