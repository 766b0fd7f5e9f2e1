import type { Pod } from '../../../api/pod.ts';
import type { ResourceId } from '../../../api/resource-names.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import { goSingly, isQuorum } from '../../../cluster/gang-view.ts';
import type { Gang } from '../../../cluster/gang.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { EvictionUnit, PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import type { WaitingPlans } from '../waiting-plans.ts';
import type { ProtectedUntil } from './protected-until.ts';
import { BudgetUse } from './budget-use.ts';
import type { EvictablePod } from './evictable-pod.ts';
import { leastImportantFirst, mostImportantFirst, startsByCost } from './importance.ts';

/** The entity for which pods are evicted. */
export interface Preemptor {
  /** Victims must have a lower priority. */
  readonly priority: number;
  /** Its own group, whose members are never victims. */
  readonly groupKey: string | undefined;
}

export interface EvictionUnitsOptions {
  readonly cluster: Cluster;
  readonly preemptor: Preemptor;
  readonly policy: PreemptionPolicy;
  /** Returns whether the pod is about to be evicted for another entity. */
  readonly makesWay: (pod: Pod) => boolean;
  /** Plans that may be given up. Absent: none. */
  readonly plans: Pick<WaitingPlans, 'podsPlannedWith'> | undefined;
}

/** Priority of a planned pod in a search. To give up a plan costs no running work, so it comes before any eviction. */
const plannedPriority = -(2 ** 31);

const none: readonly EvictablePod[] = [];

/**
 * The pods that may be evicted for an entity, in units. A group is evicted whole, or it keeps its quorum: so a group is a unit, of which some
 * pods may go without the others. If a member must stay, only the least important members beyond the quorum may go. Pods that are already
 * terminating, or about to be evicted for another entity, belong to no unit.
 */
export class EvictionUnits {
  readonly #cluster: Cluster;
  readonly #preemptor: Preemptor;
  readonly #policy: PreemptionPolicy;
  readonly #makesWay: (pod: Pod) => boolean;
  readonly #plans: EvictionUnitsOptions['plans'];
  /** key of a group or plan -> unit; undefined: none of its pods may go */
  readonly #units = new Map<string, EvictionUnit | undefined>();
  /** node index -> its pods that may be evicted */
  readonly #onNode: (readonly EvictablePod[])[] = [];
  #mixPriorities = false;
  /** uids of the gang members that may go */
  readonly #evictable = new Set<string>();
  /** Why pods of lower priority have to stay -> one of them. */
  readonly protectedPods = new Map<string, Pod>();
  /** uid of a planned pod -> the same pod as it counts here */
  readonly #planned = new Map<string, Pod>();
  /** node -> a pod there, of lower priority, that may go first without any other change */
  readonly #later = new Map<string, ProtectedUntil>();
  /** Pods of lower priority whose Bindings are not confirmed yet. */
  readonly #inFlight: Pod[] = [];
  /** budget that keeps pods from going -> their lowest priority */
  readonly #budgets = new Map<string, number>();
  /** Groups of which some members have to stay, so that others of lower priority have to stay as well. */
  readonly #held: Gang[] = [];

  constructor({ cluster, preemptor, policy, makesWay, plans }: EvictionUnitsOptions) {
    this.#cluster = cluster;
    this.#preemptor = preemptor;
    this.#policy = policy;
    this.#makesWay = makesWay;
    this.#plans = plans;
  }

  /** Reports pods and groups that may be evictable later, without any other change, to the policy. */
  reportSkipped(): void {
    if (this.#inFlight.length + this.#held.length + this.#budgets.size > 0)
      this.#policy.skipped(this.#inFlight, this.#held, this.#budgets);
  }

  /** True if no disruption budget may be exceeded, and there are budgets. */
  get keepBudgets(): boolean {
    return this.#policy.budgetProtects !== undefined && this.#policy.hasBudgets;
  }

  /** Returns whether these evictions would exceed a budget that must be kept, beside those that are counted, and remembers which. */
  exceedBudgets(pods: readonly Pod[], used: BudgetUse): boolean {
    const budget = this.keepBudgets ? used.exceededBy(pods) : undefined;
    if (budget !== undefined) this.#keptBy(budget, pods);
    return budget !== undefined;
  }

  #keptBy(budget: string, pods: readonly Pod[]): void {
    const lowest = pods.reduce((priority, pod) => Math.min(priority, pod.priority), Infinity);
    this.#budgets.set(budget, Math.min(lowest, this.#budgets.get(budget) ?? Infinity));
    const { why } = this.#policy.budgetProtects!(budget);
    if (!this.protectedPods.has(why)) this.protectedPods.set(why, pods[0]!);
  }

