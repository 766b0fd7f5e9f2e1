import type { Pod, PodTemplate } from '../../api/pod.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip } from '../../framework/status.ts';
import type { Status } from '../../framework/status.ts';
import { latestTemplate } from '../latest-template.ts';
import { maxNodeScore } from '../node-score.ts';
import { readBalancedResources } from './balanced-arguments.ts';
import { ScoredAmounts } from './scored-amounts.ts';
import type { ScoredColumn } from './scored-amounts.ts';

const name = 'NodeResourcesBalancedAllocation';
/** Score if the pod does not change how evenly the resources are used. */
const neutralScore = 75;

/**
 * Prefers nodes on which the pod balances the use of the resources. Uses kube-scheduler's formula, which compares the standard deviation
 * of the used shares with and without the pod. Scores 50 to 100; 75 if the pod does not change the balance. Skips pods that request none
 * of the resources, so that they don't all go to the same node.
 */
class BalancedAllocation implements Plugin {
  readonly name = name;
  readonly #amounts: ScoredAmounts;
  readonly #signature: (template: PodTemplate) => string;

  constructor(amounts: ScoredAmounts) {
    this.#amounts = amounts;
    this.#signature = latestTemplate((template) => {
      amounts.readPod(template);
      return amounts.requests.join(',');
    });
  }

  sign(pod: Pod): string {
    return this.#signature(pod.template);
  }

  preScore(_state: CycleState, pod: Pod): Status | undefined {
    this.#amounts.readPod(pod.template);
    return this.#amounts.requests.every((amount) => amount === 0) ? skip : undefined;
  }

  score(_state: CycleState, pod: Pod, node: NodeView): number {
    this.#amounts.read(pod.template, node);
    return this.#balance();
  }

  scoreAll(_state: CycleState, pod: Pod, indexes: Int32Array, size: number, scores: Float64Array): void {
    const amounts = this.#amounts;
    const columns = amounts.columns(pod.template);
    const [first, second] = columns;
    if (columns.length === 2) {
      balanceOfTwo(first!, second!, indexes, size, scores);
      return;
    }
    for (let i = 0; i < size; i++) {
      const index = indexes[i]!;
      amounts.readAt(columns, index);
      scores[index] = this.#balance();
    }
  }

  /** Computes the score from the amounts that `#amounts` read last. */
  #balance(): number {
    const { capacity, used, requests } = this.#amounts;
    let count = 0;
    let firstWith = 0;
    let firstWithout = 0;
    let secondWith = 0;
    let secondWithout = 0;
    for (let i = 0; i < capacity.length; i++) {
      if (capacity[i] === 0) continue;
      const shareWith = shareOf(used[i]!, capacity[i]!);
      const shareWithout = shareOf(used[i]! - requests[i]!, capacity[i]!);
      if (count === 0) {
        firstWith = shareWith;
        firstWithout = shareWithout;
      } else {
        secondWith = shareWith;
        secondWithout = shareWithout;
      }
      count++;
    }
    if (count < 2) return neutralScore;
    if (count > 2) return scoreOf(this.#evenness(count, true), this.#evenness(count, false));
    return scoreOf(
      evennessOf(Math.abs((firstWith - secondWith) / 2)),
      evennessOf(Math.abs((firstWithout - secondWithout) / 2)),
    );
  }

  /** Returns how evenly the resources are used, with or without the pod: 50 to 100. */
  #evenness(count: number, withPod: boolean): number {
    const { capacity, used, requests } = this.#amounts;
    const shares = capacity.flatMap((amount, i) =>
      amount === 0 ? [] : [shareOf(withPod ? used[i]! : used[i]! - requests[i]!, amount)],
    );
    const mean = shares.reduce((sum, share) => sum + share, 0) / count;
    return evennessOf(Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) * (share - mean), 0) / count));
  }
}

/** Like `#balance`, for many nodes and exactly two scored resources (the default). */
function balanceOfTwo(
  { capacity: firstCapacity, used: firstUsed, request: firstRequest }: ScoredColumn,
  { capacity: secondCapacity, used: secondUsed, request: secondRequest }: ScoredColumn,
  indexes: Int32Array,
  size: number,
  scores: Float64Array,
): void {
  for (let i = 0; i < size; i++) {
    const index = indexes[i]!;
    const first = firstCapacity[index]!;
    const second = secondCapacity[index]!;
    if (first === 0 || second === 0) {
      scores[index] = neutralScore;
      continue;
    }
    // Add and then subtract the pod, as for a single node: for large numbers the result may differ from the original amount.
    const firstWith = firstUsed[index]! + firstRequest;
    const secondWith = secondUsed[index]! + secondRequest;
    const withPod = shareOf(firstWith, first) - shareOf(secondWith, second);
    const without = shareOf(firstWith - firstRequest, first) - shareOf(secondWith - secondRequest, second);
    scores[index] = scoreOf(evennessOf(Math.abs(withPod / 2)), evennessOf(Math.abs(without / 2)));
  }
}

function scoreOf(evennessWith: number, evennessWithout: number): number {
  const half = maxNodeScore / 2;
  return half + Math.floor((half + evennessWith - evennessWithout) / 2);
}

function shareOf(amount: number, capacity: number): number {
  return amount >= capacity ? 1 : amount / capacity;
}

function evennessOf(deviation: number): number {
  return Math.floor((1 - deviation) * maxNodeScore);
}

/** Arguments: kube-scheduler's NodeResourcesBalancedAllocationArgs. */
export const createBalancedAllocation: PluginFactory = (args, { cluster }) =>
  new BalancedAllocation(new ScoredAmounts(readBalancedResources(args), cluster, { withDefaults: false }));
