import type { Pod } from '../../api/pod.ts';
import { amountOf } from '../../api/resource-list.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import type { ResourceId } from '../../api/resource-names.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';

/** One resource of which the whole cluster has too little for a group. */
export interface Shortfall {
  readonly id: ResourceId;
  readonly needed: number;
  readonly free: number;
  /** Not even the empty cluster has enough. */
  readonly isForGood: boolean;
}

type CapacityLister = Pick<ClusterLister, 'nodes' | 'nodeOf' | 'generation'>;

interface Sums {
  readonly free: number;
  readonly allocatable: number;
}

/** Sums that are kept; beyond them all are made anew as they are asked for. */
const mostSums = 1024;

/** What the nodes have in sum, added up once for a state of the cluster and a resource, however many groups ask. */
export class ClusterCapacity {
  readonly #cluster: CapacityLister;
  /** resource -> sums over all nodes, as of `#generation` */
  readonly #sums = new Map<ResourceId, Sums>();
  #generation = -1;

  constructor(cluster: CapacityLister) {
    this.#cluster = cluster;
  }

  /**
   * The first resource of `needed` (a total for the group) that is not free in sum over all nodes. What the `own` pods take, or
   * took before they ended, counts as free, because the total includes it; an over-committed node counts as 0, never as
   * less. A necessary condition only: taints, affinity and fragmentation are not looked at.
   */
  shortfall(needed: ResourceList, own: readonly Pod[]): Shortfall | undefined {
    for (let i = 0; i < needed.ids.length; i++) {
      const id = needed.ids[i]!;
      const amount = needed.amounts[i]!;
      const sums = this.#sumsOf(id);
      let { free, allocatable } = sums;
      for (const pod of own) {
        const held = amountOf(pod.template.requests, id);
        free += held;
        // On none any more, or on a node that has not been shown, whose room is in no sum.
        if ((this.#cluster.nodeOf(pod)?.index ?? -1) < 0) allocatable += held;
      }
      if (free < amount) return { id, needed: amount, free, isForGood: allocatable < amount };
    }
    return undefined;
  }

  #sumsOf(id: ResourceId): Sums {
    const { generation, nodes } = this.#cluster;
    // Groups may ask for any number of resources while no node changes.
    if (generation !== this.#generation || this.#sums.size >= mostSums) {
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
