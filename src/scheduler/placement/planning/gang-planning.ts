import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import { easiestFirst } from './easiest-first.ts';
import { hardestFirst } from './hardest-first.ts';
import { binPacking } from './bin-packing.ts';
import type { Plan } from './plan.ts';
import { PlanPasses } from './plan-passes.ts';
import type { PlanScope } from './plan-scope.ts';
import { reservedNodes } from './reserved-nodes.ts';
import { runStrategies } from './run-strategies.ts';
import { topologyDomains } from './topology-domains.ts';

/** The strategies in order: the first that places enough members decides. */
const strategies = [
  hardestFirst,
  easiestFirst,
  topologyDomains([hardestFirst], [easiestFirst]),
  binPacking,
  topologyDomains([], [binPacking]),
  reservedNodes,
];

/** One run of the planner. See `Planner.plan`. */
export class GangPlanning {
  readonly #scope: PlanScope;
  readonly #passes: PlanPasses;

  constructor(scope: Omit<PlanScope, 'indexes'>) {
    const { cluster, request, transaction } = scope;
    this.#scope = { ...scope, indexes: request.within && indexesOf(cluster, request.within) };
    this.#passes = new PlanPasses(transaction, request.profile);
  }

  /**
   * Runs in steps of one pass over the nodes at most. A complete plan is in effect on return. Otherwise no member is reserved; if this
   * throws or is abandoned, the caller must roll back.
   */
  *run(): Yielding<Plan> {
    const passes = this.#passes;
    let isOver = false;
    try {
      const plan = (yield* runStrategies(this.#scope, passes, strategies))!;
      if (plan.blocked !== undefined) yield* passes.undo(this.#scope.work.budget);
      isOver = true;
      return plan;
    } finally {
      if (!isOver) passes.unreserve();
    }
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
