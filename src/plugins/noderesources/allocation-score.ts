import type { PodTemplate } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import { valueAt } from '../utilization-shape.ts';
import type { AllocationStrategy, ScoredResource } from './fit-arguments.ts';
import { ScoredAmounts } from './scored-amounts.ts';
import type { ScoredColumn } from './scored-amounts.ts';
import { wholePercent } from '../whole-percent.ts';

/** Scores the utilization of one resource of a node: 0 to 100. */
type ResourceScorer = (used: number, capacity: number) => number;

/**
 * kube-scheduler's LeastAllocated, MostAllocated and RequestedToCapacityRatio. Scores each resource as if the pod were on the node, as
 * an integer. The node's score is the weighted mean, rounded down. RequestedToCapacityRatio omits resources with score 0 and rounds the
 * mean to the nearest integer. `ScoredAmounts` defines the amounts and which resources count.
 */
export class AllocationScore {
  readonly #amounts: ScoredAmounts;
  readonly #weights: readonly number[];
  readonly #scoreResource: ResourceScorer;
  readonly #isRatio: boolean;
  /** Scratch buffer: the total weight of the resources that count on each node. */
  #totalWeights = new Float64Array(0);

  constructor(strategy: AllocationStrategy, scored: readonly ScoredResource[], cluster: ClusterLister) {
    const resources = scored.map(({ name }) => name);
    this.#amounts = new ScoredAmounts(resources, cluster, { withDefaults: true });
    this.#weights = scored.map(({ weight }) => weight);
    this.#isRatio = strategy.type === 'RequestedToCapacityRatio';
    this.#scoreResource = resourceScorerOf(strategy);
  }

  /** Returns an integer from 0 to 100. */
  of(template: PodTemplate, node: NodeView): number {
    this.#amounts.read(template, node);
    return this.#score();
  }

  /** Like `of`, for the first `size` nodes of `indexes`. Goes through the nodes once per resource. Writes to `scores`. */
  ofAll(template: PodTemplate, indexes: Int32Array, size: number, scores: Float64Array): void {
    if (this.#totalWeights.length < size) this.#totalWeights = new Float64Array(size + (size >> 1));
    const totalWeights = this.#totalWeights;
    totalWeights.fill(0, 0, size);
    for (let i = 0; i < size; i++) scores[indexes[i]!] = 0;
    for (const column of this.#amounts.columns(template)) {
      this.#add(column, indexes, size, scores, totalWeights);
    }
    const isRatio = this.#isRatio;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      const mean = totalWeights[i] === 0 ? 0 : scores[index]! / totalWeights[i]!;
      scores[index] = isRatio ? Math.round(mean) : Math.floor(mean);
    }
  }

  #add(
    { position, capacity, used, request }: ScoredColumn,
    indexes: Int32Array,
    size: number,
    sums: Float64Array,
    totalWeights: Float64Array,
  ): void {
    const weight = this.#weights[position]!;
    const scoreResource = this.#scoreResource;
    const isRatio = this.#isRatio;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      const amount = capacity[index]!;
      if (amount === 0) continue;
      const score = scoreResource(used[index]! + request, amount);
      if (isRatio && score === 0) continue;
      sums[index] = sums[index]! + weight * score;
      totalWeights[i] = totalWeights[i]! + weight;
    }
  }

  /** Computes the score from the amounts that `#amounts` read last. */
  #score(): number {
    const { capacity, used } = this.#amounts;
    let sum = 0;
    let weights = 0;
    for (let i = 0; i < capacity.length; i++) {
      if (capacity[i] === 0) continue;
      const score = this.#scoreResource(used[i]!, capacity[i]!);
      if (this.#isRatio && score === 0) continue;
      sum += this.#weights[i]! * score;
      weights += this.#weights[i]!;
    }
    if (weights === 0) return 0;
    return this.#isRatio ? Math.round(sum / weights) : Math.floor(sum / weights);
  }
}

function resourceScorerOf(strategy: AllocationStrategy): ResourceScorer {
  switch (strategy.type) {
    case 'LeastAllocated':
      return (used, capacity) => (used > capacity ? 0 : wholePercent(capacity - used, capacity));
    case 'MostAllocated':
      return (used, capacity) => wholePercent(Math.min(used, capacity), capacity);
    case 'RequestedToCapacityRatio':
      return (used, capacity) => valueAt(strategy.shape, used > capacity ? 100 : wholePercent(used, capacity));
  }
}
