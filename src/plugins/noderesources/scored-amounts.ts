import type { PodTemplate } from '../../api/pod.ts';
import { cpuId, memoryId, podsId } from '../../api/resource-names.ts';
import type { ResourceId } from '../../api/resource-names.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';

/** One of the resources, on all nodes by `NodeView.index`. */
export interface ScoredColumn {
  /** Its place among the resources. */
  readonly position: number;
  readonly capacity: Float64Array;
  /** Without the pod. */
  readonly taken: Float64Array;
  /** By the pod. */
  readonly asked: number;
}

/**
 * What the resources that a scorer looks at come to on one node: filled anew for each pod and node, so that scoring thousands
 * allocates nothing. As in kube-scheduler, left out (capacity 0) are resources that the node has none of, extended ones that the pod
 * does not request, and the number of pods.
 */
export class ScoredAmounts {
  readonly #cluster: ClusterLister;
  readonly #ids: readonly ResourceId[];
  /** For cpu and memory a container without a request counts 100m and 200 MiB. */
  readonly #withDefaults: boolean;
  /** What the pod asks for of each, for the template asked about last. */
  readonly asked: number[];
  /** What the node can allocate of each. */
  readonly capacity: number[];
  /** What is taken of each with the pod on the node, unless the capacity is 0; may be more than that. */
  readonly taken: number[];
  #template: PodTemplate | undefined;

  constructor(resources: readonly string[], cluster: ClusterLister, options: { readonly withDefaults: boolean }) {
    this.#cluster = cluster;
    this.#ids = resources.map((resource) => cluster.resources.idOf(resource));
    this.#withDefaults = options.withDefaults;
    this.asked = this.#ids.map(() => 0);
    this.capacity = this.#ids.map(() => 0);
    this.taken = this.#ids.map(() => 0);
  }

  /** Fills `asked`. */
  readPod(template: PodTemplate): void {
    if (this.#template === template) return;
    this.#template = template;
    const { ids, amounts } = template.requests;
    for (let i = 0; i < this.#ids.length; i++) {
      const id = this.#ids[i]!;
      if (this.#withDefaults && id === cpuId) this.asked[i] = template.nonZeroMilliCpu;
      else if (this.#withDefaults && id === memoryId) this.asked[i] = template.nonZeroMemory;
      else this.asked[i] = amounts[ids.indexOf(id)] ?? 0;
    }
  }

  /** What `read` would find on each node, but for resources that are left out on all; good until anything about any node changes. */
  columns(template: PodTemplate): readonly ScoredColumn[] {
    this.readPod(template);
    const { amounts } = this.#cluster;
    return this.#ids.flatMap((id, position) => {
      if (this.#isLeftOut(id, position)) return [];
      const asked = this.asked[position]!;
      const { allocatable: capacity, requested } = amounts.of(id);
      if (!this.#withDefaults || id > memoryId) return [{ position, capacity, taken: requested, asked }];
      const { milliCpu, memory } = amounts.nonZero;
      return [{ position, capacity, taken: id === cpuId ? milliCpu : memory, asked }];
    });
  }

  /** As `read`, of the node with this index, from the columns that were made last. */
  readAt(columns: readonly ScoredColumn[], index: number): void {
    this.capacity.fill(0);
    for (let i = 0; i < columns.length; i++) {
      const { position, capacity, taken, asked } = columns[i]!;
      this.capacity[position] = capacity[index]!;
      this.taken[position] = taken[index]! + asked;
    }
  }

  /** Fills everything. */
  read(template: PodTemplate, node: NodeView): void {
    if (this.#template !== template) this.readPod(template);
    const ids = this.#ids;
    const { asked, capacity, taken } = this;
    const { allocatable, requested } = node;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (this.#isLeftOut(id, i)) {
        capacity[i] = 0;
        continue;
      }
      capacity[i] = allocatable.of(id);
      if (this.#withDefaults && id <= memoryId) {
        taken[i] = (id === cpuId ? node.nonZeroMilliCpu : node.nonZeroMemory) + asked[i]!;
      } else {
        taken[i] = requested.of(id) + asked[i]!;
      }
    }
  }

  #isLeftOut(id: ResourceId, i: number): boolean {
    return id >= podsId && (id === podsId || this.asked[i] === 0);
  }
}
