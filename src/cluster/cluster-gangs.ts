import type { Pod } from '../api/pod.ts';
import type { Assumption } from './assumption.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import { Gang } from './gang.ts';
import type { GangSpec } from './gang.ts';
import { isLostTo } from './lost-node.ts';
import type { NodeInfo } from './node-info.ts';

/** The pod groups of the cluster cache with their members. A group is known while its PodGroup or a member exists. */
export class ClusterGangs {
  readonly #nodes: ClusterNodes;
  /** uid -> assumption of an unbound pod; written by the cluster cache. */
  readonly #assumed: ReadonlyMap<string, Assumption>;
  /** namespace/name -> group */
  readonly #gangs = new Map<string, Gang>();
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

  set(spec: GangSpec): void {
    this.#named(spec.key).setSpec(spec);
  }

  remove(key: string): void {
    const gang = this.#gangs.get(key);
    if (gang === undefined) return;
    gang.setSpec(undefined);
    if (gang.isEmpty) this.#gangs.delete(key);
  }

  /** Adds the pod to its group, if it names one, or updates the state of the member. */
  join(pod: Pod): void {
    if (pod.podGroupKey === undefined) return;
    const info = pod.nodeName === '' ? undefined : this.#nodes.get(pod.nodeName);
    const isStranded = info?.isLost === true && (info.isGone || isLostTo(pod, info.node));
    this.#named(pod.podGroupKey).setMember(pod, this.#assumed.get(pod.uid), isStranded);
  }

  leave(pod: Pod): void {
    const gang = pod.podGroupKey === undefined ? undefined : this.#gangs.get(pod.podGroupKey);
    if (gang === undefined) return;
    gang.removeMember(pod.uid);
    if (gang.isEmpty) this.#gangs.delete(gang.key);
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
