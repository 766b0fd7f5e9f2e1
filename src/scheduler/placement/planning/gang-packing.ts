import type { Pod } from '../../../api/pod.ts';
import type { ResourceId } from '../../../api/resource-names.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { mustRespect } from '../../../cluster/reservation.ts';
import type { Reservation } from '../../../cluster/reservation.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';
import type { Packing, PackingProblem } from '../packing/packing-problem.ts';
import type { ChosenNode } from './assignment-pass.ts';
import { hasNoReservation } from './batch.ts';
import type { Batch } from './batch.ts';
import { NodeCheck } from './node-check.ts';
import type { PlanScope } from './plan-scope.ts';

/** Maximum number of classes times nodes. */
const maxCells = 250_000;
/** Maximum number of different resources. Pods may request any number of them, even ones that no node has. */
const maxResources = 32;
/** How many nodes' limits for a class can be computed at the cost of one node check. */
const nodesPerCheck = 8;
/** Work of finding out whether two members can share a node. */
const workPerPair = 2 * workPerMember;
/** No node has as many pods. */
const unlimited = 65_535;

/** The packing problem of a gang, in the state before the plan. What the plugins reject later makes it stricter. */
export class GangPacking {
  readonly problem: PackingProblem;
  /** The nodes of the problem. */
  readonly #nodes: readonly NodeInfo[];
  readonly #apart: readonly Set<number>[];
  #isNecessary: boolean;

