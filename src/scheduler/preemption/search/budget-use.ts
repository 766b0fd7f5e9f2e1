import type { Pod } from '../../../api/pod.ts';
import type { PreemptionPolicy } from '../../../framework/preemption-policy.ts';

/** Counts evictions against disruption budgets. */
export class BudgetUse {
  readonly #policy: Pick<PreemptionPolicy, 'allowances'>;
  /** budget -> number of evictions */
  readonly #used: Map<string, number>;

  constructor(policy: Pick<PreemptionPolicy, 'allowances'>, used: ReadonlyMap<string, number> = new Map()) {
    this.#policy = policy;
    this.#used = new Map(used);
  }

  copy(): BudgetUse {
    return new BudgetUse(this.#policy, this.#used);
  }

  /** Adds an eviction. Returns whether it exceeds a budget. */
  add(pod: Pod): boolean {
    let exceeds = false;
    for (const { budget, allowed } of this.#policy.allowances(pod)) {
      const used = (this.#used.get(budget) ?? 0) + 1;
      this.#used.set(budget, used);
      exceeds ||= used > allowed;
    }
    return exceeds;
  }

  /**
   * Returns the items with those at the front whose pods exceed a budget, those with most such pods first. Counts the pods of the others, from
   * the last item to the first. `podsOf`: returns the same array for items that go together.
   */
  exceedingFirst<T>(items: readonly T[], podsOf: (item: T) => readonly Pod[]): readonly T[] {
    /** pods that go together -> how many exceed a budget */
    const known = new Map<readonly Pod[], number>();
    const excess = new Map<T, number>();
    for (const item of items.toReversed()) {
      const pods = podsOf(item);
      const count = known.get(pods) ?? this.#addUnlessExceeding(pods);
      known.set(pods, count);
      excess.set(item, count);
    }
    return items.toSorted((a, b) => excess.get(b)! - excess.get(a)!);
  }

  /** Returns how many of the evictions exceed a budget. Adds all of them if none does. */
  #addUnlessExceeding(pods: readonly Pod[]): number {
    const excess = pods.filter((pod) => this.add(pod)).length;
    if (excess === 0) return 0;
    const budgets = pods.flatMap((pod) => this.#policy.allowances(pod).map(({ budget }) => budget));
    for (const budget of budgets) this.#used.set(budget, this.#used.get(budget)! - 1);
    return excess;
  }
}
