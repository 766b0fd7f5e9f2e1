import type { Pod } from '../../../api/pod.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Transaction } from '../../../cluster/transaction.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Nomination } from '../../../framework/dry-run.ts';
import type { EvictionUnit, PreemptionOutcome, PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import type { Profile } from '../../../framework/profile.ts';
import type { Demand } from '../../placement/planning/demand.ts';
import { feasibleNodes } from '../../placement/planning/feasible-nodes.ts';
import type { NodeSubsetOf } from '../../placement/cache/node-subset.ts';
import type { NodeAssignment, Planner, PlanRequest } from '../../placement/planning/planner.ts';
import { BudgetUse } from './budget-use.ts';
import { comparePrices, priceOf } from './eviction-price.ts';
import type { EvictionPrice } from './eviction-price.ts';
import { EvictionUnits } from './eviction-units.ts';
import type { EvictablePod } from './evictable-pod.ts';
import { PutBack } from './put-back.ts';
import { VictimEstimate } from './victim-estimate.ts';
import type { Estimate, MemberClass } from './victim-estimate.ts';

/** What a search found: a plan and its victims, or why there is none. */
export interface FoundVictims {
  readonly outcome: PreemptionOutcome;
  /** A node for each member that the entity still needs; empty if nothing is to be preempted. */
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Pod[];
  /** Names of the plugins that rejected members in the search's plans, although pods were gone. */
  readonly unschedulablePlugins: ReadonlySet<string>;
}

/** What earlier preemptions mean for a search. */
export interface EarlierPreemptions {
  /** Returns whether the entity has waited for this pod in vain, so that it must not wait for it again. */
  isStuck(pod: Pod): boolean;
  /** Returns whether the pod is about to be evicted for an entity of equal or higher priority. */
  makesWay(pod: Pod): boolean;
}

/** The input of a search. */
export interface VictimSearchRequest {
  readonly profile: Profile;
  readonly demand: Demand;
  readonly policy: PreemptionPolicy;
  /** Absent: there is none. */
  readonly earlier?: EarlierPreemptions;
  /** Returns the nodes that a member may use. Absent: no restriction. */
  readonly nodeSubsetOf?: NodeSubsetOf | undefined;
}

/** One search. */
interface Search extends VictimSearchRequest {
  readonly units: EvictionUnits;
  readonly budget: WorkBudget;
  plans: number;
  /** Names of the plugins that rejected members in these plans. */
  readonly unschedulablePlugins: Set<string>;
  /** Node checks so far. */
  work: number;
  /** The members for which Reserve was called. */
  reserved: readonly NodeAssignment[];
}

/** A complete plan in the open transaction, without these victims. */
interface Confirmed {
  readonly assignments: readonly NodeAssignment[];
  readonly victims: readonly EvictablePod[];
  /** Pods that are terminating and were taken out too; after put-back, those for which the members must wait. */
  readonly going: readonly Pod[];
}

/** The search would take more work than it may. */
class WorkLimitError extends Error {
  override readonly name = 'WorkLimitError';
}

/** Maximum work of one search, in node checks: about five seconds. */
const workLimit = 10_000_000;
/** Maximum number of classes of members for which the cheapest nodes are estimated. */
const maxClasses = 32;
/** Maximum number of victims, in units, without one of which a search plans again. */
const maxFewer = 8;

/** Pods to take out between two checks whether a pause is due. */
const takenOutAtATime = 500;
/** How many pods can be read at the cost of one node check. */
const podsPerCheck = 8;

/**
 * Searches for pods whose eviction lets an entity fit as a whole. Every answer is proved by a plan: no pod is a victim unless all members that
 * the entity needs then fit at once, and no victim could stay.
 */
export class VictimSearch {
  readonly #cluster: Cluster;
  readonly #planner: Planner;

  constructor(cluster: Cluster, planner: Planner) {
    this.#cluster = cluster;
    this.#planner = planner;
  }

  /**
   * Runs in steps. Until it ends or is abandoned, nothing else may change the cluster cache; then the cache is as before. Call it after an
   * ordinary plan has failed.
   */
  *steps(request: VictimSearchRequest, budget: WorkBudget): Yielding<FoundVictims> {
    const search = this.#begin(request, budget);
    let found: FoundVictims;
    try {
      found = yield* this.#find(search);
    } catch (error) {
      if (!(error instanceof WorkLimitError)) throw error;
      found = none(search, { kind: 'ended', plans: search.plans });
    }
    if (found.nominations.length === 0) search.units.reportSkipped();
    return found;
  }

  #begin({ demand, policy, ...request }: VictimSearchRequest, budget: WorkBudget): Search {
    const { members, gang } = demand;
    const priority = members.reduce((lowest, pod) => Math.min(lowest, pod.priority), Infinity);
    const units = new EvictionUnits(
      this.#cluster,
      { priority, groupKey: gang?.key },
      policy,
      (pod) => request.earlier?.makesWay(pod) === true,
    );
    return {
      ...request,
      demand,
      policy,
      units,
      budget,
      plans: 0,
      unschedulablePlugins: new Set(),
      work: 0,
      reserved: [],
    };
  }

  *#find(search: Search): Yielding<FoundVictims> {
    const { demand, policy, units, budget, earlier } = search;
    const classes = yield* this.#classes(search);
    const { needed } = demand;
    const isGoing = (pod: Pod): boolean => this.#isGoing(pod) && earlier?.isStuck(pod) !== true;
    const estimateFor = (some: readonly MemberClass[]): Yielding<VictimEstimate> =>
      VictimEstimate.of({ classes: some, needed, units, policy, isGoing }, budget);
    const estimate = yield* estimateFor(classes);
    const cheapest = yield* estimate.cheapest(Infinity, budget);
    if (estimate.isBound && cheapest.placed < needed)
      return none(search, this.#negative(search, cheapest.placed, estimate));
    const transaction = this.#cluster.begin();
    try {
      const going = yield* this.#going(isGoing, budget);
      const first =
        cheapest.placed >= needed
          ? yield* this.#confirm(search, transaction, going, [...cheapest.victims], cheapest.nodes)
          : undefined;
      let found: Confirmed | number;
      if (first !== undefined && estimate.isBound) found = yield* this.#putBack(search, transaction, first);
      else {
        const accepted = this.#accepted(search, transaction, going, classes);
        const estimateNow = (function* (): Yielding<VictimEstimate> {
          return yield* estimateFor(yield* accepted);
        })();
        found = yield* this.#withoutEstimate(search, transaction, going, estimate, first, estimateNow);
      }
      if (typeof found === 'number') return none(search, this.#negative(search, found, estimate));
      const { assignments, victims, going: awaited } = found;
      const nominations = assignments.map(({ pod, nodeName }) => ({ pod, nodeName }));
      const gangs = [...new Set(victims.flatMap(({ unit }) => unit.gang ?? []))];
      const pods = victims.map(({ pod }) => pod);
      return {
        outcome: { kind: 'found', victims: pods, gangs, members: nominations.length, terminating: awaited.length },
        nominations,
        victims: [...pods, ...awaited],
        unschedulablePlugins: search.unschedulablePlugins,
      };
    } finally {
      this.#undo(search, transaction);
      transaction.rollback();
    }
  }

  /** Returns the classes of members, with the nodes that would take them if no other pod was there. */
  *#classes(search: Search): Yielding<readonly MemberClass[]> {
    const { profile, demand, budget, nodeSubsetOf } = search;
    const { members, gang, signed } = demand;
    const signatures = yield* signed.of(profile, budget);
    // Which reservations a member must respect depends on its priority.
    const ofPriority = (i: number): string => (this.#cluster.hasReservations ? `${members[i]!.priority} ` : '');
    /** signature, with the priority if it matters -> members; a member without a signature is a class of its own */
    const groups = Map.groupBy(members.keys(), (i) => ofPriority(i) + (signatures[i]!.whole ?? members[i]!.uid));
    // The plan alone decides about gangs of very many kinds.
    if (groups.size > maxClasses) return [];
    const classes: { readonly pod: Pod; readonly count: number; readonly names: readonly string[] }[] = [];
    const own = [...(gang?.members.values() ?? [])].filter((pod) => !this.#isGoing(pod));
    const transaction = this.#cluster.begin({ onlyWith: own });
    try {
      for (const positions of groups.values()) {
        const pod = members[positions[0]!]!;
        // As if it were a member of a gang: what other pods decide is left to the plan.
        const allowed = nodeSubsetOf?.(pod)?.allowed;
        const names = feasibleNodes(this.#cluster, profile, pod, new CycleState())
          .map(({ name }) => name)
          .filter((name) => allowed?.has(name) !== false);
        classes.push({ pod, count: positions.length, names });
        spend(search, this.#cluster.nodes.length);
        budget.spend(this.#cluster.nodes.length);
        if (budget.isDue) yield;
      }
    } finally {
      transaction.rollback();
    }
    return classes.map(({ names, ...each }) => ({ ...each, nodes: names.map((name) => this.#cluster.node(name)!) }));
  }

  /** Pods that are being deleted, whatever their priority, will be gone. Those on a lost node may never be. */
  #isGoing(pod: Pod): boolean {
    return pod.deleting && this.#cluster.nodeOf(pod)?.isLost === false;
  }

  *#going(isGoing: (pod: Pod) => boolean, budget: WorkBudget): Yielding<readonly Pod[]> {
    const going: Pod[] = [];
    for (const { pods } of this.#cluster.nodes) {
      budget.spend(pods.size / podsPerCheck);
      if (budget.isDue) yield;
      for (const pod of pods.values()) if (pod.deleting && isGoing(pod)) going.push(pod);
    }
    return going;
  }

  /** Plans without these pods. Returns undefined if the entity does not fit; then the transaction is as before. */
  *#confirm(
    search: Search,
    transaction: Transaction,
    going: readonly Pod[],
    victims: readonly EvictablePod[],
    within?: ReadonlySet<string>,
  ): Yielding<Confirmed | undefined> {
    const plan = yield* this.#plan(search, transaction, going, victims, within);
    return plan.blocked === undefined ? { assignments: plan.assignments, victims, going } : undefined;
  }

  /**
   * Finds victims if the estimate is not exact: members are of several classes, or plugins keep pods apart. `confirmed`: what the estimate
   * found. `estimateNow`: returns the estimate among the nodes that `#accepted` returns. Returns the number of placed members if too few fit.
   */
  *#withoutEstimate(
    search: Search,
    transaction: Transaction,
    going: readonly Pod[],
    estimate: VictimEstimate,
    confirmed: Confirmed | undefined,
    estimateNow: Yielding<VictimEstimate>,
  ): Yielding<Confirmed | number> {
    const { needed } = search.demand;
    const confirm = function* (
      this: VictimSearch,
      { placed, victims, nodes }: Estimate,
    ): Yielding<Confirmed | undefined> {
      if (placed < needed) return undefined;
      const plan = yield* this.#confirm(search, transaction, going, [...victims], nodes);
      return plan && (yield* this.#putBack(search, transaction, plan));
    }.bind(this);
    let found = confirmed && (yield* this.#putBack(search, transaction, confirmed));
    found ??= yield* confirm(yield* estimate.cheapest(1, search.budget));
    if (found === undefined && search.demand.members.some((pod) => !search.profile.skipOthers(pod)))
      found = yield* confirm(yield* (yield* estimateNow).cheapest(Infinity, search.budget));
    try {
      const top = found === undefined ? Infinity : topOf(found.victims);
      if (found === undefined || (yield* this.#mayBeLower(search, estimate, top))) {
        const lower = yield* this.#confirmBelow(search, transaction, going, top);
        if (typeof lower !== 'number')
          found = cheaper(search.policy, found, yield* this.#putBack(search, transaction, lower));
        else if (found === undefined) return lower;
      }
      return yield* this.#withFewer(search, transaction, going, found);
    } catch (error) {
      if (found === undefined || !(error instanceof WorkLimitError)) throw error;
      return found;
    }
  }

  /**
   * Returns the classes with only those nodes that the plugins which read other nodes accept now. Members may need pods of lower priority on
   * other nodes, such as by affinity, so they may fit only if those pods stay.
   */
  *#accepted(
    search: Search,
    transaction: Transaction,
    going: readonly Pod[],
    classes: readonly MemberClass[],
  ): Yielding<readonly MemberClass[]> {
    const { profile, budget } = search;
    this.#undo(search, transaction);
    yield* takeOut(transaction, going, budget);
    const accepted: MemberClass[] = [];
    for (const each of classes) {
      const state = new CycleState();
      const isRejected = profile.preFilter(state, each.pod).status !== undefined;
      const accepts = (node: NodeInfo): boolean =>
        profile.filter(profile.otherFilters, state, each.pod, node) === undefined;
      accepted.push({ ...each, nodes: isRejected ? [] : each.nodes.filter(accepts) });
      spend(search, each.nodes.length);
      budget.spend(each.nodes.length);
      if (budget.isDue) yield;
    }
    return accepted;
  }

  /** Returns false if the entity has no capacity without more pods than those below this priority. */
  *#mayBeLower({ demand, budget }: Search, estimate: VictimEstimate, top: number): Yielding<boolean> {
    if (top === -Infinity) return false;
    return !estimate.isBound || (yield* estimate.cheapest(Infinity, budget, top)).placed >= demand.needed;
  }

  /** Tries to do without one victim after another, on whatever nodes. */
  *#withFewer(search: Search, transaction: Transaction, going: readonly Pod[], found: Confirmed): Yielding<Confirmed> {
    let current = found;
    const choices = new Map(found.victims.map((each) => [each.isSpare ? each.pod : each.unit, each]));
    // Among very many victims, a few plans would make no difference.
    if (choices.size > maxFewer) return found;
    for (const { pod, unit, isSpare } of choices.values()) {
      const others = current.victims.filter((each) => (isSpare ? each.pod !== pod : each.unit !== unit));
      if (others.length === current.victims.length) continue;
      const spare = isSpare ? [] : unit.pods.slice(0, unit.surplus).map((each) => ({ pod: each, unit, isSpare: true }));
      // Without the unit, or at least without its quorum.
      for (const fewer of spare.length === 0 || spare.length === unit.pods.length
        ? [others]
        : [others, [...others, ...spare]]) {
        if (search.plans >= search.policy.maxPlans) return current;
        const next = yield* this.#confirm(search, transaction, going, fewer);
        if (next === undefined) continue;
        current = yield* this.#putBack(search, transaction, next);
        break;
      }
    }
    return current;
  }

  /** Returns the same plan with only the victims and terminating pods that it needs to be gone. */
  *#putBack(
    { profile, policy, budget }: Search,
    transaction: Transaction,
    { assignments, victims, going }: Confirmed,
  ): Yielding<Confirmed> {
    const putBack = new PutBack({ cluster: this.#cluster, profile, transaction, assignments, policy });
    const left = yield* putBack.run(victims, budget);
    const awaited = yield* putBack.run(going.map(asVictim), budget);
    return { assignments, victims: left, going: awaited.map(({ pod }) => pod) };
  }

  /** Plans without any pod of a lower priority that may be evicted. Returns the number of placed members if too few fit. */
  *#confirmBelow(
    search: Search,
    transaction: Transaction,
    going: readonly Pod[],
    below: number,
  ): Yielding<Confirmed | number> {
    // Pods that are out would be missing.
    this.#undo(search, transaction);
    const units = yield* this.#allUnits(search);
    const priorities = new Set(units.flatMap(({ pods }) => pods.map(({ priority }) => priority)));
    const levels = [-Infinity, ...[...priorities].filter((level) => level < below).sort((a, b) => a - b)];
    let victims = victimsUpTo(levels.at(-1)!, units);
    let plan = yield* this.#plan(search, transaction, going, victims);
    if (plan.blocked !== undefined) return plan.placed;
    // Find the lowest priority up to which pods have to go.
    let [low, high] = [0, levels.length - 1];
    let isCurrent = true;
    while (low < high && search.plans < search.policy.maxPlans) {
      const middle = (low + high) >> 1;
      const fewer = victimsUpTo(levels[middle]!, units);
      const next = yield* this.#plan(search, transaction, going, fewer);
      isCurrent = next.blocked === undefined;
      if (isCurrent) [high, victims, plan] = [middle, fewer, next];
      else low = middle + 1;
    }
    if (!isCurrent) plan = yield* this.#plan(search, transaction, going, victims);
    // A plugin may answer differently the second time.
    if (plan.blocked !== undefined) return plan.placed;
    return { assignments: plan.assignments, victims, going };
  }

  *#allUnits({ units, budget }: Search): Yielding<readonly EvictionUnit[]> {
    const found = new Set<EvictionUnit>();
    for (const node of this.#cluster.nodes) {
      budget.spend(node.pods.size);
      if (budget.isDue) yield;
      for (const { unit } of units.on(node)) found.add(unit);
    }
    return [...found];
  }

  /** Plans without these pods, in the transaction as it was before. An incomplete plan changes nothing. */
  *#plan(
    search: Search,
    transaction: Transaction,
    going: readonly Pod[],
    victims: readonly EvictablePod[],
    within?: ReadonlySet<string>,
  ): ReturnType<Planner['steps']> {
    const { profile, demand, budget } = search;
    this.#undo(search, transaction);
    search.plans++;
    yield* takeOut(transaction, [...going, ...victims.map(({ pod }) => pod)], budget);
    const { members, needed, signed, gang } = demand;
    const groupState = gang === undefined ? undefined : new CycleState();
    const request: PlanRequest = {
      ...{ profile, members, needed, signed, groupState, within },
      nodeSubsetOf: search.nodeSubsetOf,
      spend: (steps) => spend(search, steps),
    };
    const plan = yield* this.#planner.steps(request, transaction, budget);
    if (plan.blocked === undefined) search.reserved = plan.assignments;
    else this.#undo(search, transaction);
    if (plan.blocked !== undefined) for (const name of plan.unschedulablePlugins) search.unschedulablePlugins.add(name);
    return plan;
  }

  #undo(search: Search, transaction: Transaction): void {
    this.#planner.unreserve(search.profile, search.reserved);
    search.reserved = [];
    transaction.rollbackTo(0);
  }

  #negative(
    { units, demand }: Search,
    placed: number,
    { nodeCount, withoutVictims }: VictimEstimate,
  ): PreemptionOutcome {
    const [why] = units.protectedPods.keys();
    if (why !== undefined) return { kind: 'protected', why };
    const all = this.#cluster.nodes.length;
    const nodes = { all, unsuitable: all - nodeCount, withoutVictims };
    return { kind: 'notHelpful', placed, needed: demand.needed, candidates: units.podCount, nodes };
  }
}

function spend(search: Search, steps: number): void {
  search.work += steps;
  if (search.work > workLimit) throw new WorkLimitError();
}

function none({ unschedulablePlugins }: Search, outcome: PreemptionOutcome): FoundVictims {
  return { outcome, nominations: [], victims: [], unschedulablePlugins };
}

/** The second may violate more disruption budgets, although its victims have lower priorities. */
function cheaper(policy: PreemptionPolicy, first: Confirmed | undefined, second: Confirmed): Confirmed {
  return first !== undefined && comparePrices(price(policy, first), price(policy, second)) <= 0 ? first : second;
}

function price(policy: PreemptionPolicy, { victims }: Confirmed): EvictionPrice {
  const pods = victims.map(({ pod }) => pod);
  const use = new BudgetUse(policy);
  return priceOf(pods, pods.filter((pod) => use.add(pod)).length);
}

/** Terminating pods are put back like pods without a group. */
function asVictim(pod: Pod): EvictablePod {
  const unit = { gang: undefined, pods: [pod], priority: pod.priority, surplus: 1, mayGoWhole: true };
  return { pod, unit, isSpare: true };
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

function* takeOut(transaction: Transaction, pods: readonly Pod[], budget: WorkBudget): Yielding<void> {
  // Pods of one node together: its contents are then computed once.
  const byNode = [...Map.groupBy(pods, ({ nodeName }) => nodeName).values()].flat();
  for (let start = 0; start < byNode.length; start += takenOutAtATime) {
    transaction.takeOut(byNode.slice(start, start + takenOutAtATime));
    budget.spend(takenOutAtATime);
    if (budget.isDue) yield;
  }
}
