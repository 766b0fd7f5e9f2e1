import type { Pod } from '../../../api/pod.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Transaction } from '../../../cluster/transaction.ts';

/** Number of pods to take out between two checks whether a pause is due. */
const takenOutAtATime = 500;

/** Takes pods out in steps. */
export function* takeOutPods(transaction: Transaction, pods: readonly Pod[], budget: WorkBudget): Yielding<void> {
  // Pods of one node together: its contents are then computed once.
  const byNode = [...Map.groupBy(pods, ({ nodeName }) => nodeName).values()].flat();
  for (let start = 0; start < byNode.length; start += takenOutAtATime) {
    transaction.takeOut(byNode.slice(start, start + takenOutAtATime));
    budget.spend(takenOutAtATime);
    if (budget.isDue) yield;
  }
}
