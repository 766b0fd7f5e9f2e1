import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Savepoint } from '../../../cluster/transaction.ts';
import { failureIn } from '../../../framework/diagnosis.ts';
import { KnownNodes } from '../cache/known-nodes.ts';
import { batchOf } from './batch.ts';
import type { Batch, Group } from './batch.ts';
import { compareSizes, countedTogether, countNodes } from './bin-packing-order.ts';
import { podClassesOf } from './pod-classes.ts';
import { AssignmentPass } from './assignment-pass.ts';
import type { NodeAssignment, Plan } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';
import { domainsByFreeCapacity } from './domains-by-free-capacity.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';

/** The making of one plan: in which orders, and among which nodes, placing the members is tried. `Planner.plan` says what it does. */
export class GangPlanning {
  readonly #scope: PlanScope;
  #assignments: readonly NodeAssignment[] = [];

  constructor(scope: Omit<PlanScope, 'indexes'>) {
    const { cluster, request } = scope;
    this.#scope = { ...scope, indexes: request.within && indexesOf(cluster, request.within) };
  }

  /** A step is a pass over the nodes or less. When it throws or is given up nothing is reserved any more. */
  *run(): Yielding<Plan> {
    let stands = false;
    try {
      const plan = yield* this.#plan();
      stands = true;
      return plan;
    } finally {
      if (!stands) this.#unreserve();
    }
  }

  /** Undoes Reserve for all that are placed, in reverse order. */
  #unreserve(): void {
    const { profile } = this.#scope.request;
    for (const { state, pod, nodeName } of this.#assignments.toReversed()) profile.unreserve(state, pod, nodeName);
    this.#assignments = [];
  }

  *#plan(): Yielding<Plan> {
    const scope = this.#scope;
    const { members, needed } = scope.request;
    const before: Savepoint = scope.transaction.savepoint();
    const groups = yield* this.#groups();
    const hardestFirst = yield* this.#inOrder(scope, groups);
    const first = yield* this.#place(scope, hardestFirst);
    const { blocked, placed, never } = first;
    const isFinal = blocked === undefined || failureIn(blocked) !== undefined || never;
    if (isFinal || placed === 0) return first;
    let { unschedulablePlugins, pending } = first;
    // The hardest may have taken capacity in which easier ones would have been enough.
    if (members.length > needed && groups.length >= 2) {
      this.#startOver(before);
      const easiestFirst = hardestFirst.toReversed().map(({ group }) => group);
      const again = yield* this.#place(scope, yield* this.#batchesOf(scope, easiestFirst));
      if (again.blocked === undefined) return again;
      unschedulablePlugins = new Set([...unschedulablePlugins, ...again.unschedulablePlugins]);
      pending = new Set([...pending, ...again.pending]);
    }
    const within = yield* this.#placeWithinDomains(before);
    return within ?? { ...first, assignments: this.#assignments, unschedulablePlugins, pending };
  }

  /** The first may have taken a node beside which there is no capacity for those that have to be near it. */
  *#placeWithinDomains(before: Savepoint): Yielding<Plan | undefined> {
    const { cluster, request, work, indexes: allowed } = this.#scope;
    const { members, needed, profile } = request;
    const domains = profile.domainsFor(members);
    if (domains.length === 0) return undefined;
    const isAllowed = allowed && new Set(allowed);
    const open = isAllowed ? domains.map((indexes) => indexes.filter((index) => isAllowed.has(index))) : domains;
    // Nodes are divided up by each topology, and their free capacity is summed.
    work.budget.spend(domains.reduce((sum, { length }) => sum + length, 0));
    if (work.isDue) yield;
    // What has been tried takes no capacity from what is.
    this.#startOver(before);
    for (const indexes of domainsByFreeCapacity(cluster, open, members, needed)) {
      this.#startOver(before);
      const scope = { ...this.#scope, indexes };
      const plan = yield* this.#place(scope, yield* this.#inOrder(scope, yield* this.#groups()));
      if (plan.blocked === undefined || failureIn(plan.blocked) !== undefined) return plan;
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

  *#groups(): Yielding<Group[]> {
    const { cluster, answers, request, work } = this.#scope;
    const podClasses = yield* podClassesOf(cluster, request, work.budget);
    const answering = answers.of(podClasses.map(({ signatures }) => signatures));
    return podClasses.map((kind, i) => ({ kind, answering: answering[i]!, known: new KnownNodes() }));
  }

  /** Hardest first: those that fit on the fewest nodes; among equals the larger request. */
  *#inOrder(scope: PlanScope, groups: readonly Group[]): Yielding<Batch[]> {
    const batches = yield* this.#batchesOf(scope, groups);
    if (batches.length === 1) return batches;
    /** batch -> how many nodes it fits on */
    const counts = new Map<Batch, number>();
    for (let i = 0; i < batches.length; i += countedTogether) {
      const some = batches.slice(i, i + countedTogether);
      const sizes = countNodes(scope.cluster, scope.indexes, some);
      some.forEach((batch, j) => counts.set(batch, sizes[j]!));
      if (scope.work.isDue) yield;
    }
    return batches.sort((a, b) => counts.get(a)! - counts.get(b)! || compareSizes(a, b));
  }

  *#batchesOf(scope: PlanScope, groups: readonly Group[]): Yielding<Batch[]> {
    const batches: Batch[] = [];
    for (const group of groups) {
      batches.push(batchOf(scope, group));
      scope.work.budget.spend(workPerMember);
      if (scope.work.isDue) yield;
    }
    return batches;
  }
}

function indexesOf(cluster: Cluster, names: ReadonlySet<string>): readonly number[] {
  const indexes: number[] = [];
  for (const name of names) {
    const node = cluster.node(name);
    if (node !== undefined) indexes.push(node.index);
  }
  return indexes.sort((a, b) => a - b);
}
