import type { Pod } from '../../../api/pod.ts';
import type { WorkBudget } from '../../../base/work-budget.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Nomination } from '../../../framework/dry-run.ts';
import type { PreemptionOutcome, PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import { feasibleNodes } from '../../placement/planning/feasible-nodes.ts';
import type { Planner } from '../../placement/planning/planner.ts';
import { EvictionUnits } from './eviction-units.ts';
import type { EvictionUnitsOptions } from './eviction-units.ts';
import { InexactSearch } from './inexact-search.ts';
import type { ProtectedUntil } from './protected-until.ts';
import { SearchWork, WorkLimitError } from './search-work.ts';
import { VictimEstimate } from './victim-estimate.ts';
import type { MemberClass, VictimEstimateOptions } from './victim-estimate.ts';
import { VictimPlans } from './victim-plans.ts';
import type { ConfirmedVictims } from './victim-plans.ts';
import type { VictimSearchRequest } from './victim-search-request.ts';

/** What a search found: a plan and its victims, or why there is none. */
export interface FoundVictims {
  readonly outcome: PreemptionOutcome;
  /** A node for each member that the entity still needs; empty if nothing is to be preempted. */
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Pod[];
  /** If there is no plan: pods that must stay now and may go later, without any other change. */
  readonly protectedUntil: readonly ProtectedUntil[];
  /** Pods that must leave too, and are about to be evicted for others. */
  readonly awaited: readonly Pod[];
  /** Names of the plugins that rejected members in the search's plans, although pods were gone. */
  readonly unschedulablePlugins: ReadonlySet<string>;
}

/** Maximum number of classes of members for which the cheapest nodes are estimated. */
const maxClasses = 32;
/** How many pods can be read at the cost of one node check. */
const podsPerCheck = 8;

/**
 * Searches for pods whose eviction lets an entity fit as a whole. Every answer is proved by a plan: no pod is a victim unless all members that
 * the entity needs then fit at once, and no victim could stay.
 */
export class VictimSearch {
  readonly #cluster: Cluster;
  readonly #planner: Planner;
  readonly #plans: EvictionUnitsOptions['plans'];

  /** `plans`: plans that may be given up. */
  constructor(cluster: Cluster, planner: Planner, plans?: EvictionUnitsOptions['plans']) {
    this.#cluster = cluster;
    this.#planner = planner;
    this.#plans = plans;
  }

  /**
   * Runs in steps. Until it ends or is abandoned, nothing else may change the cluster cache; then the cache is as before. Call it after an
   * ordinary plan has failed.
   */
  *steps(request: VictimSearchRequest, budget: WorkBudget): Yielding<FoundVictims> {
    const { demand, policy, earlier } = request;
    const { members, gang } = demand;
    const priority = request.priority ?? members.reduce((lowest, pod) => Math.min(lowest, pod.priority), Infinity);
    const makesWay = ({ uid }: Pod): boolean => earlier?.leaving.has(uid) === true;
    const preemptor = { priority, groupKey: gang?.key };
    const [cluster, plans] = [this.#cluster, this.#plans];
    const units = new EvictionUnits({ cluster, preemptor, policy, makesWay, plans });
    const work = new SearchWork(budget);
    let found: FoundVictims;
    try {
      found = yield* this.#find(request, units, work);
    } catch (error) {
      if (!(error instanceof WorkLimitError)) throw error;
      found = none(work, { kind: 'ended', plans: work.plans });
    }
    if (found.nominations.length > 0) return found;
    units.reportSkipped();
    return { ...found, protectedUntil: units.protectedUntil };
  }

  *#find(request: VictimSearchRequest, units: EvictionUnits, work: SearchWork): Yielding<FoundVictims> {
    const { policy, demand, ignoresReservationOf } = request;
    const { needed } = demand;
    const { budget } = work;
    const classes = yield* this.#classes(request, work);
    const going = yield* this.#going(request, budget);
    const estimated: VictimEstimateOptions = {
      classes,
      needed,
      units,
      policy,
      goingOn: ({ name }) => going.get(name) ?? [],
      ignoresReservationOf,
    };
    const estimate = yield* VictimEstimate.of(estimated, budget);
    const cheapest = yield* estimate.cheapest(Infinity, budget);
    const isPlaced = cheapest.placed >= needed;
    if (estimate.isBound && !isPlaced) return none(work, this.#negative(needed, cheapest.placed, units, estimate));
    const transaction = this.#cluster.begin();
    const [cluster, planner] = [this.#cluster, this.#planner];
    let plans: VictimPlans | undefined;
    try {
      plans = new VictimPlans({ cluster, planner, request, transaction, going: [...going.values()].flat(), work });
      const first = isPlaced ? yield* plans.confirm([...cheapest.victims], cheapest.nodes) : undefined;
      const found =
        first !== undefined && estimate.isExact
          ? first
          : yield* new InexactSearch({ cluster, request, units, plans, estimate, estimated, budget }).run(first);
      yield* plans.undo();
      if (typeof found === 'number') return none(work, this.#negative(needed, found, units, estimate));
      const tooMany = exceeding(policy, found);
      return tooMany === undefined ? answerOf(work, found) : none(work, tooMany);
    } finally {
      plans?.abandon();
      transaction.rollback();
    }
  }

  /** Returns the classes of members, with the nodes that would take them if no other pod was there. */
  *#classes(
    { profile, demand, nodeSubsetOf }: VictimSearchRequest,
    work: SearchWork,
  ): Yielding<readonly MemberClass[]> {
    const { members, gang, signed } = demand;
    const { budget } = work;
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
        work.spend(this.#cluster.nodes.length);
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

  /** Returns node name -> its pods that go in any case: they are terminating, or are about to be evicted for others. */
  *#going({ demand, earlier }: VictimSearchRequest, budget: WorkBudget): Yielding<ReadonlyMap<string, readonly Pod[]>> {
    const { nodes, requestedByPriority } = this.#cluster;
    const own = demand.gang?.key;
    const going = new Map<string, Pod[]>();
    const add = (pod: Pod): void => {
      const node = this.#cluster.nodeOf(pod);
      if (node?.isLost !== false || earlier?.isStuck(pod) === true) return;
      if (pod.podGroupKey !== own && earlier?.keepsCapacity(pod) === true) return;
      const known = going.get(node.name);
      if (known === undefined) going.set(node.name, [pod]);
      else known.push(pod);
    };
    for (const node of requestedByPriority.hasAnyTerminating ? nodes : []) {
      if (!requestedByPriority.hasTerminating(node)) continue;
      budget.spend(node.pods.size / podsPerCheck);
      if (budget.isDue) yield;
      for (const pod of node.pods.values()) if (pod.deleting) add(pod);
    }
    for (const uid of earlier?.leaving ?? []) {
      const pod = this.#cluster.pod(uid);
      if (pod !== undefined && !pod.deleting && (own === undefined || pod.podGroupKey !== own)) add(pod);
    }
    return going;
  }

  #negative(
    needed: number,
    placed: number,
    units: EvictionUnits,
    { nodeCount, withoutVictims }: VictimEstimate,
  ): PreemptionOutcome {
    const [why] = units.protectedPods.keys();
    if (why !== undefined) return { kind: 'protected', why };
    const all = this.#cluster.nodes.length;
    const nodes = { all, unsuitable: all - nodeCount, withoutVictims };
    const candidates = this.#cluster.nodes.reduce((count, node) => count + units.countOn(node), 0);
    return { kind: 'notHelpful', placed, needed, candidates, nodes };
  }
}

function none({ unschedulablePlugins }: SearchWork, outcome: PreemptionOutcome): FoundVictims {
  return { outcome, nominations: [], victims: [], awaited: [], protectedUntil: [], unschedulablePlugins };
}

/** Returns what the policy does not allow, if the victims are more than it allows. */
function exceeding(
  { maxVictims = Infinity, maxVictimGroups = Infinity }: PreemptionPolicy,
  { victims }: ConfirmedVictims,
): PreemptionOutcome | undefined {
  const evicted = victims.filter(({ unit }) => unit.isPlanned !== true);
  const groups = new Set(evicted.flatMap(({ unit, isSpare }) => (isSpare ? [] : (unit.gang ?? [])))).size;
  const isAllowed = evicted.length <= maxVictims && groups <= maxVictimGroups;
  return isAllowed ? undefined : { kind: 'tooMany', victims: evicted.length, groups };
}

function answerOf(
  { unschedulablePlugins }: SearchWork,
  { assignments, victims, going }: ConfirmedVictims,
): FoundVictims {
  const nominations = assignments.map(({ pod, nodeName }) => ({ pod, nodeName }));
  const gangs = [...new Set(victims.flatMap(({ unit }) => unit.gang ?? []))];
  const pods = victims.map(({ pod }) => pod);
  const evicted = victims.flatMap(({ pod, unit }) => (unit.isPlanned === true ? [] : pod));
  const recalled = pods.length - evicted.length;
  const [members, terminating] = [nominations.length, going.length];
  return {
    outcome: { kind: 'found', victims: evicted, recalled, gangs, members, terminating },
    nominations,
    victims: [...pods, ...going.filter(({ deleting }) => deleting)],
    awaited: going.filter(({ deleting }) => !deleting),
    protectedUntil: [],
    unschedulablePlugins,
  };
}
