import type { NodeInfo } from '../../cluster/node-info.ts';

/**
 * Which nodes the plugins that look at one node alone let a pod go to, a bit each, as they were at some moment of a plan. Far smaller
 * than what they answered, so that each of a thousand kinds can have one.
 */
export class KnownNodes {
  #bits = new Uint32Array(0);
  /** Generation of the cluster up to which the bits are of its nodes; -1: nothing is known. */
  #asOf = -1;

  /** From here on all nodes that are looked at are noted. */
  begin(nodeCount: number, generation: number): void {
    this.#bits = new Uint32Array((nodeCount + 31) >> 5);
    this.#asOf = generation;
  }

  forget(): void {
    this.#asOf = -1;
  }

  /** Undefined: not known, or it has changed since. What claims mean is looked at each time. */
  fits(node: NodeInfo): boolean | undefined {
    if (node.generation > this.#asOf || node.claims.size > 0) return undefined;
    return (this.#bits[node.index >> 5]! & (1 << (node.index & 31))) !== 0;
  }

  note(node: NodeInfo): void {
    this.#bits[node.index >> 5]! |= 1 << (node.index & 31);
  }
}