  private constructor(problem: Omit<PackingProblem, 'apart'>, nodes: readonly NodeInfo[], isNecessary: boolean) {
    this.#nodes = nodes;
    this.#apart = problem.classes.map(() => new Set());
    this.problem = { ...problem, apart: this.#apart };
    this.#isNecessary = isNecessary;
  }

  /**
   * Whether every placement that the plugins accept solves the problem, so that without a solution the gang cannot be placed. False if
   * the plugins may accept more: after placements, for other members of a class, or after they contradicted the problem.
   */
  get isNecessary(): boolean {
    return this.#isNecessary;
  }

  /** Filters the nodes for each batch. Returns undefined if the problem is too large or a plugin fails. */
  static *of(scope: PlanScope, batches: readonly Batch[]): Yielding<GangPacking | undefined> {
    const { cluster, request, indexes, work } = scope;
    if (batches.length * (indexes?.length ?? cluster.nodes.length) > maxCells) return undefined;
    const resources = resourcesOf(scope, batches);
    if (resources.length > maxResources) return undefined;
    let isNecessary = true;
    const feasible: Int32Array[] = [];
    const isFeasible = new Uint8Array(cluster.nodes.length);
    for (const { ranking, answer, isUniform } of batches) {
      const fitting = ranking?.feasibleIndexes().slice() ?? new Int32Array();
      if (ranking?.error !== undefined) return undefined;
      isNecessary &&= isUniform && !answer.mayChange && ranking?.dependsOnOthers !== true;
      for (const index of fitting) isFeasible[index] = 1;
      feasible.push(fitting);
      if (work.isDue) yield;
    }
    const nodes = cluster.nodes
      .filter(({ index }) => isFeasible[index] === 1)
      .sort((a, b) => a.nameRank - b.nameRank || (a.name < b.name ? -1 : 1));
    /** node index -> position */
    const positions = new Int32Array(cluster.nodes.length);
    for (const [position, { index }] of nodes.entries()) positions[index] = position;
    const classes = batches.map(({ pods, sample }) => ({
      count: pods.length,
      requests: amountsOf(sample, resources),
      limits: new Uint16Array(nodes.length),
    }));
    const free = nodes.map((node) => {
      const reserved = reservedOn(node, scope, (reservation) =>
        batches.every(({ sample }) => mustRespect(sample, reservation)),
      );
      return freeBeside(reserved, node, resources);
    });
    for (const [i, { requests, limits }] of classes.entries()) {
      const { sample } = batches[i]!;
      for (const index of feasible[i]!) {
        const position = positions[index]!;
        const node = nodes[position]!;
        // A plugin counts a resource in another way, or not at all.
        isNecessary &&= capacityFor(requests, free[position]!) > 0;
        const reserved = reservedOn(node, scope, (reservation) => mustRespect(sample, reservation));
        limits[position] =
          reserved.length === 0 ? unlimited : capacityFor(requests, freeBeside(reserved, node, resources));
      }
      work.budget.spend(feasible[i]!.length / nodesPerCheck);
      if (work.isDue) yield;
    }
    return new GangPacking({ classes, free, needed: request.needed }, nodes, isNecessary);
  }

  /** Returns the nodes of a packing, class after class. */
  chosen(packing: Packing): readonly ChosenNode[] {
    return packing.flatMap((counts, batch) =>
      [...counts.keys()].flatMap((i) => (counts[i]! > 0 ? [{ batch, node: this.#nodes[i]!, count: counts[i]! }] : [])),
    );
  }

  /**
   * The plugins accepted `count` members of a batch on a node, and then rejected one that had space. Finds out which batches of the packing
   * cannot share any node with it; if none, this node takes no more members of the batch. The batches must be in the state before the plan.
   * Returns the work that this took; it ends early, and knows less, if it has taken `maxWork`.
   */
  *rejected(
    scope: PlanScope,
    batches: readonly Batch[],
    packing: Packing,
    { batch, node, count }: ChosenNode,
    maxWork: number,
  ): Yielding<number> {
    let work = workPerMember;
    const position = this.#nodes.indexOf(node);
    const sharing = [...packing.keys()].filter((other) => packing[other]![position]! > (other === batch ? 1 : 0));
    const others = sharing.length > 0 && canPlace(scope, [batches[batch]!.pods[0]!], node) ? sharing : [];
    let isExplained = false;
    for (const other of others) {
      if (work >= maxWork) break;
      if (scope.work.isDue) yield;
      work += workPerPair;
      if (!this.#apart[batch]!.has(other) && this.#canShare(scope, batches, batch, other, position)) continue;
      this.#apart[batch]!.add(other);
      this.#apart[other]!.add(batch);
      isExplained = true;
    }
    const { limits } = this.problem.classes[batch]!;
    if (!isExplained) limits[position] = Math.min(limits[position]!, count);
    this.#isNecessary = false;
    if (scope.work.isDue) yield;
    return work;
  }

  /** Returns whether members of two batches fit together on this node, or at least on another with space for both. */
  #canShare(scope: PlanScope, batches: readonly Batch[], a: number, b: number, position: number): boolean {
    const { classes, free } = this.problem;
    const pods = [batches[b]!.pods[0]!, batches[a]!.pods[a === b ? 1 : 0]!];
    if (canPlace(scope, pods, this.#nodes[position]!)) return true;
    const [one, two] = [classes[a]!, classes[b]!];
    const both = one.requests.map((amount, r) => amount + two.requests[r]!);
    const elsewhere = free.findIndex(
      (amounts, other) =>
        other !== position &&
        Math.min(one.limits[other]!, two.limits[other]!) > (a === b ? 1 : 0) &&
        capacityFor(both, amounts) > 0,
    );
    return elsewhere >= 0 && canPlace(scope, pods, this.#nodes[elsewhere]!);
  }
}

/** Returns whether the pods fit on the node together. */
function canPlace({ cluster, request, transaction, work }: PlanScope, pods: readonly Pod[], node: NodeInfo): boolean {
  work.spend(pods.length * workPerMember);
  const nominations = pods.map((pod) => ({ pod, nodeName: node.name }));
  return new NodeCheck(cluster).rejectionTogether(request, nominations, transaction) === undefined;
}

/** Returns the requested resources in the order of their names, which is the same in all processes. */
function resourcesOf({ cluster }: PlanScope, batches: readonly Batch[]): readonly ResourceId[] {
  const ids = new Set(batches.flatMap(({ sample }) => sample.template.requests.ids));
  const names = new Map([...ids].map((id) => [id, cluster.resources.nameOf(id)]));
  return [...ids].sort((a, b) => (names.get(a)! < names.get(b)! ? -1 : 1));
}

function amountsOf({ template }: Pod, resources: readonly ResourceId[]): number[] {
  const { ids, amounts } = template.requests;
  return resources.map((id) => amounts[ids.indexOf(id)] ?? 0);
}

/** Returns the owners of the reservations on the node that still count and must be respected. */
function reservedOn(
  node: NodeInfo,
  scope: PlanScope,
  isRespected: (reservation: Reservation) => boolean,
): readonly Pod[] {
  if (node.reservations.size === 0) return [];
  return [...node.reservations.values()]
    .filter((reservation) => !hasNoReservation(scope, reservation.owner.uid) && isRespected(reservation))
    .map(({ owner }) => owner);
}

/** Returns the free amount of each resource, without what these pods request. */
function freeBeside(owners: readonly Pod[], node: NodeInfo, resources: readonly ResourceId[]): Float64Array {
  const free = Float64Array.from(resources, (id) => node.free(id));
  for (const owner of owners) {
    for (const [r, amount] of amountsOf(owner, resources).entries()) free[r]! -= amount;
  }
  return free;
}

/** Returns how many members fit into the free amounts. */
function capacityFor(requests: readonly number[], free: Float64Array): number {
  let capacity = unlimited;
  for (let r = 0; r < requests.length; r++) {
    if (requests[r]! > 0) capacity = Math.min(capacity, Math.floor(free[r]! / requests[r]!));
  }
  return Math.max(0, capacity);
}
