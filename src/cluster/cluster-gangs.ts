import type { Pod } from '../api/pod.ts';
import type { Assumption } from './assumption.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import { Gang } from './gang.ts';
import type { GangSpec } from './gang-spec.ts';
import { isLostTo } from './lost-node.ts';
import type { NodeInfo } from './node-info.ts';

const none: readonly never[] = Object.freeze([]);

/** Returns whether the group exists and starts its members together. */
function isGang(gang: Gang | undefined): boolean {
  return gang?.spec !== undefined && gang.spec.minMember > 0;
}

/** The pod groups of the cluster cache with their members. A group is known while its PodGroup or a member exists. */
export class ClusterGangs {
  readonly #nodes: ClusterNodes;
  /** uid -> assumption of an unbound pod; written by the cluster cache. */
  readonly #assumed: ReadonlyMap<string, Assumption>;
  /** group key -> group */
  readonly #gangs = new Map<string, Gang>();
  /** key of the group in spec.schedulingGroup -> uid of a pod that is in another group by its label -> that pod */
  readonly #labeled = new Map<string, Map<string, Pod>>();
  /** False while the pods are listed again. */
  #areListed = true;

  constructor(nodes: ClusterNodes, assumed: ReadonlyMap<string, Assumption>) {
    this.#nodes = nodes;
    this.#assumed = assumed;
  }

  get(key: string): Gang | undefined {
    return this.#gangs.get(key);
  }

  all(): Iterable<Gang> {
    return this.#gangs.values();
  }

  /** Returns the keys of the other groups that this concerns: they have members whose spec.schedulingGroup names this group. */
  set(spec: GangSpec): readonly string[] {
    const gang = this.#named(spec.key);
    const wasGang = isGang(gang);
    gang.setSpec(spec);
    return isGang(gang) === wasGang ? none : this.#rejoinLabeled(spec.key);
  }

  /** Returns the keys of the other groups that this concerns, like `set`. */
  remove(key: string): readonly string[] {
    const gang = this.#gangs.get(key);
    if (gang === undefined) return none;
    const wasGang = isGang(gang);
    gang.setSpec(undefined);
    if (gang.isEmpty) this.#gangs.delete(key);
    return wasGang ? this.#rejoinLabeled(key) : none;
  }

  /** Adds the pod to its group, if it names one, or updates the state of the member. */
  join(pod: Pod): void {
    if (pod.podGroupKey === undefined) return;
    const info = pod.nodeName === '' ? undefined : this.#nodes.get(pod.nodeName);
    const isStranded = info?.isLost === true && (info.isGone || isLostTo(pod, info.node));
    const { otherGroupKey: other } = pod;
    if (other !== undefined) this.#noteLabeled(other, pod);
    const otherGang = other !== undefined && isGang(this.#gangs.get(other)) ? other : undefined;
    this.#named(pod.podGroupKey).setMember(pod, this.#assumed.get(pod.uid), isStranded, otherGang);
  }

  leave(pod: Pod): void {
    const gang = pod.podGroupKey === undefined ? undefined : this.#gangs.get(pod.podGroupKey);
    if (gang === undefined) return;
    gang.removeMember(pod.uid);
    if (gang.isEmpty) this.#gangs.delete(gang.key);
    if (pod.otherGroupKey === undefined) return;
    const labeled = this.#labeled.get(pod.otherGroupKey);
    labeled?.delete(pod.uid);
    if (labeled?.size === 0) this.#labeled.delete(pod.otherGroupKey);
  }

  /** Updates which members on the node are stranded. Returns the keys of the groups in which one changed. */
  updateStranded(info: NodeInfo): readonly string[] {
    const changed = new Set<string>();
    for (const pod of info.pods.values()) {
      const gang = pod.podGroupKey === undefined ? undefined : this.#gangs.get(pod.podGroupKey);
      const before = gang?.stateOf(pod.uid);
      if (gang === undefined || before === undefined) continue;
      this.join(pod);
      if (gang.stateOf(pod.uid) !== before) changed.add(gang.key);
    }
    return [...changed];
  }

  /** The pods are listed again. Until `membersListed`, no group starts over. */
  membersBeingListed(): void {
    this.#areListed = false;
    for (const gang of this.#gangs.values()) gang.membersBeingListed();
  }

  /** Returns the keys of the groups that have started, or start over. */
  membersListed(): readonly string[] {
    this.#areListed = true;
    return [...this.#gangs.values()].filter((gang) => gang.membersListed()).map(({ key }) => key);
  }

  #noteLabeled(otherKey: string, pod: Pod): void {
    const labeled = this.#labeled.get(otherKey);
    if (labeled === undefined) this.#labeled.set(otherKey, new Map([[pod.uid, pod]]));
    else labeled.set(pod.uid, pod);
  }

  /** The group in spec.schedulingGroup of these pods became a gang, or no longer is one. */
  #rejoinLabeled(otherKey: string): readonly string[] {
    const labeled = [...(this.#labeled.get(otherKey)?.values() ?? none)];
    for (const pod of labeled) this.join(pod);
    return [...new Set(labeled.map(({ podGroupKey }) => podGroupKey!))];
  }

  #named(key: string): Gang {
    let gang = this.#gangs.get(key);
    if (gang === undefined) {
      gang = new Gang(key);
      if (!this.#areListed) gang.membersBeingListed();
      this.#gangs.set(key, gang);
    }
    return gang;
  }
}
