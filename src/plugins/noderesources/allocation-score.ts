import type { PodTemplate } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import { valueAt } from '../utilization-shape.ts';
import type { AllocationStrategy, ScoredResource } from './fit-arguments.ts';
import { ScoredAmounts } from './scored-amounts.ts';
import type { ScoredColumn } from './scored-amounts.ts';
import { wholePercent } from '../whole-percent.ts';

/** How good it is that so much of a resource is taken of what the node has: 0 to 100. */
type Rating = (taken: number, capacity: number) => number;

/**
 * kube-scheduler's LeastAllocated, MostAllocated and RequestedToCapacityRatio: each resource is rated with the pod on the node,
 * in whole numbers; then their weighted mean, rounded down. RequestedToCapacityRatio leaves out resources rated 0, and rounds the
 * mean to the nearest. What is counted of a resource, and which are left out, says `ScoredAmounts`.
 */
export class AllocationScore {
  readonly #amounts: ScoredAmounts;
  readonly #weights: readonly number[];
  readonly #rating: Rating;
  readonly #byRatio: boolean;
  /** Working room: the weights of the resources that count on each node. */
  #weighed = new Float64Array(0);

  constructor(strategy: AllocationStrategy, scored: readonly ScoredResource[], cluster: ClusterLister) {
    const resources = scored.map(({ name }) => name);
    this.#amounts = new ScoredAmounts(resources, cluster, { withDefaults: true });
    this.#weights = scored.map(({ weight }) => weight);
    this.#byRatio = strategy.type === 'RequestedToCapacityRatio';
    this.#rating = ratingOf(strategy);
  }

  /** A whole number from 0 to 100. */
  of(template: PodTemplate, node: NodeView): number {
    this.#amounts.read(template, node);
    return this.#rated();
  }

  /** As `of`, of the first `size` nodes of `indexes`, into `scores`: resource by resource. */
  ofAll(template: PodTemplate, indexes: Int32Array, size: number, scores: Float64Array): void {
    if (this.#weighed.length < size) this.#weighed = new Float64Array(size + (size >> 1));
    const weighed = this.#weighed;
    weighed.fill(0, 0, size);
    for (let i = 0; i < size; i++) scores[indexes[i]!] = 0;
    for (const column of this.#amounts.columns(template)) {
      this.#add(column, indexes, size, scores, weighed);
    }
    const byRatio = this.#byRatio;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      const mean = weighed[i] === 0 ? 0 : scores[index]! / weighed[i]!;
      scores[index] = byRatio ? Math.round(mean) : Math.floor(mean);
    }
  }

  #add(
    { position, capacity, taken, asked }: ScoredColumn,
    indexes: Int32Array,
    size: number,
    sums: Float64Array,
    weighed: Float64Array,
  ): void {
    const weight = this.#weights[position]!;
    const rating = this.#rating;
    const byRatio = this.#byRatio;
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      const whole = capacity[index]!;
      if (whole === 0) continue;
      const rated = rating(taken[index]! + asked, whole);
      if (byRatio && rated === 0) continue;
      sums[index] = sums[index]! + weight * rated;
      weighed[i] = weighed[i]! + weight;
    }
  }

  /** Of the amounts that were read last. */
  #rated(): number {
    const { capacity, taken } = this.#amounts;
    let sum = 0;
    let weights = 0;
    for (let i = 0; i < capacity.length; i++) {
      if (capacity[i] === 0) continue;
      const rating = this.#rating(taken[i]!, capacity[i]!);
      if (this.#byRatio && rating === 0) continue;
      sum += this.#weights[i]! * rating;
      weights += this.#weights[i]!;
    }
    if (weights === 0) return 0;
    return this.#byRatio ? Math.round(sum / weights) : Math.floor(sum / weights);
  }
}

function ratingOf(strategy: AllocationStrategy): Rating {
  switch (strategy.type) {
    case 'LeastAllocated':
      return (taken, capacity) => (taken > capacity ? 0 : wholePercent(capacity - taken, capacity));
    case 'MostAllocated':
      return (taken, capacity) => wholePercent(Math.min(taken, capacity), capacity);
    case 'RequestedToCapacityRatio':
      return (taken, capacity) => valueAt(strategy.shape, taken > capacity ? 100 : wholePercent(taken, capacity));
  }
}
