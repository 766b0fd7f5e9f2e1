import type { ResourceSum } from '../api/resource-list.ts';
import { readResources } from '../api/resource-list.ts';
import { cpuId, ephemeralStorageId, memoryId, podsId } from '../api/resource-names.ts';
import type { ResourceId, ResourceNames } from '../api/resource-names.ts';

/** Why a node refuses a pod, in the kubelet's words. */
export interface Refusal {
  /** OutOfcpu, OutOfpods, NodeAffinity, … */
  readonly reason: string;
  readonly message: string;
}

/**
 * A node's resources and who has them. Knows only the pods that this node has admitted, so that it finds out by itself when
 * somebody has bound more to it than fits.
 */
export class NodeRoom {
  readonly #names: ResourceNames;
  readonly #allocatable: ResourceSum;
  /** Resource id -> amount that admitted pods have. */
  readonly #used: ResourceSum = new Map();
  /** Pod uid -> what it has. */
  readonly #admitted = new Map<string, ResourceSum>();

  constructor(allocatable: Readonly<Record<string, string | number>>, names: ResourceNames) {
    this.#names = names;
    this.#allocatable = readResources(allocatable, names);
  }

  /** Gives a pod its room, or says why not. A pod that has its room already keeps it. */
  admit(uid: string, requests: ResourceSum): Refusal | undefined {
    if (this.#admitted.has(uid)) return undefined;
    for (const id of inOrderOfReport(requests)) {
      const requested = requests.get(id) ?? 0;
      const used = this.#used.get(id) ?? 0;
      // Unlike a kubelet, which leaves resources that it does not know to others: here nobody else would refuse.
      const capacity = this.#allocatable.get(id) ?? 0;
      if (requested === 0 || used + requested <= capacity) continue;
      const name = this.#names.nameOf(id);
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
    for (const [id, amount] of requests) this.#used.set(id, (this.#used.get(id) ?? 0) + amount);
  }

  release(uid: string): void {
    const requests = this.#admitted.get(uid);
    if (requests === undefined) return;
    this.#admitted.delete(uid);
    for (const [id, amount] of requests) this.#used.set(id, (this.#used.get(id) ?? 0) - amount);
  }
}

/** A kubelet names the first of several: pods, cpu, memory, ephemeral storage, then the others. */
function inOrderOfReport(requests: ResourceSum): readonly ResourceId[] {
  const first = [podsId, cpuId, memoryId, ephemeralStorageId];
  return [...first, ...[...requests.keys()].filter((id) => !first.includes(id)).sort((a, b) => a - b)];
}
