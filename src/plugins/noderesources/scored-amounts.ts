import type { PodTemplate } from '../../api/pod.ts';
import { cpuId, memoryId, podsId } from '../../api/resource-names.ts';
import type { ResourceId } from '../../api/resource-names.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';

/** Amounts of one resource on all nodes, by `NodeView.index`. */
export interface ScoredColumn {
  /** Position among the scored resources. */
  readonly position: number;
  readonly capacity: Float64Array;
  /** Requested on the node, without the pod. */
  readonly used: Float64Array;
  /** Requested by the pod. */
  readonly request: number;
}

/**
 * Amounts of the scored resources on one node. Refilled for each pod and node, so that scoring thousands of nodes allocates nothing. As
 * in kube-scheduler, some resources do not count (capacity 0): those the node does not have, extended resources that the pod does not
 * request, and the number of pods.
 */
export class ScoredAmounts {
  readonly #cluster: ClusterLister;
  readonly #ids: readonly ResourceId[];
  /** If true, a container without a request counts as 100m cpu and 200 MiB memory. */
  readonly #withDefaults: boolean;
  /** Requests of the pod per resource, for the latest template. */
  readonly requests: number[];
  /** Allocatable amount of the node per resource. */
  readonly capacity: number[];
  /** Amount requested on the node including the pod, per resource. May exceed the capacity; has no meaning if that is 0. */
  readonly used: number[];
  #template: PodTemplate | undefined;

  constructor(resources: readonly string[], cluster: ClusterLister, options: { readonly withDefaults: boolean }) {
    this.#cluster = cluster;
    this.#ids = resources.map((resource) => cluster.resources.idOf(resource));
    this.#withDefaults = options.withDefaults;
    this.requests = this.#ids.map(() => 0);
    this.capacity = this.#ids.map(() => 0);
    this.used = this.#ids.map(() => 0);
  }

  /** Fills `requests`. */
  readPod(template: PodTemplate): void {
    if (this.#template === template) return;
    this.#template = template;
    const { ids, amounts } = template.requests;
    for (let i = 0; i < this.#ids.length; i++) {
      const id = this.#ids[i]!;
      if (this.#withDefaults && id === cpuId) this.requests[i] = template.nonZeroMilliCpu;
      else if (this.#withDefaults && id === memoryId) this.requests[i] = template.nonZeroMemory;
      else this.requests[i] = amounts[ids.indexOf(id)] ?? 0;
    }
  }

  /** Returns the amounts that `read` would return, for all nodes, without resources that count on no node. Valid until any node changes. */
  columns(template: PodTemplate): readonly ScoredColumn[] {
    this.readPod(template);
    const { amounts } = this.#cluster;
    return this.#ids.flatMap((id, position) => {
      if (this.#isLeftOut(id, position)) return [];
      const request = this.requests[position]!;
      const { allocatable: capacity, requested } = amounts.of(id);
      if (!this.#withDefaults || id > memoryId) return [{ position, capacity, used: requested, request }];
      const { milliCpu, memory } = amounts.nonZero;
      return [{ position, capacity, used: id === cpuId ? milliCpu : memory, request }];
    });
  }

  /** Like `read` for the node with this index, from the latest result of `columns`. */
  readAt(columns: readonly ScoredColumn[], index: number): void {
    this.capacity.fill(0);
    for (let i = 0; i < columns.length; i++) {
      const { position, capacity, used, request } = columns[i]!;
      this.capacity[position] = capacity[index]!;
      this.used[position] = used[index]! + request;
    }
  }

  /** Fills `requests`, `capacity` and `used`. */
  read(template: PodTemplate, node: NodeView): void {
    if (this.#template !== template) this.readPod(template);
    const ids = this.#ids;
    const { requests, capacity, used } = this;
    const { allocatable, requested } = node;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (this.#isLeftOut(id, i)) {
        capacity[i] = 0;
        continue;
      }
      capacity[i] = allocatable.of(id);
      if (this.#withDefaults && id <= memoryId) {
        used[i] = (id === cpuId ? node.nonZeroMilliCpu : node.nonZeroMemory) + requests[i]!;
      } else {
        used[i] = requested.of(id) + requests[i]!;
      }
    }
  }

  #isLeftOut(id: ResourceId, i: number): boolean {
    return id >= podsId && (id === podsId || this.requests[i] === 0);
  }
}
