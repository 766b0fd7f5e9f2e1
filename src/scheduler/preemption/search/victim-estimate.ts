import type { Pod } from '../../../api/pod.ts';
import { amountOf } from '../../../api/resource-list.ts';
import type { ResourceId } from '../../../api/resource-names.ts';
import { Heap } from '../../../base/heap.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { mustRespect } from '../../../cluster/reservation.ts';
import type { EvictionUnit, PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import { workPerShortStep } from '../../../framework/work-per-member.ts';
import { BudgetUse } from './budget-use.ts';
import { CandidateNode, sumOver } from './candidate-node.ts';
import { comparePrices, priceOf } from './eviction-price.ts';
import type { EvictionPrice } from './eviction-price.ts';
import type { EvictionUnits } from './eviction-units.ts';
import { mostImportantFirst } from './importance.ts';
import { compareOffers, Offers } from './offers.ts';
import type { Offer } from './offers.ts';
import { reduceVictims } from './reduce-victims.ts';
import type { VictimSearchRequest } from './victim-search-request.ts';
import type { Victims } from './victims.ts';

/** Members that are alike to the plugins. */
export interface MemberClass {
  /** One of them. */
  readonly pod: Pod;
  readonly count: number;
  /** The nodes that would take a member if they had no other pods. */
  readonly nodes: readonly NodeInfo[];
}

/** The cheapest victims that the estimate found. */
export interface Estimate {
  /** How many members would have capacity. */
  readonly placed: number;
  /** Names of the nodes that they would use. */
  readonly nodes: ReadonlySet<string>;
  readonly victims: Victims;
  readonly price: EvictionPrice;
}

/** Work to find out whether a pod may be evicted, and with which others, in node checks. */
const workPerNewPod = 3;

export interface VictimEstimateOptions {
  readonly classes: readonly MemberClass[];
  /** How many members must be placed. */
  readonly needed: number;
  readonly units: EvictionUnits;
  readonly policy: PreemptionPolicy;
  /** Returns the pods on the node that go in any case, so that their capacity will be free. */
  readonly goingOn: (node: NodeInfo) => readonly Pod[];
  readonly ignoresReservationOf: VictimSearchRequest['ignoresReservationOf'];
}

/**
 * Estimates the cheapest victims by arithmetic on requests: places member by member where the next one costs least. It ignores what else the
 * plugins check, so a plan must confirm it. But if members of one class do not fit by this estimate, they do not fit at all.
 */
export class VictimEstimate {
  readonly #options: VictimEstimateOptions;
  readonly #ids: readonly ResourceId[];
  /** node name -> candidate */
  readonly #candidates = new Map<string, CandidateNode>();

  private constructor(options: VictimEstimateOptions) {
    this.#options = options;
    const ids = options.classes.flatMap(({ pod }) => pod.template.requests.ids);
    this.#ids = [...new Set(ids)].sort((a, b) => a - b);
  }

  static *of(options: VictimEstimateOptions, budget: WorkBudget): Yielding<VictimEstimate> {
    const estimate = new VictimEstimate(options);
    for (const { pod, nodes } of options.classes) {
      for (const node of nodes) {
        if (estimate.#candidates.has(node.name)) continue;
        budget.spend(1 + node.pods.size);
        if (budget.isDue) yield;
        estimate.#candidates.set(node.name, estimate.#candidate(node, pod));
      }
    }
    return estimate;
  }

  /**
   * Returns the estimate. `perNode`: how many members of one class a node takes at most. `below`: pods of this priority or a higher one stay.
   */
  *cheapest(perNode: number, budget: WorkBudget, below = Infinity): Yielding<Estimate> {
    const { needed } = this.#options;
    let best = yield* this.#cheaperOfTwo(perNode, below, budget);
    // Placing members one by one may otherwise miss that pods of lower priority are enough.
    while (best.placed >= needed && this.#mayBeLower(best)) {
      const lower = yield* this.#cheaperOfTwo(perNode, best.price.top, budget);
      if (lower.placed < needed || comparePrices(lower.price, best.price) >= 0) break;
      best = lower;
    }
    return best;
  }

  /** After a first estimate, tries again with the unit that was needed last, and keeps the cheaper result. */
  *#cheaperOfTwo(perNode: number, below: number, budget: WorkBudget): Yielding<Estimate> {
    const first = yield* this.#run(undefined, perNode, budget, below);
    const { last } = first;
    if (first.placed < this.#options.needed || last === undefined || last.pods.length < 2 || last.priority >= below)
      return first;
    const second = yield* this.#run(last, perNode, budget, below);
    return second.placed >= this.#options.needed && comparePrices(second.price, first.price) < 0 ? second : first;
  }

  #mayBeLower({ price }: Estimate): boolean {
    const { units, classes } = this.#options;
    return price.top > -Infinity && (units.mixPriorities || classes.length > 1);
  }

  /** Whether all members are alike, so that no other victims are better than those of the estimate. */
  get isExact(): boolean {
    return this.#options.classes.length === 1;
  }

  /** Whether members that have no capacity by this estimate do not fit at all. */
  get isBound(): boolean {
    return this.isExact && !this.#options.units.keepBudgets;
  }

  /** Number of nodes that would take a member if they had no other pods. */
  get nodeCount(): number {
    return this.#candidates.size;
  }

  /** How many of these have no pods that may be evicted. */
  get withoutVictims(): number {
    let count = 0;
    for (const { node } of this.#candidates.values()) if (this.#options.units.countOn(node) === 0) count++;
    return count;
  }

  #candidate(node: NodeInfo, preemptor: Pod): CandidateNode {
    const going = this.#options.goingOn(node);
    const candidate = new CandidateNode(node, this.#ids);
    for (const pod of going) candidate.add(candidate.free, pod, 1);
    if (node.reservations.size === 0) return candidate;
    const { ignoresReservationOf: isIgnored } = this.#options;
    for (const reservation of node.reservations.values()) {
      const { owner } = reservation;
      if (isIgnored?.(owner.uid) === true) continue;
      // An owner that is assumed on the node already counts among its pods.
      if (!node.pods.has(owner.uid) && mustRespect(preemptor, reservation)) candidate.add(candidate.free, owner, -1);
    }
    return candidate;
  }

  /** `paid`: a unit whose pods cost nothing, because they go in any case. */
  *#run(
    paid: EvictionUnit | undefined,
    perNode: number,
    budget: WorkBudget,
    below: number,
  ): Yielding<Estimate & { readonly last: EvictionUnit | undefined }> {
    const { classes, needed, policy, units } = this.#options;
    for (const candidate of this.#candidates.values()) candidate.reset();
    const offers = new Offers({ units, policy, ids: this.#ids, below });
    const { victims, used } = offers;
    const nodes = new Set<CandidateNode>();
    /** candidate -> number of members of the current class there */
    const taken = new Map<CandidateNode, number>();
    let placed = 0;
    let last: EvictionUnit | undefined;
    let violations = 0;
    const pay = (pods: readonly Pod[]): readonly CandidateNode[] => {
      const freed: CandidateNode[] = [];
      for (const pod of pods) {
        if (used.add(pod)) violations++;
        const candidate = this.#candidates.get(pod.nodeName);
        if (candidate === undefined) continue;
        candidate.change(pod, 1);
        freed.push(candidate);
      }
      return freed;
    };
    if (paid !== undefined) pay(victims.addWhole(paid));
    for (const { pod, count, nodes: allowed } of this.#order()) {
      const request = this.#ids.map((id) => amountOf(pod.template.requests, id));
      const cheapestFirst = new Heap<Offer>(compareOffers);
      const offer = (candidate: CandidateNode): void => {
        const made = offers.of(candidate, request);
        if (made !== undefined) cheapestFirst.push(made);
      };
      let allowedNames: ReadonlySet<string> | undefined;
      const isAllowed = ({ node }: CandidateNode): boolean =>
        (allowedNames ??= new Set(allowed.map(({ name }) => name))).has(node.name);
      taken.clear();
      const candidates = allowed.map(({ name }) => this.#candidates.get(name)!);
      for (const candidate of this.#withoutNeedless(candidates, pod, perNode)) {
        const mayOffer = offers.mayExist(candidate, request);
        const workPerPod = units.hasRead(candidate.node) ? 1 : workPerNewPod;
        budget.spend(1 + (mayOffer ? candidate.node.pods.size * workPerPod : 0));
        if (budget.isDue) yield;
        if (mayOffer) offer(candidate);
      }
      for (let left = count; left > 0 && placed < needed;) {
        const best = cheapestFirst.pop();
        if (best === undefined) break;
        const { candidate } = best;
        budget.spend(1 + best.out.length);
        if (budget.isDue) yield;
        if (offers.isOutdated(best)) {
          if ((taken.get(candidate) ?? 0) < perNode) offer(candidate);
          continue;
        }
        for (const { pod: victim, unit } of best.out.toReversed()) {
          const added = victims.add(victim, unit);
          if (added.length > 0) last = unit;
          // The offers of these nodes have become cheaper.
          for (const freed of pay(added))
            if (
              freed !== candidate &&
              isAllowed(freed) &&
              (taken.get(freed) ?? 0) < perNode &&
              offers.mayExist(freed, request)
            )
              offer(freed);
        }
        candidate.change(pod, -1);
        nodes.add(candidate);
        placed++;
        left--;
        const there = (taken.get(candidate) ?? 0) + 1;
        taken.set(candidate, there);
        if (there < perNode) offer(candidate);
      }
    }
    let kept = victims;
    if (classes.length > 1)
      kept = yield* this.#reduced(victims, ({ free }) => (free.every((amount) => amount >= 0) ? 0 : -1), 0, budget);
    else if (placed >= needed) {
      // The members are alike, so they need not stay where they were placed.
      const slots = this.#slotsOf(classes[0]!.pod, taken, perNode);
      for (const { pod } of victims)
        if (this.#candidates.has(pod.nodeName)) nodes.add(this.#candidates.get(pod.nodeName)!);
      kept = yield* this.#reduced(victims, slots, sumOver(nodes, slots) - needed, budget);
    }
    const pods = [...kept].map(({ pod }) => pod);
    const price = priceOf(pods, kept.size === victims.size ? violations : new BudgetUse(policy).addAll(pods));
    return { placed, nodes: new Set([...nodes].map(({ node }) => node.name)), victims: kept, price, last };
  }

  /** Returns only the candidates with enough capacity for a member, if all members fit there without a victim. */
  #withoutNeedless(candidates: readonly CandidateNode[], pod: Pod, perNode: number): readonly CandidateNode[] {
    if (!this.isBound) return candidates;
    const slots = this.#slotsOf(pod, new Map(), perNode);
    const free = candidates.filter((candidate) => slots(candidate) > 0);
    return sumOver(free, slots) >= this.#options.needed ? free : candidates;
  }

  /** Returns how many members like the pod a node has capacity for, with those placed there. */
  #slotsOf(pod: Pod, taken: ReadonlyMap<CandidateNode, number>, perNode: number): (candidate: CandidateNode) => number {
    const request = this.#ids.map((id) => amountOf(pod.template.requests, id));
    return (candidate) => {
      let more = perNode === Infinity ? this.#options.needed : perNode;
      for (let i = 0; i < request.length; i++) {
        if (request[i]! > 0) more = Math.min(more, Math.floor(candidate.free[i]! / request[i]!));
      }
      return Math.max(0, Math.min(perNode, (taken.get(candidate) ?? 0) + more));
    };
  }

  /** Larger members first; but if not all are needed, smaller ones first. */
  #order(): readonly MemberClass[] {
    const { classes, needed } = this.#options;
    if (classes.length < 2) return classes;
    const total = classes.reduce((sum, { count }) => sum + count, 0);
    const sign = needed < total ? 1 : -1;
    const sizes = new Map(classes.map((each) => [each, this.#sizeOf(each.pod)]));
    return classes.toSorted((a, b) => a.nodes.length - b.nodes.length || sign * (sizes.get(a)! - sizes.get(b)!));
  }

  /** Returns the largest share of a candidate's allocatable that the pod requests. */
  #sizeOf({ template }: Pod): number {
    let size = 0;
    const [candidate] = this.#candidates.values();
    for (const id of this.#ids) {
      const allocatable = candidate?.node.allocatable.of(id) ?? 0;
      if (allocatable > 0) size = Math.max(size, amountOf(template.requests, id) / allocatable);
    }
    return size;
  }

  /** Returns the victims without those that are not needed after all. */
  *#reduced(
    victims: Victims,
    slots: (candidate: CandidateNode) => number,
    spare: number,
    budget: WorkBudget,
  ): Yielding<Victims> {
    if (victims.size < 2) return victims;
    if (budget.lacks(victims.size * workPerShortStep)) yield;
    const { policy } = this.#options;
    const choices = new BudgetUse(policy).putBackOrder(victims.choices().sort(mostImportantFirst));
    return yield* reduceVictims(victims, choices, { candidates: this.#candidates, slots, spare }, budget);
  }
}
