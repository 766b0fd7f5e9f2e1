import type { Pod } from '../api/pod.ts';

/** What the reservations of one plan share. They begin and end together. */
export interface ReservationPlan {
  /** The priority with which its reservations exclude other pods, whatever the priority of the owners: that of the plan's entity. */
  readonly priority: number;
  /** True if its entity is a single pod, which other members of the pod's group must respect. Absent: it is for the whole group. */
  readonly excludesSiblings?: boolean;
}

export const reservationKinds = ['nomination', 'repair', 'backfill'] as const;
export type ReservationKind = (typeof reservationKinds)[number];

/**
 * Capacity on a node that is reserved for an owner. For other pods, Filter treats the node as if the owner already ran there. An owner has at
 * most one reservation.
 * - `nomination`: capacity that is being freed for a pod, by Tutti or, according to its nominatedNodeName, by another component. Excludes
 *   pods of equal or lower priority.
 * - `repair`: capacity for a gang whose other members are bound, after a member failed to bind or was lost. Excludes pods outside the gang
 *   of equal or lower priority; all of them if it is exclusive. The name of the replacement may not be known yet; then the owner is a
 *   placeholder, not an existing pod.
 * - `backfill`: capacity for the entity that is next, on nodes where other pods may still run. Excludes pods of equal or lower priority, except
 *   those that the scheduler lets pass because they will have ended in time.
 *
 * A reservation ends when its pod is on a node or gone. One of Tutti's own also ends when its time is over, or together with the others of
 * its plan. One that follows the pod's nominatedNodeName ends when that is cleared.
 */
export interface Reservation {
  readonly kind: ReservationKind;
  /** The pod for which the capacity is reserved; its template defines the amounts. */
  readonly owner: Pod;
  readonly nodeName: string;
  /** True for a repair of a gang that never started, which otherwise could neither start nor end. */
  readonly isExclusive?: boolean;
  /** True if its creator ends it in time; absent: it follows the pod's nominatedNodeName. */
  readonly isKept?: true;
  /** The plan of a preemption, or of a predicted start, that it is part of. */
  readonly plan?: ReservationPlan;
}

/** Returns the highest priority of pods that the reservation excludes; Infinity if it excludes all. */
export function reservedPriority({ owner, plan, isExclusive = false }: Reservation): number {
  return isExclusive ? Infinity : (plan?.priority ?? owner.priority);
}

/** Returns whether the reservation is for `pod` itself or for its group. */
export function isForOwnEntity(pod: Pod, { owner, plan }: Reservation): boolean {
  if (owner.uid === pod.uid) return true;
  return owner.podGroupKey !== undefined && owner.podGroupKey === pod.podGroupKey && plan?.excludesSiblings !== true;
}

/** Returns whether the reservation excludes `pod`. Members that are planned together do not exclude each other. */
export function mustRespect(pod: Pod, reservation: Reservation): boolean {
  return !isForOwnEntity(pod, reservation) && reservedPriority(reservation) >= pod.priority;
}
