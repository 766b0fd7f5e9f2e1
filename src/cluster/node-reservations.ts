import type { Reservation } from './reservation.ts';
import type { ClusterNodes } from './cluster-nodes.ts';

/** Reservations, indexed by owner and stored on their nodes. An owner has at most one. */
export class NodeReservations {
  readonly #nodes: ClusterNodes;
  /** owner uid -> its reservation */
  readonly #byOwner = new Map<string, Reservation>();

  constructor(nodes: ClusterNodes) {
    this.#nodes = nodes;
  }

  get size(): number {
    return this.#byOwner.size;
  }

  of(owner: string): Reservation | undefined {
    return this.#byOwner.get(owner);
  }

  /** Returns all reservations in arbitrary order. */
  all(): Iterable<Reservation> {
    return this.#byOwner.values();
  }

  /** Adds a reservation; replaces the owner's previous one. */
  set(reservation: Reservation): void {
    const { uid } = reservation.owner;
    this.release(uid);
    this.#byOwner.set(uid, reservation);
    const info = this.#nodes.named(reservation.nodeName);
    info.reservations.set(uid, reservation);
    this.#nodes.touch(info);
  }

  /** Removes and returns the owner's reservation. */
  release(owner: string): Reservation | undefined {
    const reservation = this.#byOwner.get(owner);
    if (reservation === undefined) return undefined;
    this.#byOwner.delete(owner);
    const info = this.#nodes.named(reservation.nodeName);
    info.reservations.delete(owner);
    this.#nodes.touch(info);
    this.#nodes.dropIfUnused(info);
    this.#nodes.forgetIfUnused(reservation.nodeName);
    return reservation;
  }
}
