import { addCount } from '../base/add-count.ts';
import type { Reservation } from './reservation.ts';
import type { ClusterNodes } from './cluster-nodes.ts';

/** Reservations, indexed by owner and group, and stored on their nodes. An owner has at most one. */
export class NodeReservations {
  readonly #nodes: ClusterNodes;
  /** owner uid -> its reservation */
  readonly #byOwner = new Map<string, Reservation>();
  /** group key -> number of its reservations */
  readonly #counts = new Map<string, number>();

  constructor(nodes: ClusterNodes) {
    this.#nodes = nodes;
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

  /** Returns all reservations in arbitrary order. */
  all(): Iterable<Reservation> {
    return this.#byOwner.values();
  }

  /** Adds a reservation; replaces the owner's previous one. */
  set(reservation: Reservation): void {
    const { uid, podGroupKey } = reservation.owner;
    this.release(uid);
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
