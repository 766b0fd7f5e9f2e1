import type { DrainBudget } from '../../../api/explain/lists.ts';
import { compileLabelSelector } from '../../../api/label-selector.ts';
import type { PodDisruptionBudget } from '../../../api/pod-disruption-budget.ts';
import type { Pod } from '../../../api/pod.ts';

/** Returns the budgets that do not allow the eviction of all these pods at once. */
export function shortBudgets(
  budgets: readonly PodDisruptionBudget[],
  displaced: readonly Pod[],
): readonly DrainBudget[] {
  return budgets.flatMap(({ namespace, name, selector, disruptionsAllowed: allowed }) => {
    if (selector === undefined) return [];
    const selects = compileLabelSelector(selector);
    const needed = displaced.filter((pod) => pod.namespace === namespace && selects(pod.labels)).length;
    return needed > allowed ? [{ namespace, name, allowed, needed }] : [];
  });
}
