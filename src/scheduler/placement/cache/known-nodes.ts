import type { NodeInfo } from '../../../cluster/node-info.ts';

const unknown = -1;

/**
 * Which nodes the plugins that look at one node alone let a pod go to, a bit each, as they were at some moment of a plan. Far smaller
 * than what they answered, so that each of a thousand kinds can have one.
 */
export class KnownNodes {
  /** By node index: what is known, then what it is. */
  #bits = new Uint32Array(0);
  #words = 0;
  /** Generation of the cluster up to which the bits are of its nodes. */
  #asOf = unknown;

  /** From here on all nodes that are looked at are to be noted. */
  begin(nodeCount: number, generation: number): void {
    this.#words = (nodeCount + 31) >> 5;
    this.#bits = new Uint32Array(2 * this.#words);
    this.#asOf = generation;
  }

  forget(): void {
    this.#asOf = unknown;
  }

  /** Undefined: not known, or it has changed since. */
  fits({ index, generation }: NodeInfo): boolean | undefined {
    if (generation > this.#asOf) return undefined;
    const bit = 1 << (index & 31);
    const word = index >> 5;
    if ((this.#bits[word]! & bit) === 0) return undefined;
    return (this.#bits[this.#words + word]! & bit) !== 0;
  }

  /** What claims mean is not noted: it is looked at each time. */
  note({ index, reservations }: NodeInfo, fits: boolean): void {
    if (reservations.size > 0) return;
    const bit = 1 << (index & 31);
    const word = index >> 5;
    this.#bits[word]! |= bit;
    if (fits) this.#bits[this.#words + word]! |= bit;
  }
}
