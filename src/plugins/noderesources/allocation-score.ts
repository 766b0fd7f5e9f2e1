import type { PodTemplate } from '../../api/pod.ts';
import { cpuId, memoryId, podsId } from '../../api/resource-names.ts';
import type { ResourceId, ResourceNames } from '../../api/resource-names.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import { maxNodeScore } from '../node-score.ts';
import type { AllocationStrategy, ScoredResource } from './fit-arguments.ts';

const notRequested = -1;

/**
 * kube-scheduler's LeastAllocated and MostAllocated: for each resource the free (or used) share of the node with the pod
 * on it, in whole percent; then their weighted mean, rounded down. For cpu and memory a container without a request
 * counts 100m and 200 MiB. Left out are resources that the node has none of, and extended ones that the pod does not
 * request.
 */
export class AllocationScore {
  readonly #mostAllocated: boolean;
  readonly #ids: readonly ResourceId[];
  readonly #weights: readonly number[];
  // The pod's amounts in the order of the ids, for the template asked about last: a cycle asks about one for thousands
  // of nodes.
  #template: PodTemplate | undefined;
  readonly #amounts: number[];

  constructor(strategy: AllocationStrategy, scored: readonly ScoredResource[], names: ResourceNames) {
    this.#mostAllocated = strategy === 'MostAllocated';
    this.#ids = scored.map((resource) => names.idOf(resource.name));
    this.#weights = scored.map((resource) => resource.weight);
    this.#amounts = this.#ids.map(() => notRequested);
  }

  /** A whole number from 0 to 100. */
  of(template: PodTemplate, node: NodeView): number {
    if (this.#template !== template) this.#remember(template);
    const { allocatable, requested } = node;
    let sum = 0;
    let weights = 0;
    for (let i = 0; i < this.#ids.length; i++) {
      const id = this.#ids[i]!;
      const amount = this.#amounts[i]!;
      const capacity = id < allocatable.length ? allocatable[id]! : 0;
      if (amount === notRequested || capacity === 0) continue;
      let used = id < requested.length ? requested[id]! : 0;
      if (id === cpuId) used = node.nonZeroMilliCpu;
      else if (id === memoryId) used = node.nonZeroMemory;
      used = Math.min(used + amount, capacity);
      const share = this.#mostAllocated ? used : capacity - used;
      sum += this.#weights[i]! * Math.floor((share * maxNodeScore) / capacity);
      weights += this.#weights[i]!;
    }
    return weights === 0 ? 0 : Math.floor(sum / weights);
  }

  #remember(template: PodTemplate): void {
    const { ids, amounts } = template.requests;
    for (let i = 0; i < this.#ids.length; i++) {
      const id = this.#ids[i]!;
      const at = ids.indexOf(id);
      if (id === cpuId) this.#amounts[i] = template.nonZeroMilliCpu;
      else if (id === memoryId) this.#amounts[i] = template.nonZeroMemory;
      else this.#amounts[i] = at >= 0 ? amounts[at]! : id < podsId ? 0 : notRequested;
    }
    this.#template = template;
  }
}
