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
  /** Adds evictions, unless one of them exceeds a budget. Returns whether it added them. */
  addAll(pods: readonly Pod[]): boolean {
    const before = new Map(this.#used);
    if (!pods.map((pod) => this.add(pod)).includes(true)) return true;
    this.#used.clear();
    for (const [budget, used] of before) this.#used.set(budget, used);
    return false;
  }
}
