import { addCount } from '../base/add-count.ts';
import type { Pod } from '../api/pod.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import type { NodeInfo } from './node-info.ts';
import { mustRespect } from './reservation.ts';
import type { Reservation } from './reservation.ts';

/** A node with reservations that some pod must respect. */
export interface ReservedNode {
  readonly node: NodeInfo;
  /** The owners of these reservations. */
  readonly owners: readonly Pod[];
}

/** The nodes with reservations that some pods must respect. */
interface RespectedList {
  /** One of these pods. */
  readonly pod: Pod;
  readonly nodes: readonly ReservedNode[];
}

const none: readonly ReservedNode[] = [];

/** Maximum number of cached lists; beyond it the cache starts over. */
const maxLists = 64;

/** Reservations, indexed by owner and group, and stored on their nodes. An owner has at most one. */
export class NodeReservations {
  readonly #nodes: ClusterNodes;
  /** owner uid -> its reservation */
  readonly #byOwner = new Map<string, Reservation>();
  /** group key -> number of its reservations */
  readonly #counts = new Map<string, number>();
  /** what `mustRespect` reads of a pod -> the list for such pods; without lists that a change of reservations made outdated */
  readonly #respected = new Map<string, RespectedList>();
  readonly #isAssumed: (uid: string) => boolean;

  constructor(nodes: ClusterNodes, isAssumed: (uid: string) => boolean) {
    this.#nodes = nodes;
    this.#isAssumed = isAssumed;
  }

  get size(): number {
    return this.#byOwner.size;
  }

  of(owner: string): Reservation | undefined {
    return this.#byOwner.get(owner);
  }

  /** Returns whether a pod that names the group, or a placeholder for one, has a reservation. */
  isFor(groupKey: string): boolean {
    return this.#counts.has(groupKey);
  }

  /** Returns the reservations on a node, even an unknown one. */
  on(nodeName: string): Iterable<Reservation> {
    return this.#nodes.get(nodeName)?.reservations.values() ?? [];
  }

  /**
   * Returns the nodes with reservations that the pod must respect, even unknown nodes. Leaves out assumed owners. The same list until it has
   * to change.
   */
  respectedBy(pod: Pod): readonly ReservedNode[] {
    if (this.#byOwner.size === 0) return none;
    const key = this.respectKeyOf(pod);
    const known = this.#respected.get(key);
    if (known !== undefined) return known.nodes;
    if (this.#respected.size >= maxLists) this.#respected.clear();
    const nodes = this.#listRespected(pod);
    this.#respected.set(key, { pod, nodes });
    return nodes;
  }

  /** Returns what `mustRespect` reads of a pod, as text: pods with equal texts must respect the same reservations. */
  respectKeyOf({ uid, priority, podGroupKey }: Pod): string {
    const groupKey = podGroupKey !== undefined && this.isFor(podGroupKey) ? podGroupKey : '';
    const own = this.#byOwner.get(uid);
    // A member does not respect most of its own group's reservations anyway.
    const isOwnOfGroup = groupKey !== '' && own?.owner.podGroupKey === groupKey && own.plan?.excludesSiblings !== true;
    return `${priority} ${groupKey} ${own === undefined || isOwnOfGroup ? '' : uid}`;
  }

  /** Call it after a pod was assumed, or is no longer. */
  assumptionChanged(uid: string): void {
    const reservation = this.#byOwner.get(uid);
    if (reservation !== undefined) this.#forgetLists(reservation);
  }

  /** Drops the lists that contain the reservation, or would if its owner were not assumed. */
  #forgetLists(reservation: Reservation): void {
    for (const [key, { pod }] of this.#respected) if (mustRespect(pod, reservation)) this.#respected.delete(key);
  }

  #listRespected(pod: Pod): readonly ReservedNode[] {
    /** node -> owners of its reservations, in the node's order */
    const owners = new Map<NodeInfo, Pod[]>();
    for (const reservation of this.#byOwner.values()) {
      if (!mustRespect(pod, reservation) || this.#isAssumed(reservation.owner.uid)) continue;
      const node = this.#nodes.get(reservation.nodeName)!;
      const known = owners.get(node);
      if (known === undefined) owners.set(node, [reservation.owner]);
      else known.push(reservation.owner);
    }
    return Array.from(owners, ([node, here]) => ({ node, owners: here }));
  }

  /** Returns all reservations, the oldest first. */
  all(): Iterable<Reservation> {
    return this.#byOwner.values();
  }

  /** Adds a reservation; replaces the owner's previous one. */
  set(reservation: Reservation): void {
    const { uid, podGroupKey } = reservation.owner;
    this.release(uid);
    // All, because the pod of a list may be the new owner, or of its group.
    this.#respected.clear();
    this.#byOwner.set(uid, reservation);
    if (podGroupKey !== undefined) addCount(this.#counts, podGroupKey, 1);
    const info = this.#nodes.named(reservation.nodeName);
    info.reservations.set(uid, reservation);
    this.#nodes.touch(info);
  }

  /** Removes and returns the owner's reservation. */
  release(owner: string): Reservation | undefined {
    const reservation = this.#byOwner.get(owner);
    if (reservation === undefined) return undefined;
    this.#byOwner.delete(owner);
    this.#forgetLists(reservation);
    const { podGroupKey } = reservation.owner;
    if (podGroupKey !== undefined) addCount(this.#counts, podGroupKey, -1);
    const info = this.#nodes.named(reservation.nodeName);
    info.reservations.delete(owner);
    this.#nodes.touch(info);
    this.#nodes.dropIfUnused(info);
    this.#nodes.forgetIfUnused(reservation.nodeName);
    return reservation;
  }
}
