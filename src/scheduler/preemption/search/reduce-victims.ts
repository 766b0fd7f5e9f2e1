import type { Pod } from '../../../api/pod.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { EvictionUnit } from '../../../framework/preemption-policy.ts';
import { sumOver } from './candidate-node.ts';
import type { CandidateNode } from './candidate-node.ts';
import type { EvictablePod } from './evictable-pod.ts';
import type { Victims } from './victims.ts';

/** Work to put a pod back, or to take it out again. */
const workPerPod = 4;

export interface ReductionOptions {
  /** node name -> candidate; in the estimate, the victims are gone from them */
  readonly candidates: ReadonlyMap<string, CandidateNode>;
  /** Returns how many members a node has capacity for. */
  readonly slots: (candidate: CandidateNode) => number;
  /** How many slots may be lost. */
  readonly spare: number;
}

/**
 * Returns the victims without those that are not needed after all, although they were when a member was placed. `choices`: the pods that go
 * alone, and one of each unit that goes whole, in the order in which they are put back. Runs in steps.
 */
export function* reduceVictims(
  victims: Victims,
  choices: readonly EvictablePod[],
  { candidates, slots, spare }: ReductionOptions,
  budget: WorkBudget,
): Yielding<Victims> {
  const needless = new Set<Pod>();
  let left = spare;
  const changeAll = (pods: readonly Pod[], sign: 1 | -1): void => {
    budget.spend(pods.length * workPerPod);
    for (const pod of pods) candidates.get(pod.nodeName)?.change(pod, sign);
  };
  /** Puts pods back unless that takes too many slots. */
  const putBack = (pods: readonly Pod[]): boolean => {
    const touched = new Set(pods.flatMap(({ nodeName }) => candidates.get(nodeName) ?? []));
    const before = sumOver(touched, slots);
    changeAll(pods, -1);
    const lost = before - sumOver(touched, slots);
    const isNeedless = lost <= left;
    if (isNeedless) left -= lost;
    else changeAll(pods, 1);
    return isNeedless;
  };
  /** Puts all pods of a unit back but some that may go alone. */
  const putMostBack = ({ pods, surplus }: EvictionUnit): readonly Pod[] => {
    for (const order of surplus === 0 ? [] : [pods.toReversed(), pods]) {
      const leftBefore = left;
      const back = order.filter((pod) => putBack([pod]));
      if (back.length >= pods.length - surplus) return back;
      changeAll(back, 1);
      left = leftBefore;
    }
    return [];
  };
  for (const { pod, unit, isSpare } of choices) {
    if (budget.isDue) yield;
    const pods = isSpare ? [pod] : unit.pods;
    const back = putBack(pods) ? pods : isSpare ? [] : putMostBack(unit);
    for (const each of back) needless.add(each);
  }
  return needless.size === 0 ? victims : victims.without(needless);
}
