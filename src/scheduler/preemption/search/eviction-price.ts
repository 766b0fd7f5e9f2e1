import type { Pod } from '../../../api/pod.ts';
import { startOf } from './importance.ts';

/** What it costs to evict pods, by kube-scheduler's criteria for the choice of a node. The first that differs decides. */
export interface EvictionPrice {
  /** Evictions beyond what disruption budgets allow. */
  readonly violations: number;
  /** Highest priority; -Infinity if no pod goes. */
  readonly top: number;
  /** Sum of the priorities, each increased so that it is not negative. */
  readonly sum: number;
  readonly pods: number;
  /** The earliest start of a pod with the highest priority, in seconds since the epoch. */
  readonly since: number;
}

/** kube-scheduler adds this to every priority, so that more pods always cost more. */
const offset = 2 ** 31;

export const free: EvictionPrice = { violations: 0, top: -Infinity, sum: 0, pods: 0, since: Infinity };

export function priceOf(pods: readonly Pod[], violations = 0): EvictionPrice {
  if (pods.length === 0) return free;
  let top = -Infinity;
  let sum = 0;
  let since = Infinity;
  for (const pod of pods) {
    sum += pod.priority + offset;
    if (pod.priority > top) [top, since] = [pod.priority, startOf(pod)];
    else if (pod.priority === top) since = Math.min(since, startOf(pod));
  }
  return { violations, top, sum, pods: pods.length, since };
}

/** Returns the price of both. */
export function totalOf(a: EvictionPrice, b: EvictionPrice): EvictionPrice {
  const top = Math.max(a.top, b.top);
  const since = Math.min(a.top === top ? a.since : Infinity, b.top === top ? b.since : Infinity);
  return {
    violations: a.violations + b.violations,
    top,
    sum: a.sum + b.sum,
    pods: a.pods + b.pods,
    since,
  };
}

/** Negative if `a` is cheaper. */
export function comparePrices(a: EvictionPrice, b: EvictionPrice): number {
  if (a.violations !== b.violations) return a.violations - b.violations;
  if (a.top !== b.top) return a.top < b.top ? -1 : 1;
  if (a.sum !== b.sum) return a.sum - b.sum;
  if (a.pods !== b.pods) return a.pods - b.pods;
  if (a.since !== b.since) return a.since > b.since ? -1 : 1;
  return 0;
}
