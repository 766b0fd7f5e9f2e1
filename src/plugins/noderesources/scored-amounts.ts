import type { PodTemplate } from '../../api/pod.ts';
import { cpuId, memoryId, podsId } from '../../api/resource-names.ts';
import type { ResourceId } from '../../api/resource-names.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';

/** Of one resource, by `NodeView.index`. */
interface Columns {
  readonly capacity: Float64Array;
  /** Without the pod. */
  readonly taken: Float64Array;
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
  /** Of the resources, in order; undefined: left out. */
  #columns: readonly (Columns | undefined)[] = [];

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

  /** Begins to go through nodes of which `readAt` is asked; nothing may be placed meanwhile. */
  begin(template: PodTemplate): void {
    this.readPod(template);
    const { amounts } = this.#cluster;
    this.#columns = this.#ids.map((id, i) => {
      if (this.#isLeftOut(id, i)) return undefined;
      const { allocatable: capacity, requested } = amounts.of(id);
      if (!this.#withDefaults || id > memoryId) return { capacity, taken: requested };
      const { milliCpu, memory } = amounts.nonZero;
      return { capacity, taken: id === cpuId ? milliCpu : memory };
    });
  }

  /** As `read`, of the node with this index. */
  readAt(index: number): void {
    const { asked, capacity, taken } = this;
    const columns = this.#columns;
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i];
      if (column === undefined) {
        capacity[i] = 0;
        continue;
      }
      capacity[i] = column.capacity[index]!;
      taken[i] = column.taken[index]! + asked[i]!;
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
