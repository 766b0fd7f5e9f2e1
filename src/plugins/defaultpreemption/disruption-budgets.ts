import { compileLabelSelector } from '../../api/label-selector.ts';
import type { LabelPredicate } from '../../api/label-selector.ts';
import type { PodDisruptionBudget } from '../../api/pod-disruption-budget.ts';
import type { Pod } from '../../api/pod.ts';
import type { ListedObjectsView } from '../../cluster/listed-objects.ts';
import type { DisruptionAllowance } from '../../framework/preemption-policy.ts';

/**
 * Maximum number of budgets of a pod that count, those that allow least. The eviction API supports one; many in one namespace must not make
 * searches slow for others.
 */
const maxBudgetsPerPod = 8;

/** The budgets that match pods with equal labels. */
interface Matching {
  readonly allowances: readonly DisruptionAllowance[];
  /** By budget: names of the pods whose eviction it counts already. */
  readonly disruptedPods: readonly (readonly string[])[];
}

/** What the PodDisruptionBudgets allow now. */
export class DisruptionBudgets {
  readonly #listed: ListedObjectsView;
  /** budget -> its selector, compiled */
  readonly #selectors = new WeakMap<PodDisruptionBudget, LabelPredicate>();
  /** namespace -> labels -> the budgets that match them, for `#revision` */
  readonly #matching = new Map<string, WeakMap<Pod['labels'], Matching>>();
  #revision = -1;

  constructor(listed: ListedObjectsView) {
    this.#listed = listed;
  }

  get areAny(): boolean {
    return this.#listed.revision('PodDisruptionBudget') > 0;
  }

  /** Returns the budgets that match the pod and do not count its eviction yet. */
  of({ namespace, name, labels }: Pod): readonly DisruptionAllowance[] {
    const { allowances, disruptedPods } = this.#matchingOf(namespace, labels);
    if (!disruptedPods.some((names) => names.includes(name))) return allowances;
    return allowances.filter((_, i) => !disruptedPods[i]!.includes(name));
  }

  #matchingOf(namespace: string, labels: Pod['labels']): Matching {
    const revision = this.#listed.revision('PodDisruptionBudget');
    if (revision !== this.#revision) this.#matching.clear();
    this.#revision = revision;
    let ofNamespace = this.#matching.get(namespace);
    if (ofNamespace === undefined)
      this.#matching.set(namespace, (ofNamespace = new WeakMap<Pod['labels'], Matching>()));
    let matching = ofNamespace.get(labels);
    if (matching === undefined) {
      const budgets = [...this.#listed.in('PodDisruptionBudget', namespace)]
        .filter((each) => this.#selects(each, labels))
        .sort((a, b) => a.disruptionsAllowed - b.disruptionsAllowed || (a.name < b.name ? -1 : 1))
        .slice(0, maxBudgetsPerPod);
      const allowances = budgets.map(({ name, disruptionsAllowed: allowed }) => ({
        budget: `${namespace}/${name}`,
        allowed,
      }));
      matching = { allowances, disruptedPods: budgets.map(({ disruptedPods }) => disruptedPods) };
      ofNamespace.set(labels, matching);
    }
    return matching;
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
