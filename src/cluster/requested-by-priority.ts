import type { ResourceId } from '../api/resource-names.ts';
import { Amounts } from './amounts.ts';
import type { AmountsView } from './amounts.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import type { NodeInfo } from './node-info.ts';

/** What the pods of one priority request, on one node or in the whole cluster. */
interface PriorityLevel {
  readonly priority: number;
  readonly requested: Amounts;
  /** Number of pods. */
  pods: number;
}

/** Read side of the index. */
export interface RequestedByPriorityView {
  /** Returns what those pods on the node request that have a lower priority or are terminating. */
  below(priority: number, node: { readonly index: number }, id: ResourceId): number;
  /** Returns how many pods on the node have a lower priority and are not terminating. */
  podsBelow(priority: number, node: { readonly index: number }): number;
  /** Returns what those pods on all nodes request that have a lower priority or are terminating. */
  totalBelow(priority: number, id: ResourceId): number;
  /** Whether a pod on any node is terminating. */
  readonly hasAnyTerminating: boolean;
  /** Returns whether a pod on the node is terminating. */
  hasTerminating(node: { readonly index: number }): boolean;
}

const nothing: readonly PriorityLevel[] = [];

/**
 * Sums of the requests of the pods on nodes, by priority. Brings itself up to date when it is read: it visits only nodes whose generation has
 * changed since. Preemption reads it to rule out entities that could not fit even if all pods of lower priority were gone.
 */
export class RequestedByPriority implements RequestedByPriorityView {
  readonly #nodes: ClusterNodes;
  /** node index -> generation of the node for which its levels are valid */
  #generations = new Float64Array(0);
  /** node index -> its levels, by ascending priority */
  readonly #levels: (readonly PriorityLevel[])[] = [];
  /** priority -> sum over all nodes, and number of nodes with such pods */
  readonly #totals = new Map<number, { readonly requested: Amounts; nodes: number }>();
  #generation = -1;

  constructor(nodes: ClusterNodes) {
    this.#nodes = nodes;
  }

  /** A pod on the node is terminating now, which does not change the node's generation. */
  invalidate({ index }: { readonly index: number }): void {
    if (index < this.#generations.length) this.#generations[index] = NaN;
    this.#generation = NaN;
  }

  below(priority: number, { index }: { readonly index: number }, id: ResourceId): number {
    this.#update();
    let sum = 0;
    for (const level of this.#levels[index] ?? nothing) {
      if (level.priority >= priority) break;
      sum += level.requested.of(id);
    }
    return sum;
  }

  podsBelow(priority: number, { index }: { readonly index: number }): number {
    this.#update();
    let count = 0;
    for (const level of this.#levels[index] ?? nothing) {
      if (level.priority >= priority) break;
      if (level.priority > -Infinity) count += level.pods;
    }
    return count;
  }

  totalBelow(priority: number, id: ResourceId): number {
    this.#update();
    let sum = 0;
    for (const [level, { requested }] of this.#totals) if (level < priority) sum += requested.of(id);
    return sum;
  }

  get hasAnyTerminating(): boolean {
    this.#update();
    return this.#totals.has(-Infinity);
  }

  hasTerminating({ index }: { readonly index: number }): boolean {
    this.#update();
    return this.#levels[index]?.[0]?.priority === -Infinity;
  }

  #update(): void {
    const { generation, generations, list } = this.#nodes;
    if (generation === this.#generation) return;
    this.#generation = generation;
    while (this.#levels.length > list.length) {
      this.#replace(this.#levels.length - 1, nothing);
      this.#levels.pop();
    }
    if (this.#generations.length < list.length) this.#grow(generations.length);
    // No two states of nodes share a generation, so a node that took over another one's index is noticed as well.
    for (const [index, node] of list.entries()) {
      if (index < this.#levels.length && this.#generations[index] === node.generation) continue;
      this.#generations[index] = node.generation;
      this.#replace(index, levelsOf(node));
    }
  }

  #grow(size: number): void {
    const larger = new Float64Array(size);
    larger.set(this.#generations);
    this.#generations = larger;
  }

  #replace(index: number, levels: readonly PriorityLevel[]): void {
    for (const { priority, requested } of this.#levels[index] ?? nothing) this.#change(priority, requested, -1);
    for (const { priority, requested } of levels) this.#change(priority, requested, 1);
    this.#levels[index] = levels;
  }

  #change(priority: number, requested: AmountsView, sign: 1 | -1): void {
    const entries = requested.entries();
    const list = { ids: entries.map(([id]) => id), amounts: entries.map(([, amount]) => amount) };
    const total = this.#totals.get(priority);
    if (total === undefined) {
      const first = { requested: new Amounts(), nodes: 1 };
      first.requested.add(list);
      this.#totals.set(priority, first);
      return;
    }
    total.nodes += sign;
    if (total.nodes === 0) this.#totals.delete(priority);
    else if (sign > 0) total.requested.add(list);
    else total.requested.subtract(list);
  }
}

function levelsOf({ pods }: NodeInfo): readonly PriorityLevel[] {
  /** priority -> level */
  const levels = new Map<number, PriorityLevel>();
  for (const { priority: own, template, deleting } of pods.values()) {
    // A pod that is terminating makes way for any other.
    const priority = deleting ? -Infinity : own;
    let level = levels.get(priority);
    if (level === undefined) levels.set(priority, (level = { priority, requested: new Amounts(), pods: 0 }));
    level.requested.add(template.requests);
    level.pods++;
  }
  return [...levels.values()].sort((a, b) => a.priority - b.priority);
}
