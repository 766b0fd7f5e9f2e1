import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { isForOwnEntity } from '../../../cluster/reservation.ts';
import type { Reservation } from '../../../cluster/reservation.ts';

/** Half of the negative numbers of 32 bits. */
const half = 2 ** 30;

/**
 * Feasible nodes, highest total first. Among equal totals, nodes with capacity that is reserved for another entity are last: if it has a
 * lower priority, it would lose its whole plan. Otherwise, only the node's name and `salt` decide: the same request gets the same order,
 * and different requests start with different nodes.
 *
 * The first best node costs one pass over the list. The list becomes a heap only if a second one is needed.
 */
export class NodeOrder {
  /** node index -> weighted total, for listed nodes */
  totals = new Float64Array(0);
  /** Node indexes. The first `size` are listed: in no order, or as a heap once a second node was needed. */
  indexes = new Int32Array(0);
  size = 0;
  #nodes: readonly NodeInfo[] = [];
  #pod: Pod | undefined;
  /** node index -> rank among equal totals, while there is a heap */
  #ties = new Int32Array(0);
  #salt = 0;
  #state: 'listed' | 'bestFirst' | 'heap' = 'listed';

  /** Allocates space for these nodes, and lists none. `pod`: the one to place, or one of identical ones. */
  begin(nodes: readonly NodeInfo[], salt: number, pod: Pod): void {
    this.#nodes = nodes;
    this.#pod = pod;
    this.#salt = salt;
    this.size = 0;
    this.#state = 'listed';
    if (this.indexes.length >= nodes.length) return;
    this.indexes = new Int32Array(nodes.length + (nodes.length >> 1));
    this.totals = new Float64Array(this.indexes.length);
    this.#ties = new Int32Array(this.indexes.length);
  }

  /** Returns the index of the best node; -1 if none is listed. */
  best(): number {
    if (this.size === 0) return -1;
    if (this.#state === 'listed') this.#bringBestFirst();
    return this.indexes[0]!;
  }

  /** Restores the order after the total of the best node changed. */
  bestChanged(): void {
    if (this.#state === 'heap') this.#siftDown(0, this.indexes[0]!);
    else this.#makeHeap();
  }

  /** Removes the best node, which is no longer feasible. */
  removeBest(): void {
    const last = this.indexes[--this.size]!;
    if (this.#state === 'heap') {
      if (this.size > 0) this.#siftDown(0, last);
      return;
    }
    this.indexes[0] = last;
    this.#makeHeap();
  }

  #bringBestFirst(): void {
    const { indexes, size } = this;
    let best = positionOfGreatest(this.totals, indexes, size);
    const highest = this.totals[indexes[best]!]!;
    let bestTie = this.#tieOf(indexes[best]!);
    for (let i = best + 1; i < size; i++) {
      if (this.totals[indexes[i]!] !== highest) continue;
      const tie = this.#tieOf(indexes[i]!);
      if (!this.#precedes(tie, indexes[i]!, bestTie, indexes[best]!)) continue;
      best = i;
      bestTie = tie;
    }
    const first = indexes[0]!;
    indexes[0] = indexes[best]!;
    indexes[best] = first;
    this.#state = 'bestFirst';
  }

  #makeHeap(): void {
    this.#state = 'heap';
    for (let i = 0; i < this.size; i++) this.#ties[this.indexes[i]!] = this.#tieOf(this.indexes[i]!);
    for (let i = (this.size >> 1) - 1; i >= 0; i--) this.#siftDown(i, this.indexes[i]!);
  }

  #siftDown(start: number, node: number): void {
    const heap = this.indexes;
    const size = this.size;
    let position = start;
    for (;;) {
      let child = 2 * position + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#isBetter(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#isBetter(heap[child]!, node)) break;
      heap[position] = heap[child]!;
      position = child;
    }
    heap[position] = node;
  }

  #isBetter(a: number, b: number): boolean {
    const total = this.totals[a]!;
    const other = this.totals[b]!;
    return total === other ? this.#precedes(this.#ties[a]!, a, this.#ties[b]!, b) : total > other;
  }

  /** Returns a number of 32 bits: negative if nothing on the node is reserved for another entity. */
  #tieOf(index: number): number {
    const { nameHash, reservations } = this.#nodes[index]!;
    const tie = mixed(nameHash ^ this.#salt) >> 1;
    return reservations.size > 0 && this.#hasOther(reservations.values()) ? tie + half : tie - half;
  }

  #hasOther(reservations: Iterable<Reservation>): boolean {
    for (const reservation of reservations) if (!isForOwnEntity(this.#pod!, reservation)) return true;
    return false;
  }

  #precedes(tie: number, index: number, otherTie: number, other: number): boolean {
    return tie === otherTie ? this.#nodes[index]!.name < this.#nodes[other]!.name : tie < otherTie;
  }
}

/** Returns the first position in the list of a node with the highest total. */
function positionOfGreatest(totals: Float64Array, indexes: Int32Array, size: number): number {
  let best = 0;
  let highest = totals[indexes[0]!]!;
  for (let i = 1; i < size; i++) {
    const total = totals[indexes[i]!]!;
    if (total <= highest) continue;
    best = i;
    highest = total;
  }
  return best;
}

/** Spreads similar numbers over all 32 bits; different numbers stay different (the MurmurHash3 finalizer). */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
