import type { ResourceSum } from '../../api/resource-list.ts';
import { readResources } from '../../api/resource-list.ts';

/** Why a node rejects a pod, in the kubelet's words. */
export interface Rejection {
  /** OutOfcpu, OutOfpods, NodeAffinity, … */
  readonly reason: string;
  readonly message: string;
}

/**
 * The resources of a node and the pods that use them. Counts only pods that this node admitted, so it detects when a scheduler binds
 * more pods than fit.
 */
export class NodeCapacity {
  readonly #allocatable: ResourceSum;
  /** Resource name -> amount in use by admitted pods */
  readonly #used: ResourceSum = new Map();
  /** Pod uid -> its requests */
  readonly #admitted = new Map<string, ResourceSum>();

  constructor(allocatable: Readonly<Record<string, string | number>>) {
    this.#allocatable = readResources(allocatable);
  }

  /** Allocates capacity for a pod, or returns why it does not fit. Does nothing for a pod that is already admitted. */
  admit(uid: string, requests: ResourceSum): Rejection | undefined {
    if (this.#admitted.has(uid)) return undefined;
    for (const name of inCheckOrder(requests)) {
      const requested = requests.get(name) ?? 0;
      const used = this.#used.get(name) ?? 0;
      // A kubelet ignores unknown resources. Here no other component would reject the pod, so the node has none of them.
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

  /** Allocates capacity for a running pod without a check. */
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

/** Order in which a kubelet checks resources: pods, cpu, memory, ephemeral storage, then the others. */
function inCheckOrder(requests: ResourceSum): readonly string[] {
  const first = ['pods', 'cpu', 'memory', 'ephemeral-storage'];
  return [...first, ...[...requests.keys()].filter((name) => !first.includes(name)).sort()];
}
