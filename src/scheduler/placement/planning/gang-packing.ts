import type { ResourceId } from '../../../api/resource-names.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { mustRespect } from '../../../cluster/reservation.ts';
import type { Packing, PackingProblem } from '../packing/packing-problem.ts';
import type { ChosenNode } from './assignment-pass.ts';
import { hasNoReservation } from './batch.ts';
import type { Batch } from './batch.ts';
import { NodeCheck } from './node-check.ts';
import type { PlanScope } from './plan-scope.ts';

/** Maximum number of classes times nodes. */
const maxCells = 1_000_000;

/** The packing problem of a gang, in the state before the plan. What the plugins reject later makes it stricter. */
export class GangPacking {
  readonly problem: PackingProblem;
  /** The nodes of the problem. */
  readonly #nodes: readonly NodeInfo[];
  readonly #apart: readonly Set<number>[];

  private constructor(problem: Omit<PackingProblem, 'apart'>, nodes: readonly NodeInfo[]) {
    this.#nodes = nodes;
    this.#apart = problem.classes.map(() => new Set());
    this.problem = { ...problem, apart: this.#apart };
  }

  /** Filters the nodes for each batch. Returns undefined if the problem is too large. */
  static *of(scope: PlanScope, batches: readonly Batch[]): Yielding<GangPacking | undefined> {
    const { cluster, request, indexes, work } = scope;
    if (batches.length * (indexes?.length ?? cluster.nodes.length) > maxCells) return undefined;
    /** batch -> node index -> 1 if a member fits there */
    const feasible: Uint8Array[] = [];
    const isUseful = new Uint8Array(cluster.nodes.length);
    for (const { ranking } of batches) {
      const fits = new Uint8Array(cluster.nodes.length);
      for (const index of ranking?.feasibleIndexes() ?? []) fits[index] = isUseful[index] = 1;
      feasible.push(fits);
      if (work.isDue) yield;
    }
    const nodes = cluster.nodes
      .filter(({ index }) => isUseful[index] === 1)
      .sort((a, b) => a.nameHash - b.nameHash || (a.name < b.name ? -1 : 1));
    const resources = [...new Set(batches.flatMap(({ sample }) => sample.template.requests.ids))];
    const classes = batches.map(({ pods, sample }, position) => {
      const { ids, amounts } = sample.template.requests;
      return {
        count: pods.length,
        requests: resources.map((id) => amounts[ids.indexOf(id)] ?? 0),
        fits: Uint8Array.from(nodes, ({ index }) => feasible[position]![index]!),
      };
    });
    const free = nodes.map((node) => freeOn(node, resources, scope, batches));
    return new GangPacking({ classes, free, needed: request.needed }, nodes);
  }

  /** Returns the nodes of a packing, class after class. */
  chosen(packing: Packing): readonly ChosenNode[] {
    return packing.flatMap((counts, batch) =>
      [...counts.keys()].flatMap((i) => (counts[i]! > 0 ? [{ batch, node: this.#nodes[i]!, count: counts[i]! }] : [])),
    );
  }

  /**
   * The plugins rejected members of a batch on a node that had space for them. Finds out which batches of the packing cannot share a node with
   * it; if none, the batch does not fit on this node. The batches must be in the state before the plan.
   */
  rejected(scope: PlanScope, batches: readonly Batch[], packing: Packing, { batch, node }: ChosenNode): void {
    const position = this.#nodes.indexOf(node);
    const others = [...packing.keys()].filter((other) => packing[other]![position]! > (other === batch ? 1 : 0));
    let isExplained = false;
    for (const other of others) {
      if (canShare(scope, batches[batch]!, batches[other]!, node)) continue;
      this.#apart[batch]!.add(other);
      this.#apart[other]!.add(batch);
      isExplained = true;
    }
    if (!isExplained) this.problem.classes[batch]!.fits[position] = 0;
  }
}

/** Returns whether a member of each of two batches fits on the node at the same time. */
function canShare(
  { cluster, request, transaction }: PlanScope,
  a: Batch,
  b: Batch,
  { name: nodeName }: NodeInfo,
): boolean {
  const pods = [b.pods[0]!, a === b ? a.pods[1]! : a.pods[0]!];
  const before = transaction.savepoint();
  const nominations = pods.map((pod) => ({ pod, nodeName }));
  const rejection = new NodeCheck(cluster).placeAs(request, nominations, transaction);
  transaction.rollbackTo(before);
  return rejection === undefined;
}

/** Returns the free amount of each resource, without what is reserved for others. */
function freeOn(
  node: NodeInfo,
  resources: readonly ResourceId[],
  scope: PlanScope,
  batches: readonly Batch[],
): Float64Array {
  const free = Float64Array.from(resources, (id) => node.free(id));
  for (const reservation of node.reservations.values()) {
    const { uid, template } = reservation.owner;
    if (hasNoReservation(scope, uid) || !batches.some(({ sample }) => mustRespect(sample, reservation))) continue;
    const { ids, amounts } = template.requests;
    resources.forEach((id, r) => (free[r]! -= amounts[ids.indexOf(id)] ?? 0));
  }
  return free;
}
