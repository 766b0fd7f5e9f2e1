import type { NodeInfo } from '../../../cluster/node-info.ts';

const unknown = -1;

/**
 * The nodes that the node-local plugins accept for a pod at one moment of a plan, one bit each. It is far smaller than their full
 * results, so each of a thousand pod classes can have one.
 */
export class KnownNodes {
  /** By node index: first whether the result is known, then the result. */
  #bits = new Uint32Array(0);
  #words = 0;
  /** Cluster generation up to which the bits are valid. */
  #asOf = unknown;

  /** Starts with no result; the caller then notes each node that it checks. */
  begin(nodeCount: number, generation: number): void {
    this.#words = (nodeCount + 31) >> 5;
    this.#bits = new Uint32Array(2 * this.#words);
    this.#asOf = generation;
  }

  forget(): void {
    this.#asOf = unknown;
  }

  /** Returns undefined if the result is unknown or the node has changed since. */
  fits({ index, generation }: NodeInfo): boolean | undefined {
    if (generation > this.#asOf) return undefined;
    const bit = 1 << (index & 31);
    const word = index >> 5;
    if ((this.#bits[word]! & bit) === 0) return undefined;
    return (this.#bits[this.#words + word]! & bit) !== 0;
  }

  /** Records the result. Skips nodes with reservations, which are checked each time. */
  note({ index, reservations }: NodeInfo, fits: boolean): void {
    if (reservations.size > 0) return;
    const bit = 1 << (index & 31);
    const word = index >> 5;
    this.#bits[word]! |= bit;
    if (fits) this.#bits[this.#words + word]! |= bit;
  }
}
