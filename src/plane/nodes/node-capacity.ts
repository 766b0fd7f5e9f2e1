import type { ResourceSum } from '../../api/resource-list.ts';
import { readResources } from '../../api/resource-list.ts';

/** Why a node rejects a pod, in the kubelet's words. */
export interface Rejection {
  /** OutOfcpu, OutOfpods, NodeAffinity, … */
  readonly reason: string;
  readonly message: string;
}

/**
 * A node's resources and who has them. Knows only the pods that this node has admitted, so that it finds out by itself when
 * somebody has bound more to it than fits.
 */
export class NodeCapacity {
  readonly #allocatable: ResourceSum;
  /** Resource name -> amount that admitted pods have. */
  readonly #used: ResourceSum = new Map();
  /** Pod uid -> what it has. */
  readonly #admitted = new Map<string, ResourceSum>();

  constructor(allocatable: Readonly<Record<string, string | number>>) {
    this.#allocatable = readResources(allocatable);
  }

  /** Gives a pod its room, or says why not. A pod that has its room already keeps it. */
  admit(uid: string, requests: ResourceSum): Rejection | undefined {
    if (this.#admitted.has(uid)) return undefined;
    for (const name of inOrderOfReport(requests)) {
      const requested = requests.get(name) ?? 0;
      const used = this.#used.get(name) ?? 0;
      // Unlike a kubelet, which leaves resources that it does not know to others: here nobody else would reject.
      const capacity = this.#allocatable.get(name) ?? 0;
      if (requested === 0 || used + requested <= capacity) continue;
      return {
        reason: `OutOf${name}`,
        message: `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
      };
    }
    this.take(uid, requests);
    return undefined;
  }

  /** Gives a pod its room without asking: one that is running already. */
  take(uid: string, requests: ResourceSum): void {
    if (this.#admitted.has(uid)) return;
    this.#admitted.set(uid, requests);
    for (const [name, amount] of requests) this.#used.set(name, (this.#used.get(name) ?? 0) + amount);
  }

  release(uid: string): void {
    const requests = this.#admitted.get(uid);
    if (requests === undefined) return;
    this.#admitted.delete(uid);
    for (const [name, amount] of requests) this.#used.set(name, (this.#used.get(name) ?? 0) - amount);
  }
}

/** A kubelet names the first of several: pods, cpu, memory, ephemeral storage, then the others. */
function inOrderOfReport(requests: ResourceSum): readonly string[] {
  const first = ['pods', 'cpu', 'memory', 'ephemeral-storage'];
  return [...first, ...[...requests.keys()].filter((name) => !first.includes(name)).sort()];
}
