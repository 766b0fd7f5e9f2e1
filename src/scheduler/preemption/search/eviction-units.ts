import type { Pod } from '../../../api/pod.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { Gang } from '../../../cluster/gang.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { EvictionUnit, PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import type { EvictablePod } from './evictable-pod.ts';
import { leastImportantFirst, mostImportantFirst } from './importance.ts';

/** The entity for which pods are evicted. */
export interface Preemptor {
  /** Victims must have a lower priority. */
  readonly priority: number;
  /** Its own group, whose members are never victims. */
  readonly groupKey: string | undefined;
}

const none: readonly EvictablePod[] = [];

/**
 * The pods that may be evicted for an entity, in units. A group is evicted whole, or it keeps its quorum: so a group is a unit, of which some
 * pods may go without the others. If a member must stay, only the least important members beyond the quorum may go. Pods that are already
 * terminating belong to no unit.
 */
export class EvictionUnits {
  readonly #cluster: Cluster;
  readonly #preemptor: Preemptor;
  readonly #policy: PreemptionPolicy;
  readonly #makesWay: (pod: Pod) => boolean;
  /** group key or pod uid -> unit; undefined: none of its pods may go */
  readonly #units = new Map<string, EvictionUnit | undefined>();
  /** uids of the gang members that may go */
  readonly #evictable = new Set<string>();
  /** Why pods of lower priority have to stay -> one of them. */
  readonly protectedPods = new Map<string, Pod>();
  /** Pods of lower priority whose Bindings are not confirmed yet. */
  readonly #inFlight: Pod[] = [];
  /** Groups of which some members have to stay, so that others of lower priority have to stay as well. */
  readonly #held: Gang[] = [];

  /** `makesWay`: returns whether the pod is about to be evicted for another entity. */
  constructor(cluster: Cluster, preemptor: Preemptor, policy: PreemptionPolicy, makesWay: (pod: Pod) => boolean) {
    this.#cluster = cluster;
    this.#preemptor = preemptor;
    this.#policy = policy;
    this.#makesWay = makesWay;
  }

  /** Number of pods that may be evicted, in the units seen so far. */
  get podCount(): number {
    let count = 0;
    for (const unit of this.#units.values()) count += unit?.pods.length ?? 0;
    return count;
  }

  /** Reports pods and groups that may be evictable later, without any other change, to the policy. */
  reportSkipped(): void {
    if (this.#inFlight.length > 0 || this.#held.length > 0) this.#policy.skipped(this.#inFlight, this.#held);
  }

  /** Returns the pods on the node that may be evicted, the most important first. */
  on(node: NodeInfo): readonly EvictablePod[] {
    let found: EvictablePod[] | undefined;
    /** gang unit -> its pods on this node */
    let ofGangs: Map<EvictionUnit, Pod[]> | undefined;
    for (const pod of node.pods.values()) {
      if (pod.priority >= this.#preemptor.priority || pod.deleting) continue;
      const unit = this.#unitOf(pod);
      if (unit === undefined) continue;
      if (unit.gang === undefined) {
        (found ??= []).push({ pod, unit, isSpare: true });
      } else if (this.#evictable.has(pod.uid)) {
        const pods = (ofGangs ??= new Map<EvictionUnit, Pod[]>()).get(unit);
        if (pods === undefined) ofGangs.set(unit, [pod]);
        else pods.push(pod);
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

  #unitOf(pod: Pod): EvictionUnit | undefined {
    const { podGroupKey } = pod;
    const gang = podGroupKey === undefined ? undefined : this.#cluster.gang(podGroupKey);
    const isMember = gang?.spec !== undefined && gang.stateOf(pod.uid) !== 'former';
    const key = isMember ? podGroupKey! : pod.uid;
    if (this.#units.has(key)) return this.#units.get(key);
    const unit = isMember ? this.#unitOfGang(gang) : this.#unitOfPod(pod);
    this.#units.set(key, unit);
    return unit;
  }

  #unitOfPod(pod: Pod): EvictionUnit | undefined {
    if (!this.#mayGo(pod)) return undefined;
    return { gang: undefined, pods: [pod], priority: pod.priority, surplus: 1, mayGoWhole: true };
  }

  #unitOfGang(gang: Gang): EvictionUnit | undefined {
    if (gang.key === this.#preemptor.groupKey) return undefined;
    const bound = [...gang.members.values()].filter(({ uid }) => isLive(gang.stateOf(uid)));
    const mayGo = bound.filter((pod) => pod.priority < this.#preemptor.priority && this.#mayGo(pod));
    const mayGoWhole = mayGo.length === bound.length;
    // A member that is being bound may fail, so the quorum does not rest on it.
    const confirmed = bound.filter(({ uid }) => !this.#cluster.isAssumed(uid)).length;
    const beyondQuorum = Math.max(0, confirmed - gang.spec!.minMember);
    if (!mayGoWhole && mayGo.length > beyondQuorum) this.#held.push(gang);
    const surplus = Math.min(mayGo.length, beyondQuorum);
    if (!mayGoWhole && surplus === 0) return undefined;
    mayGo.sort(leastImportantFirst);
    // Which of them stay is decided here: then the search can treat the others as single pods.
    const pods = mayGoWhole ? mayGo : mayGo.slice(0, surplus);
    for (const { uid } of pods) this.#evictable.add(uid);
    return { gang, pods, priority: Math.max(...pods.map(({ priority }) => priority)), surplus, mayGoWhole };
  }

  /** Returns whether a budget does not allow to evict this pod, even if no other one goes. */
  #exceedsBudget(pod: Pod): boolean {
    return this.#policy.hasBudgets && this.#policy.allowances(pod).some(({ allowed }) => allowed < 1);
  }

  /** Returns whether this pod may be evicted, and remembers why not. */
  #mayGo(pod: Pod): boolean {
    // Whether the API server has bound it is unknown.
    if (this.#cluster.isAssumed(pod.uid)) {
      this.#inFlight.push(pod);
      return false;
    }
    const why = this.#makesWay(pod) ? 'that make way for another entity' : this.#policy.protects(pod);
    if (why === undefined) return true;
    if (!this.protectedPods.has(why)) this.protectedPods.set(why, pod);
    return false;
  }
}

function isLive(state: ReturnType<Gang['stateOf']>): boolean {
  return state === 'bound' || state === 'stranded' || state === 'planned';
}
