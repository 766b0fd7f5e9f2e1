import { compileLabelSelector } from '../../api/label-selector.ts';
import type { LabelPredicate } from '../../api/label-selector.ts';
import type { PodDisruptionBudget } from '../../api/pod-disruption-budget.ts';
import type { Pod } from '../../api/pod.ts';
import type { ListedObjectsView } from '../../cluster/listed-objects.ts';
import type { DisruptionAllowance } from '../../framework/preemption-policy.ts';

const noAllowances: readonly DisruptionAllowance[] = [];

/** What the PodDisruptionBudgets allow now. */
export class DisruptionBudgets {
  readonly #listed: ListedObjectsView;
  /** budget -> its selector, compiled */
  readonly #selectors = new WeakMap<PodDisruptionBudget, LabelPredicate>();

  constructor(listed: ListedObjectsView) {
    this.#listed = listed;
  }

  get areAny(): boolean {
    return this.#listed.revision('PodDisruptionBudget') > 0;
  }

  /** Returns the budgets that match the pod and do not count its eviction yet. */
  of({ namespace, name, labels }: Pod): readonly DisruptionAllowance[] {
    let found: DisruptionAllowance[] | undefined;
    for (const budget of this.#listed.in('PodDisruptionBudget', namespace)) {
      if (!this.#selects(budget, labels) || budget.disruptedPods.includes(name)) continue;
      (found ??= []).push({ budget: `${namespace}/${budget.name}`, allowed: budget.disruptionsAllowed });
    }
    return found ?? noAllowances;
  }

  #selects(budget: PodDisruptionBudget, labels: Pod['labels']): boolean {
    let selects = this.#selectors.get(budget);
    if (selects === undefined) {
      selects = compiled(budget);
      this.#selectors.set(budget, selects);
    }
    return selects(labels);
  }
}

/** The API server accepts no invalid selector; an old one that is invalid selects nothing. */
function compiled({ selector }: PodDisruptionBudget): LabelPredicate {
  try {
    return compileLabelSelector(selector);
  } catch {
    return () => false;
  }
}
