import type { Pod, PodTemplate } from '../../api/pod.ts';
import type { ResourceId } from '../../api/resource-names.ts';
import type { ResourceList } from '../../api/resource-list.ts';
import { isTerminal } from '../../api/pod.ts';
import { addCount } from '../../base/add-count.ts';
import type { Clock } from '../../base/clock.ts';
import { Amounts } from '../../cluster/amounts.ts';
import type { Cluster } from '../../cluster/cluster.ts';

/** A member that is bound, and whose Binding this process saw. */
export interface SeenBinding {
  readonly groupKey: string;
  readonly template: PodTemplate;
  /** Clock.monotonic() when this process saw the Binding. */
  readonly since: number;
}

/** The seen Bindings of one group object. */
interface GroupBindings {
  readonly groupUid: string;
  /** uids of its members */
  readonly members: Set<string>;
  /** template -> number of members with it */
  readonly byTemplate: Map<PodTemplate, number>;
  /** Most members at once. */
  most: number;
}

/** The seen Bindings of one namespace. */
interface NamespaceBindings {
  /** Sum of the members' requests. */
  readonly bound: Amounts;
  /** resource -> most bound at once since the namespace last had no reservation; refreshed by `#mostOf` */
  readonly most: Map<ResourceId, number>;
}

/**
 * The bound members of groups whose Bindings this process saw: pods that the watch showed first unbound, then bound. Only they may earn
 * reservations, because nothing else that the API shows of a bound pod is safe from the users of its namespace: they choose `nodeName`
 * and annotations themselves, but only components may create Bindings.
 */
export class SeenBindings {
  readonly #cluster: Pick<Cluster, 'gang'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #hasReservations: (namespace: string) => boolean;
  /** uid -> its Binding */
  readonly #members = new Map<string, SeenBinding>();
  /** group key -> its Bindings */
  readonly #groups = new Map<string, GroupBindings>();
  /** namespace -> its Bindings */
  readonly #namespaces = new Map<string, NamespaceBindings>();

  constructor(options: {
    readonly cluster: Pick<Cluster, 'gang'>;
    readonly clock: Pick<Clock, 'monotonic'>;
    /** Returns whether capacity is reserved for lost members of the namespace. */
    readonly hasReservations: (namespace: string) => boolean;
  }) {
    this.#cluster = options.cluster;
    this.#clock = options.clock;
    this.#hasReservations = options.hasReservations;
  }

  /** A pod as the API now shows it; undefined: it was deleted. */
  podSeen(uid: string, pod: Pod | undefined): void {
    const known = this.#members.get(uid);
    const isBound = pod !== undefined && pod.nodeName !== '' && !isTerminal(pod);
    if (known !== undefined && (!isBound || pod.podGroupKey !== known.groupKey)) this.remove(uid);
    else if (known === undefined && isBound) this.#add(pod);
  }

  /** The group may have been deleted or recreated: members of the former object earn nothing for the new one. */
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
    const { groupKey, template } = binding;
    const group = this.#groups.get(groupKey)!;
    group.members.delete(uid);
    addCount(group.byTemplate, template, -1);
    const namespace = namespaceOf(groupKey);
    const { bound } = this.#namespaces.get(namespace)!;
    bound.subtract(template.requests);
    if (bound.entries().length === 0 && !this.#hasReservations(namespace)) this.#namespaces.delete(namespace);
  }

  of(uid: string): SeenBinding | undefined {
    return this.#members.get(uid);
  }

  /** Returns how many members of the group are bound now; with a template, only those with this template. */
  count(key: string, template?: PodTemplate): number {
    const group = this.#groups.get(key);
    return (template === undefined ? group?.members.size : group?.byTemplate.get(template)) ?? 0;
  }

  /** Returns the most members of the group that were bound at once. */
  most(key: string): number {
    return this.#groups.get(key)?.most ?? 0;
  }

  /**
   * Returns whether the namespace has had as much bound at once as these requests add up to. Looks back to the time when the namespace last
   * had no reservation.
   */
  hasHad(namespace: string, requests: Iterable<ResourceList>): boolean {
    const sum = new Amounts();
    for (const list of requests) sum.add(list);
    const most = this.#mostOf(namespace);
    return sum.entries().every(([id, amount]) => amount <= (most?.get(id) ?? 0));
  }

  #mostOf(namespace: string): Map<ResourceId, number> | undefined {
    const known = this.#namespaces.get(namespace);
    if (known === undefined || this.#hasReservations(namespace)) return known?.most;
    known.most.clear();
    for (const [id, amount] of known.bound.entries()) known.most.set(id, amount);
    return known.most;
  }

  #add(pod: Pod): void {
    const { uid, podGroupKey: groupKey, template } = pod;
    const gang = groupKey === undefined ? undefined : this.#cluster.gang(groupKey);
    const groupUid = gang?.spec?.uid;
    if (groupKey === undefined || groupUid === undefined || gang?.hasSeenBinding(uid) !== true) return;
    this.groupSeen(groupKey);
    const group = this.#groups.get(groupKey) ?? { groupUid, members: new Set(), byTemplate: new Map(), most: 0 };
    this.#groups.set(groupKey, group);
    this.#members.set(uid, { groupKey, template, since: this.#clock.monotonic() });
    group.members.add(uid);
    addCount(group.byTemplate, template, 1);
    group.most = Math.max(group.most, group.members.size);
    const { bound } = this.#namespaces.get(pod.namespace) ?? { bound: new Amounts() };
    if (!this.#namespaces.has(pod.namespace)) this.#namespaces.set(pod.namespace, { bound, most: new Map() });
    const most = this.#mostOf(pod.namespace)!;
    bound.add(template.requests);
    for (const id of template.requests.ids) most.set(id, Math.max(most.get(id) ?? 0, bound.of(id)));
  }
}

function namespaceOf(groupKey: string): string {
  return groupKey.slice(0, groupKey.indexOf('/'));
}
