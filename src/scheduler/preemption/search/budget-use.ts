import type { Pod } from '../../../api/pod.ts';
import type { PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import type { EvictablePod } from './evictable-pod.ts';

type Budgets = Pick<PreemptionPolicy, 'allowances' | 'hasBudgets'>;

/** Counts evictions against disruption budgets. */
export class BudgetUse {
  readonly #policy: Budgets;
  readonly #before: BudgetUse | undefined;
  /** budget -> number of evictions, if they differ from those in `#before` */
  readonly #used = new Map<string, number>();

  #evictions: number;

  /** `before`: earlier evictions, which must not change while this object is in use. */
  constructor(policy: Budgets, before?: BudgetUse) {
    this.#policy = policy;
    this.#before = before;
    this.#evictions = before?.evictions ?? 0;
  }

  /** Number of evictions that were added. */
  get evictions(): number {
    return this.#evictions;
  }

  /** Returns a copy to count further evictions. No evictions may be added here while it is in use. */
  copy(): BudgetUse {
    return new BudgetUse(this.#policy, this);
  }

  /** Adds an eviction. Returns whether it exceeds a budget. */
  add(pod: Pod): boolean {
    this.#evictions++;
    let exceeds = false;
    for (const { budget, allowed } of this.#policy.allowances(pod)) {
      const used = this.#of(budget) + 1;
      this.#used.set(budget, used);
      exceeds ||= used > allowed;
    }
    return exceeds;
  }

  /** Returns a budget that these evictions would exceed; undefined: none. Does not add them. */
  exceededBy(pods: readonly Pod[]): string | undefined {
    const copy = this.copy();
    for (const pod of pods) {
      if (!copy.add(pod)) continue;
      return this.#policy.allowances(pod).find(({ budget, allowed }) => copy.#of(budget) > allowed)!.budget;
    }
    return undefined;
  }

  /** Adds evictions. Returns how many of them exceed a budget. */
  addAll(pods: readonly Pod[]): number {
    return pods.filter((pod) => this.add(pod)).length;
  }

  /**
   * Returns the items with those at the front whose pods exceed a budget, those with most such pods first. Counts the pods of the others, from
   * the last item to the first. `podsOf`: returns the same array for items that go together.
   */
  exceedingFirst<T>(items: readonly T[], podsOf: (item: T) => readonly Pod[]): readonly T[] {
    if (!this.#policy.hasBudgets) return items;
    const counted = this.copy();
    /** pods that go together -> how many exceed a budget */
    const known = new Map<readonly Pod[], number>();
    const excess = new Map<T, number>();
    for (const item of items.toReversed()) {
      const pods = podsOf(item);
      const count = known.get(pods) ?? counted.#addUnlessExceeding(pods);
      known.set(pods, count);
      excess.set(item, count);
    }
    return items.toSorted((a, b) => excess.get(b)! - excess.get(a)!);
  }

  /**
   * Returns the pods in the order in which a search puts them back. Pods that would exceed a budget, or whose whole gang would, come first; the
   * others keep their order. Those that exceed none count from the last to the first, which is the order of eviction.
   */
  putBackOrder(pods: readonly EvictablePod[]): readonly EvictablePod[] {
    return this.exceedingFirst(pods, ({ pod, unit, isSpare }) => (isSpare ? [pod] : unit.pods));
  }

  /** Returns how many of the evictions exceed a budget. Adds all of them if none does. */
  #addUnlessExceeding(pods: readonly Pod[]): number {
    const excess = this.addAll(pods);
    if (excess === 0) return 0;
    const budgets = pods.flatMap((pod) => this.#policy.allowances(pod).map(({ budget }) => budget));
    for (const budget of budgets) this.#used.set(budget, this.#used.get(budget)! - 1);
    return excess;
  }

  #of(budget: string): number {
    const used = this.#used.get(budget);
    if (used !== undefined) return used;
    return this.#before === undefined ? 0 : this.#before.#of(budget);
  }
}
