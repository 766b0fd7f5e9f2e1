import { parseGroupKey } from '../../api/group-key.ts';
import type { Pod, PodTemplate } from '../../api/pod.ts';
import { isTerminal } from '../../api/pod.ts';
import { minResources } from '../../api/resource-list.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import { addCount } from '../../base/add-count.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NamespaceLimits } from './namespace-limits.ts';

/** A member that is bound, and whose Binding this process saw. */
export interface SeenBinding {
  readonly groupKey: string;
  /** The pod's template when it was bound. A resize changes the pod's, but not that of its replacement. */
  readonly template: PodTemplate;
  /** For each resource, the least that the pod has requested since then. */
  requests: ResourceList;
  /** Clock.monotonic() when this process saw the Binding. */
  readonly since: number;
}

/** The seen Bindings of one group object. */
interface GroupBindings {
  readonly groupUid: string;
  /** uids of its members */
  readonly members: Set<string>;
  /** template -> number of members that were bound with it and have never requested less */
  readonly byTemplate: Map<PodTemplate, number>;
  /** Most members at the same time. */
  most: number;
}

/**
 * The bound members of groups whose Bindings this process saw: pods that the watch showed first unbound, then bound. Tutti
 * reserves capacity only for them. Users choose everything else that the API shows of a bound pod, such as `nodeName` and annotations, but
 * only components may create Bindings.
 */
export class SeenBindings {
  readonly #cluster: Pick<Cluster, 'gang'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #limits: Pick<NamespaceLimits, 'bind' | 'unbind'>;
  /** uid -> its Binding */
  readonly #members = new Map<string, SeenBinding>();
  /** group key -> its Bindings */
  readonly #groups = new Map<string, GroupBindings>();

  constructor(options: {
    readonly cluster: Pick<Cluster, 'gang'>;
    readonly clock: Pick<Clock, 'monotonic'>;
    readonly limits: Pick<NamespaceLimits, 'bind' | 'unbind'>;
  }) {
    this.#cluster = options.cluster;
    this.#clock = options.clock;
    this.#limits = options.limits;
  }

  /** A pod as the API now shows it; undefined: it was deleted. */
  podSeen(uid: string, pod: Pod | undefined): void {
    const known = this.#members.get(uid);
    const isBound = pod !== undefined && pod.nodeName !== '' && !isTerminal(pod);
    if (known !== undefined && (!isBound || pod.podGroupKey !== known.groupKey)) this.remove(uid);
    else if (known !== undefined) this.#resized(known, pod!.template.requests);
    else if (isBound) this.#add(pod);
  }

  /** The group may have been deleted or recreated: members of the former object do not count for the new one. */
  groupSeen(key: string): void {
    const group = this.#groups.get(key);
    if (group === undefined || group.groupUid === this.#cluster.gang(key)?.spec?.uid) return;
    for (const uid of [...group.members]) this.remove(uid);
    this.#groups.delete(key);
  }

  /** The member is not bound any more, or is no member any more. */
  remove(uid: string): void {
    const binding = this.#members.get(uid);
    if (binding === undefined) return;
    this.#members.delete(uid);
    const { groupKey, template, requests } = binding;
    const group = this.#groups.get(groupKey)!;
    group.members.delete(uid);
    if (requests === template.requests) addCount(group.byTemplate, template, -1);
    this.#limits.unbind(parseGroupKey(groupKey).namespace, requests);
  }

  of(uid: string): SeenBinding | undefined {
    return this.#members.get(uid);
  }

  /**
   * Returns how many members of the group are bound now; with a template, only those that were bound with it and have never requested less.
   */
  count(key: string, template?: PodTemplate): number {
    const group = this.#groups.get(key);
    return (template === undefined ? group?.members.size : group?.byTemplate.get(template)) ?? 0;
  }

  /** Returns the most members of the group that were bound at the same time. */
  most(key: string): number {
    return this.#groups.get(key)?.most ?? 0;
  }

  /** A user can resize a bound pod. Smaller requests count immediately. Larger requests do not count, because the Binding had smaller ones. */
  #resized(binding: SeenBinding, requests: ResourceList): void {
    const { groupKey, template, requests: before } = binding;
    const least = minResources(before, requests);
    if (least === before) return;
    if (before === template.requests) addCount(this.#groups.get(groupKey)!.byTemplate, template, -1);
    const { namespace } = parseGroupKey(groupKey);
    this.#limits.unbind(namespace, before);
    this.#limits.bind(namespace, least);
    binding.requests = least;
  }

  #add(pod: Pod): void {
    const { uid, podGroupKey: groupKey, template } = pod;
    const gang = groupKey === undefined ? undefined : this.#cluster.gang(groupKey);
    const groupUid = gang?.spec?.uid;
    if (groupKey === undefined || groupUid === undefined || gang?.hasSeenBinding(uid) !== true) return;
    this.groupSeen(groupKey);
    const group = this.#groups.get(groupKey) ?? { groupUid, members: new Set(), byTemplate: new Map(), most: 0 };
    this.#groups.set(groupKey, group);
    const { requests } = template;
    this.#members.set(uid, { groupKey, template, requests, since: this.#clock.monotonic() });
    group.members.add(uid);
    addCount(group.byTemplate, template, 1);
    group.most = Math.max(group.most, group.members.size);
    this.#limits.bind(pod.namespace, requests);
  }
}
