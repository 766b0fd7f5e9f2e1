import { commonResources, ephemeralStorageId, memoryId } from '../api/resource-names.ts';
import type { ResourceId } from '../api/resource-names.ts';
import type { NodeInfo } from './node-info.ts';

/** Bytes are counted in KiB, rounded up, so that a sum over many nodes is exact. */
const bytes = 1024;

export interface FreeCapacityView {
  /** In sum over all nodes; one that is over-committed has 0. */
  free(id: ResourceId): number;
  /** On the node with most of it. */
  largest(id: ResourceId): number;
}

/** Of one resource over all nodes. */
interface Sum {
  free: number;
  /** It has been more than a number holds exactly since it was added up. */
  isInexact: boolean;
  /** The greatest amount that is free on one node; too great while `isStale`. */
  largest: number;
  isStale: boolean;
  /** Nodes that have any of it to allocate. */
  nodes: number;
}

/** What a node has in the sums. */
interface Part {
  /** What it can allocate: the amounts below are in the order of these ids. */
  readonly ids: readonly ResourceId[];
  readonly free: number[];
}

/**
 * What is free on all known nodes together, and on the one with most: for questions that can be rejected without a look at the nodes.
 * Nodes that have changed are looked at again when somebody asks, since most plans change a node more than once. Amounts are never
 * too small, and may be too great by a KiB a node.
 */
export class FreeCapacity implements FreeCapacityView {
  /** Nodes that may have changed since their parts were made. */
  readonly #changed = new Set<NodeInfo>();
  /** node -> what it has in the sums */
  readonly #parts = new Map<NodeInfo, Part>();
  /** id -> the sum of a common resource, once some node has had it */
  readonly #common: (Sum | undefined)[] = [];
  /** id -> the sum of a rare resource that some node has */
  readonly #rare = new Map<ResourceId, Sum>();

  free(id: ResourceId): number {
    this.#bringUpToDate();
    const sum = this.#known(id);
    if (sum === undefined) return 0;
    if (sum.isInexact) this.#addUp(id, sum);
    // What cannot be counted exactly is never short.
    return Number.isSafeInteger(sum.free) ? sum.free * unitOf(id) : Infinity;
  }

  largest(id: ResourceId): number {
    this.#bringUpToDate();
    const sum = this.#known(id);
    if (sum === undefined) return 0;
    if (sum.isStale) {
      sum.largest = 0;
      for (const { ids, free } of this.#parts.values()) sum.largest = Math.max(sum.largest, free[ids.indexOf(id)] ?? 0);
      sum.isStale = false;
    }
    return sum.largest * unitOf(id);
  }

  /** What was lost while the sum could not be counted exactly is found again. */
  #addUp(id: ResourceId, sum: Sum): void {
    sum.free = 0;
    for (const { ids, free } of this.#parts.values()) sum.free += free[ids.indexOf(id)] ?? 0;
    sum.isInexact = !Number.isSafeInteger(sum.free);
  }

  /** The node has changed, is new, or is not known any more. */
  update(node: NodeInfo): void {
    if (node.index >= 0) {
      this.#changed.add(node);
      return;
    }
    this.#changed.delete(node);
    this.#remove(node);
  }

  #bringUpToDate(): void {
    if (this.#changed.size === 0) return;
    for (const node of this.#changed) this.#look(node);
    this.#changed.clear();
  }

  #look(node: NodeInfo): void {
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

  /** The node is not known any more. */
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