  /** Pods that have to stay now and may go later, one per node. */
  get protectedUntil(): readonly ProtectedUntil[] {
    return [...this.#later.values()];
  }

  /** Returns at least what the pods on the node that may be evicted request, without reading the pods. */
  mostRequestedOn(node: NodeInfo, id: ResourceId): number {
    return this.#cluster.requestedByPriority.below(this.#preemptor.priority, node, id);
  }

  /** Whether `on` has read the node's pods. */
  hasRead(node: NodeInfo): boolean {
    return this.#onNode[node.index] !== undefined;
  }

  /** Returns the number of pods on the node that may be evicted. If `on` has not read them, all pods of lower priority count. */
  countOn(node: NodeInfo): number {
    const known = this.#onNode[node.index];
    return known === undefined
      ? this.#cluster.requestedByPriority.podsBelow(this.#preemptor.priority, node)
      : known.length;
  }

  /** Returns the pods on the node that may be evicted, the most important first. */
  on(node: NodeInfo): readonly EvictablePod[] {
    return (this.#onNode[node.index] ??= this.#findOn(node));
  }

  #findOn(node: NodeInfo): readonly EvictablePod[] {
    let found: EvictablePod[] | undefined;
    /** gang unit -> its pods on this node */
    let ofGangs: Map<EvictionUnit, Pod[]> | undefined;
    for (const pod of node.pods.values()) {
      if (pod.priority >= this.#preemptor.priority || pod.deleting) continue;
      const unit = this.#unitOf(pod);
      if (unit === undefined) continue;
      if (unit.gang === undefined) {
        (found ??= []).push({ pod: this.#planned.get(pod.uid) ?? pod, unit, isSpare: true });
      } else if (this.#evictable.has(pod.uid)) {
        const here = this.#planned.get(pod.uid) ?? pod;
        const pods = (ofGangs ??= new Map<EvictionUnit, Pod[]>()).get(unit);
        if (pods === undefined) ofGangs.set(unit, [here]);
        else pods.push(here);
      }
    }
    for (const [unit, pods] of ofGangs ?? []) {
      pods.sort((a, b) => Number(this.#exceedsBudget(a)) - Number(this.#exceedsBudget(b)) || leastImportantFirst(a, b));
      for (const [i, pod] of pods.entries()) {
        (found ??= []).push({ pod, unit, isSpare: i < unit.surplus });
      }
    }
    return found?.sort(mostImportantFirst) ?? none;
  }

  /** Whether a gang among the units seen so far has members of different priorities. */
  get mixPriorities(): boolean {
    return this.#mixPriorities;
  }

  #unitOf(pod: Pod): EvictionUnit | undefined {
    const { podGroupKey } = pod;
    const gang = podGroupKey === undefined ? undefined : this.#cluster.gang(podGroupKey);
    const isMember = gang !== undefined && !goSingly(gang) && gang.stateOf(pod.uid) !== 'former';
    const planned = this.#cluster.isAssumed(pod.uid) ? this.#plans?.podsPlannedWith(pod.uid) : undefined;
    if (!isMember && planned === undefined) return this.#unitOfPod(pod);
    const key = planned === undefined ? podGroupKey! : `plan/${planned[0]!.uid}`;
    if (this.#units.has(key)) return this.#units.get(key);
    const ofPlan = planned && this.#unitOfPlan(planned, isMember ? gang : undefined);
    const unit = ofPlan ?? (isMember ? this.#unitOfGang(gang) : this.#unitOfPod(pod));
    this.#units.set(key, unit);
    return unit;
  }

  /** A plan that waits for plugins is given up whole. Returns undefined if that is not possible, or would leave its group below its quorum. */
  #unitOfPlan(pods: readonly Pod[], gang: Gang | undefined): EvictionUnit | undefined {
    if (gang === undefined ? pods.length > 1 : gang.key === this.#preemptor.groupKey) return undefined;
    const mayGo = pods.every(
      (pod) =>
        pod.priority < this.#preemptor.priority && !this.#makesWay(pod) && this.#policy.protects(pod) === undefined,
    );
    if (!mayGo) return undefined;
    if (gang !== undefined) {
      const left = gang.count('bound') + gang.count('stranded') + gang.count('planned') - pods.length;
      if (left > 0 && !isQuorum(gang.counted - pods.length, gang)) return undefined;
    }
    const counted = pods.map((pod) => ({ ...pod, priority: plannedPriority }));
    for (const pod of counted) {
      this.#planned.set(pod.uid, pod);
      this.#evictable.add(pod.uid);
    }
    const surplus = gang === undefined ? 1 : 0;
    return { gang, pods: counted, priority: plannedPriority, surplus, mayGoWhole: true, isPlanned: true };
  }

  #unitOfPod(pod: Pod): EvictionUnit | undefined {
    const until = this.#staysUntil(pod);
    if (until !== undefined) {
      this.#mayGoLater(pod, until);
      return undefined;
    }
    return { gang: undefined, pods: [pod], priority: pod.priority, surplus: 1, mayGoWhole: true };
  }

  #unitOfGang(gang: Gang): EvictionUnit | undefined {
    if (gang.key === this.#preemptor.groupKey) return undefined;
    const bound = [...gang.members.values()].filter(({ uid }) => isLive(gang.stateOf(uid)));
    /** member that has to stay -> until when */
    const staying = new Map<Pod, number>();
    for (const pod of bound) {
      const until = pod.priority < this.#preemptor.priority ? this.#staysUntil(pod) : Infinity;
      if (until !== undefined) staying.set(pod, until);
    }
    const mayGo = bound.filter((pod) => !staying.has(pod));
    const mayGoWhole = staying.size === 0 && !this.exceedBudgets(bound, new BudgetUse(this.#policy));
    // A member that is being bound may fail, and one that makes way leaves, so the quorum does not rest on them.
    const confirmed = bound.filter((pod) => !this.#cluster.isAssumed(pod.uid) && !this.#makesWay(pod)).length;
    const { minMember, evictedWhole = false } = gang.spec!;
    const beyondQuorum = evictedWhole ? 0 : Math.max(0, confirmed - minMember);
    if (staying.size > 0) {
      const wholeAt = Math.max(...staying.values());
      for (const pod of bound)
        this.#mayGoLater(pod, beyondQuorum > 0 ? Math.min(wholeAt, staying.get(pod) ?? Infinity) : wholeAt);
    }
    if (!mayGoWhole && mayGo.length > beyondQuorum) this.#held.push(gang);
    const surplus = Math.min(mayGo.length, beyondQuorum);
    if (!mayGoWhole && surplus === 0) return undefined;
    mayGo.sort(leastImportantFirst);
    // Which of them stay is decided here: then the search can treat the others as single pods.
    const pods = mayGoWhole ? mayGo : mayGo.slice(0, surplus);
    for (const { uid } of pods) this.#evictable.add(uid);
    const priority = pods.reduce((highest, pod) => Math.max(highest, pod.priority), -Infinity);
    this.#mixPriorities ||= pods.some((pod) => pod.priority < priority);
    return { gang, pods, priority, starts: startsByCost(pods), surplus, mayGoWhole };
  }

  /** Returns whether a budget does not allow to evict this pod, even if no other one goes. */
  #exceedsBudget(pod: Pod): boolean {
    return this.#policy.hasBudgets && this.#policy.allowances(pod).some(({ allowed }) => allowed < 1);
  }

  /**
   * Returns until when this pod must stay, in milliseconds since the epoch, and remembers why. Infinity: until another change. Undefined: it may
   * be evicted.
   */
  #staysUntil(pod: Pod): number | undefined {
    // Whether the API server has bound it is unknown.
    if (this.#cluster.isAssumed(pod.uid)) {
      this.#inFlight.push(pod);
      return Infinity;
    }
    if (this.#makesWay(pod)) return Infinity;
    const protection = this.#policy.protects(pod);
    if (protection === undefined) return this.#isKeptByBudget(pod) ? Infinity : undefined;
    const { why, until = Infinity } = protection;
    if (!this.protectedPods.has(why)) this.protectedPods.set(why, pod);
    return until;
  }

  /** The Eviction API rejects a pod that several budgets match. */
  #isKeptByBudget(pod: Pod): boolean {
    if (!this.keepBudgets) return false;
    const [first, ...others] = this.#policy.allowances(pod);
    if (first === undefined || (first.allowed > 0 && others.length === 0)) return false;
    this.#keptBy(first.budget, [pod]);
    return true;
  }

  #mayGoLater(pod: Pod, until: number): void {
    if (until < (this.#later.get(pod.nodeName)?.until ?? Infinity)) this.#later.set(pod.nodeName, { pod, until });
  }
}

function isLive(state: ReturnType<Gang['stateOf']>): boolean {
  return state === 'bound' || state === 'stranded' || state === 'planned';
}
