import type { Pod } from '../../api/pod.ts';
import { amountOf } from '../../api/resource-list.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import type { ResourceId } from '../../api/resource-names.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';

/** A resource of which the cluster has too little for a group. */
export interface Shortfall {
  readonly id: ResourceId;
  readonly needed: number;
  readonly free: number;
  /** True if even the empty cluster has too little. */
  readonly isPermanent: boolean;
}

type CapacityLister = Pick<ClusterLister, 'nodes' | 'nodeOf' | 'generation'>;

interface Sums {
  readonly free: number;
  readonly allocatable: number;
}

/** Maximum number of cached sums; beyond it the cache starts over. */
const maxSums = 1024;

/** Total allocatable and free amounts of the cluster. Computes each resource once per cluster generation, for all groups. */
export class ClusterCapacity {
  readonly #cluster: CapacityLister;
  /** resource -> sums over all nodes at `#generation` */
  readonly #sums = new Map<ResourceId, Sums>();
  #generation = -1;

  constructor(cluster: CapacityLister) {
    this.#cluster = cluster;
  }

  /**
   * Returns the first resource of `needed` (a total for the group) whose free amounts on all nodes together do not suffice. Resources
   * that the `own` pods use, or used before they ended, count as free, because the total includes them. An overcommitted node counts as
   * 0, never as less. This is only a necessary condition: it ignores taints, affinity and fragmentation.
   */
  shortfall(needed: ResourceList, own: readonly Pod[]): Shortfall | undefined {
    for (let i = 0; i < needed.ids.length; i++) {
      const id = needed.ids[i]!;
      const amount = needed.amounts[i]!;
      const sums = this.#sumsOf(id);
      let { free, allocatable } = sums;
      for (const pod of own) {
        const request = amountOf(pod.template.requests, id);
        free += request;
        // The pod is on no node, or on an unknown node that no sum includes.
        if ((this.#cluster.nodeOf(pod)?.index ?? -1) < 0) allocatable += request;
      }
      if (free < amount) return { id, needed: amount, free, isPermanent: allocatable < amount };
    }
    return undefined;
  }

  #sumsOf(id: ResourceId): Sums {
    const { generation, nodes } = this.#cluster;
    // Many groups may query many resources while no node changes.
    if (generation !== this.#generation || this.#sums.size >= maxSums) {
      this.#sums.clear();
      this.#generation = generation;
    }
    let sums = this.#sums.get(id);
    if (sums === undefined) {
      let [free, allocatable] = [0, 0];
      for (const node of nodes) {
        const amount = node.allocatable.of(id);
        allocatable += amount;
        free += Math.max(0, amount - node.requested.of(id));
      }
      sums = { free, allocatable };
      this.#sums.set(id, sums);
    }
    return sums;
  }
}
