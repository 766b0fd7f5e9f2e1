import { commonResources, ephemeralStorageId, memoryId } from '../api/resource-names.ts';
import type { ResourceId } from '../api/resource-names.ts';
import type { NodeInfo } from './node-info.ts';

/** Bytes are counted in KiB, rounded up, so that sums over many nodes are exact. */
const bytes = 1024;

export interface FreeCapacityView {
  /** Returns the total over all nodes. An overcommitted node counts as 0. */
  free(id: ResourceId): number;
  /** Returns the amount on the node with most free. */
  largest(id: ResourceId): number;
}

/** Sums of one resource over all nodes. */
interface Sum {
  free: number;
  /** True if the sum has exceeded the exact range of a number since it was computed. */
  isInexact: boolean;
  /** Largest free amount on one node; too large while `isStale`. */
  largest: number;
  isStale: boolean;
  /** Number of nodes with any allocatable amount. */
  nodes: number;
}

/** Contribution of one node to the sums. */
interface Part {
  /** Resources of the node's allocatable; the amounts below are in this order. */
  readonly ids: readonly ResourceId[];
  readonly free: number[];
}

/**
 * Free capacity of all known nodes together and of the node with most, to reject demands without looking at single nodes. Recomputes
 * changed nodes on the next read, because most plans change a node more than once. Amounts are never too small, and may be too large by
 * one KiB per node.
 */
export class FreeCapacity implements FreeCapacityView {
  /** Nodes that may have changed since their parts were computed. */
  readonly #changed = new Set<NodeInfo>();
  /** node -> its contribution to the sums */
  readonly #parts = new Map<NodeInfo, Part>();
  /** id -> sum of a common resource, once a node has had it */
  readonly #common: (Sum | undefined)[] = [];
  /** id -> sum of a rare resource that some node has */
  readonly #rare = new Map<ResourceId, Sum>();

  free(id: ResourceId): number {
    this.#refresh();
    const sum = this.#known(id);
    if (sum === undefined) return 0;
    if (sum.isInexact) this.#recompute(id, sum);
    // An amount beyond the exact range never counts as short.
    return Number.isSafeInteger(sum.free) ? sum.free * unitOf(id) : Infinity;
  }

  largest(id: ResourceId): number {
    this.#refresh();
    const sum = this.#known(id);
    if (sum === undefined) return 0;
    if (sum.isStale) {
      sum.largest = 0;
      for (const { ids, free } of this.#parts.values()) sum.largest = Math.max(sum.largest, free[ids.indexOf(id)] ?? 0);
      sum.isStale = false;
    }
    return sum.largest * unitOf(id);
  }

  /** Restores an exact sum after it was beyond the exact range. */
  #recompute(id: ResourceId, sum: Sum): void {
    sum.free = 0;
    for (const { ids, free } of this.#parts.values()) sum.free += free[ids.indexOf(id)] ?? 0;
    sum.isInexact = !Number.isSafeInteger(sum.free);
  }

  /** Called when a node has changed, is new, or was removed. */
  update(node: NodeInfo): void {
    if (node.index >= 0) {
      this.#changed.add(node);
      return;
    }
    this.#changed.delete(node);
    this.#remove(node);
  }

  #refresh(): void {
    if (this.#changed.size === 0) return;
    for (const node of this.#changed) this.#updatePart(node);
    this.#changed.clear();
  }

  #updatePart(node: NodeInfo): void {
    const { ids } = node.node.allocatable;
    let part = this.#parts.get(node);
    if (part?.ids !== ids) {
      this.#remove(node);
      part = { ids, free: ids.map(() => 0) };
      this.#parts.set(node, part);
      for (const id of ids) this.#sumOf(id).nodes++;
    }
    const { free } = part;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      const now = Math.ceil(Math.max(0, node.free(id)) / unitOf(id));
      if (now !== free[i]) replace(this.#known(id)!, free[i]!, now);
      free[i] = now;
    }
  }

  /** Removes the contribution of a node that was removed. */
  #remove(node: NodeInfo): void {
    const part = this.#parts.get(node);
    if (part === undefined) return;
    this.#parts.delete(node);
    part.ids.forEach((id, i) => {
      const sum = this.#known(id)!;
      replace(sum, part.free[i]!, 0);
      if (--sum.nodes === 0) this.#rare.delete(id);
    });
  }

  #known(id: ResourceId): Sum | undefined {
    return id < commonResources ? this.#common[id] : this.#rare.get(id);
  }

  #sumOf(id: ResourceId): Sum {
    const known = this.#known(id);
    if (known !== undefined) return known;
    const sum = { free: 0, largest: 0, isInexact: false, isStale: false, nodes: 0 };
    if (id >= commonResources) this.#rare.set(id, sum);
    else {
      while (this.#common.length < id) this.#common.push(undefined);
      this.#common[id] = sum;
    }
    return sum;
  }
}

function replace(sum: Sum, before: number, now: number): void {
  sum.free += now - before;
  sum.isInexact ||= !Number.isSafeInteger(sum.free);
  if (now >= sum.largest) {
    sum.largest = now;
    sum.isStale = false;
  } else if (before === sum.largest) {
    sum.isStale = true;
  }
}

function unitOf(id: ResourceId): number {
  return id === memoryId || id === ephemeralStorageId ? bytes : 1;
}
