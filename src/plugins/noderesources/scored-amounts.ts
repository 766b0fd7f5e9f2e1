import type { PodTemplate } from '../../api/pod.ts';
import { cpuId, memoryId, podsId } from '../../api/resource-names.ts';
import type { ResourceId, ResourceNames } from '../../api/resource-names.ts';
import type { NodeView } from '../../cluster/node-info.ts';

/**
 * What the resources that a scorer looks at come to on one node: filled anew for each pod and node, so that scoring thousands
 * allocates nothing. As in kube-scheduler, left out (capacity 0) are resources that the node has none of, extended ones that the pod
 * does not request, and the number of pods.
 */
export class ScoredAmounts {
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

  constructor(resources: readonly string[], names: ResourceNames, options: { readonly withDefaults: boolean }) {
    this.#ids = resources.map((resource) => names.idOf(resource));
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

  /** Fills everything. */
  read(template: PodTemplate, node: NodeView): void {
    if (this.#template !== template) this.readPod(template);
    const ids = this.#ids;
    const { asked, capacity, taken } = this;
    const { allocatable, requested } = node;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id >= podsId && (id === podsId || asked[i] === 0)) {
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
}
