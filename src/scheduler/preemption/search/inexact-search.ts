import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { EvictionUnit, PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import { BudgetUse } from './budget-use.ts';
import type { EvictablePod } from './evictable-pod.ts';
import { comparePrices, priceOf } from './eviction-price.ts';
import type { EvictionPrice } from './eviction-price.ts';
import type { EvictionUnits } from './eviction-units.ts';
import { mostImportantFirst } from './importance.ts';
import { WorkLimitError } from './search-work.ts';
import { VictimEstimate } from './victim-estimate.ts';
import type { Estimate, VictimEstimateOptions } from './victim-estimate.ts';
import type { ConfirmedVictims, VictimPlans } from './victim-plans.ts';
import type { VictimSearchRequest } from './victim-search-request.ts';

export interface InexactSearchOptions {
  readonly cluster: Cluster;
  readonly request: VictimSearchRequest;
  readonly units: EvictionUnits;
  readonly plans: VictimPlans;
  readonly estimate: VictimEstimate;
  /** The options of the estimate. */
  readonly estimated: VictimEstimateOptions;
  readonly budget: WorkBudget;
}

/** Maximum number of victims, in units, without one of which a search plans again. */
const maxFewer = 8;

/** Finds victims where the estimate is not exact: members are of several classes, or plugins keep pods apart. */
export class InexactSearch {
  readonly #options: InexactSearchOptions;

  constructor(options: InexactSearchOptions) {
    this.#options = options;
  }

  /** `first`: what the estimate found, if a plan confirmed it. Returns the number of placed members if too few fit. */
  *run(first: ConfirmedVictims | undefined): Yielding<ConfirmedVictims | number> {
    const { request, plans, estimate, estimated, budget } = this.#options;
    let found = first ?? (yield* this.#confirm(yield* estimate.cheapest(1, budget)));
    if (found === undefined && request.demand.members.some((pod) => !request.profile.skipOthers(pod))) {
      const classes = yield* plans.acceptedNow(estimated.classes);
      const now = yield* VictimEstimate.of({ ...estimated, classes }, budget);
      found = yield* this.#confirm(yield* now.cheapest(Infinity, budget));
    }
    try {
      const top = found === undefined ? Infinity : topOf(found.victims);
      if (found === undefined || (yield* this.#mayBeLower(top))) {
        const lower = yield* this.#confirmBelow(top);
        if (typeof lower === 'number') {
          found ??= yield* this.#confirmWithinBudgets();
          if (found === undefined) return lower;
        } else found = cheaper(request.policy, found, lower);
      }
      return yield* this.#withFewer(found);
    } catch (error) {
      if (found === undefined || !(error instanceof WorkLimitError)) throw error;
      return found;
    }
  }

  *#confirm({ placed, victims, nodes }: Estimate): Yielding<ConfirmedVictims | undefined> {
    const { request, plans } = this.#options;
    return placed < request.demand.needed ? undefined : yield* plans.confirm([...victims], nodes);
  }

  /** Returns false if the entity has no capacity without more pods than those below this priority. */
  *#mayBeLower(top: number): Yielding<boolean> {
    const { request, plans, estimate, budget } = this.#options;
    if (top === -Infinity) return false;
    if (!estimate.isBound) return true;
    // Nodes would lack the pods that are out.
    yield* plans.undo();
    return (yield* estimate.cheapest(Infinity, budget, top)).placed >= request.demand.needed;
  }

  /**
   * Plans without any pod of a lower priority that may be evicted, and finds the lowest priority up to which pods have to go. Returns the number
   * of placed members if too few fit.
   */
  *#confirmBelow(below: number): Yielding<ConfirmedVictims | number> {
    const { plans } = this.#options;
    // Pods that are out would be missing.
    yield* plans.undo();
    const units = yield* this.#allUnits();
    const priorities = new Set(units.flatMap(({ pods }) => pods.map(({ priority }) => priority)));
    const levels = [-Infinity, ...[...priorities].filter((level) => level < below).sort((a, b) => a - b)];
    let victims = this.#upTo(levels.at(-1)!, units);
    let plan = yield* plans.plan(victims);
    if (plan.blocked !== undefined) return plan.placed;
    let [low, high] = [0, levels.length - 1];
    let isCurrent = true;
    while (low < high && !plans.areExhausted) {
      const middle = (low + high) >> 1;
      const fewer = this.#upTo(levels[middle]!, units);
      const next = yield* plans.plan(fewer);
      isCurrent = next.blocked === undefined;
      if (isCurrent) [high, victims, plan] = [middle, fewer, next];
      else low = middle + 1;
    }
    if (!isCurrent) plan = yield* plans.plan(victims);
    // A plugin may answer differently the second time.
    return plan.blocked === undefined ? yield* plans.putBack(victims, plan.assignments) : plan.placed;
  }

  /**
   * If budgets must be kept: plans as if they allowed everything, and puts back what the plan does not need. If the rest exceeds a budget,
   * plans again without the nodes of the pods that do.
   */
  *#confirmWithinBudgets(): Yielding<ConfirmedVictims | undefined> {
    const { cluster, plans, request, units } = this.#options;
    if (!units.keepBudgets) return undefined;
    const victims = victimsUpTo(Infinity, yield* this.#allUnits());
    const within = new Set(cluster.nodes.map(({ name }) => name));
    for (let i = 0; i < maxFewer && !plans.areExhausted; i++) {
      const found = yield* plans.confirm(victims, within);
      if (found === undefined) return undefined;
      const used = new BudgetUse(request.policy);
      const exceeding = found.victims.filter(({ pod }) => used.add(pod));
      if (exceeding.length === 0) return found;
      for (const { pod } of exceeding) within.delete(pod.nodeName);
    }
    return undefined;
  }

  /** Returns the pods up to this priority that may go together. If budgets must be kept, the least important of them come first. */
  #upTo(priority: number, units: readonly EvictionUnit[]): readonly EvictablePod[] {
    const { request, units: evictionUnits } = this.#options;
    const victims = victimsUpTo(priority, units);
    if (!evictionUnits.keepBudgets) return victims;
    const used = new BudgetUse(request.policy);
    const groups = [...Map.groupBy(victims, (each) => (each.isSpare ? each.pod : each.unit)).values()];
    groups.sort(([a], [b]) => mostImportantFirst(b!, a!));
    return groups.flatMap((group) => {
      const pods = group.map(({ pod }) => pod);
      if (evictionUnits.exceedBudgets(pods, used)) return [];
      used.addAll(pods);
      return group;
    });
  }

  *#allUnits(): Yielding<readonly EvictionUnit[]> {
    const { cluster, units, budget } = this.#options;
    const found = new Set<EvictionUnit>();
    for (const node of cluster.nodes) {
      budget.spend(node.pods.size);
      if (budget.isDue) yield;
      for (const { unit } of units.on(node)) found.add(unit);
    }
    return [...found];
  }

  /** Tries to do without one victim after another, on whatever nodes. */
  *#withFewer(found: ConfirmedVictims): Yielding<ConfirmedVictims> {
    const { plans } = this.#options;
    let current = found;
    const choices = new Map(found.victims.map((each) => [each.isSpare ? each.pod : each.unit, each]));
    // Among very many victims, a few plans would make no difference.
    if (choices.size > maxFewer) return found;
    for (const { pod, unit, isSpare } of choices.values()) {
      const others = current.victims.filter((each) => (isSpare ? each.pod !== pod : each.unit !== unit));
      if (others.length === current.victims.length) continue;
      const spare = isSpare ? [] : unit.pods.slice(0, unit.surplus).map((each) => ({ pod: each, unit, isSpare: true }));
      // Without the unit, or at least without its quorum.
      const isPart = spare.length > 0 && spare.length < unit.pods.length;
      for (const fewer of isPart ? [others, [...others, ...spare]] : [others]) {
        if (plans.areExhausted) return current;
        const next = yield* plans.confirm(fewer);
        if (next === undefined) continue;
        current = next;
        break;
      }
    }
    return current;
  }
}

/** The second may violate more disruption budgets, although its victims have lower priorities. */
function cheaper(
  policy: PreemptionPolicy,
  first: ConfirmedVictims | undefined,
  second: ConfirmedVictims,
): ConfirmedVictims {
  return first !== undefined && comparePrices(price(policy, first), price(policy, second)) <= 0 ? first : second;
}

function price(policy: PreemptionPolicy, { victims }: ConfirmedVictims): EvictionPrice {
  const pods = victims.map(({ pod }) => pod);
  return priceOf(pods, new BudgetUse(policy).addAll(pods));
}

function topOf(victims: readonly EvictablePod[]): number {
  return victims.reduce((top, { pod }) => Math.max(top, pod.priority), -Infinity);
}

/** Returns the pods up to this priority that may go together. */
function victimsUpTo(priority: number, units: readonly EvictionUnit[]): readonly EvictablePod[] {
  return units.flatMap((unit): EvictablePod[] => {
    if (unit.mayGoWhole && unit.priority <= priority) return unit.pods.map((pod) => ({ pod, unit, isSpare: false }));
    const spare = unit.pods.filter((pod) => pod.priority <= priority).slice(0, unit.surplus);
    return spare.map((pod) => ({ pod, unit, isSpare: true }));
  });
}
