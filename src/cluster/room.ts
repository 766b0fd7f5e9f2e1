import { ephemeralStorageId, memoryId } from '../api/resource-names.ts';
import type { ResourceId } from '../api/resource-names.ts';
import type { NodeInfo } from './node-info.ts';

/** Bytes are counted in KiB, rounded up, so that a sum over many nodes is exact. */
const bytes = 1024;

export interface RoomView {
  /** In sum over all nodes; one that is over-committed has 0. */
  free(id: ResourceId): number;
  /** On the node with most of it. */
  largest(id: ResourceId): number;
}

/** Of one resource over all nodes. */
interface Sum {
  free: number;
  /** The greatest amount that is free on one node; too great while `isStale`. */
  largest: number;
  isStale: boolean;
}

/**
 * What is free on all known nodes together, and on the one with most, kept up as nodes change: for questions that can be refused
 * without a look at the nodes. Amounts are never too small, and may be too great by a KiB a node.
 */
export class Room implements RoomView {
  /** node -> what it has in the sums, by resource id */
  readonly #parts = new Map<NodeInfo, number[]>();
  readonly #sums: Sum[] = [];

  free(id: ResourceId): number {
    const sum = this.#sums[id];
    if (sum === undefined) return 0;
    // What cannot be counted exactly is never short.
    return Number.isSafeInteger(sum.free) ? sum.free * unitOf(id) : Infinity;
  }

  largest(id: ResourceId): number {
    const sum = this.#sums[id];
    if (sum === undefined) return 0;
    if (sum.isStale) {
      sum.largest = 0;
      for (const part of this.#parts.values()) if ((part[id] ?? 0) > sum.largest) sum.largest = part[id]!;
      sum.isStale = false;
    }
    return sum.largest * unitOf(id);
  }

  /** The node has changed, or is new. */
  update(node: NodeInfo): void {
    if (node.index < 0) {
      this.remove(node);
      return;
    }
    let part = this.#parts.get(node);
    if (part === undefined) {
      part = [];
      this.#parts.set(node, part);
    }
    const size = Math.max(part.length, node.allocatable.length);
    for (let id = part.length; id < size; id++) part.push(0);
    for (let id = 0; id < size; id++) {
      const free = Math.ceil(Math.max(0, node.free(id)) / unitOf(id));
      if (free !== part[id]) this.#replace(id, part[id]!, free);
      part[id] = free;
    }
  }

  /** The node is not known any more. */
  remove(node: NodeInfo): void {
    const part = this.#parts.get(node);
    if (part === undefined) return;
    this.#parts.delete(node);
    part.forEach((free, id) => this.#replace(id, free, 0));
  }

  #replace(id: ResourceId, before: number, now: number): void {
    while (this.#sums.length <= id) this.#sums.push({ free: 0, largest: 0, isStale: false });
    const sum = this.#sums[id]!;
    sum.free += now - before;
    if (now >= sum.largest) {
      sum.largest = now;
      sum.isStale = false;
    } else if (before === sum.largest) {
      sum.isStale = true;
    }
  }
}

function unitOf(id: ResourceId): number {
  return id === memoryId || id === ephemeralStorageId ? bytes : 1;
}
