import type { Pod } from '../api/pod.ts';

/**
 * Capacity on a node that is reserved for an owner. For other pods, Filter treats the node as if the owner already ran there. An owner has at
 * most one reservation.
 * - `nomination`: capacity that is being freed for a pod, by Tutti or, according to its nominatedNodeName, by another scheduler. Excludes
 *   pods of equal or lower priority.
 * - `repair`: capacity for a gang whose other members are bound, after a member failed to bind or was lost. Excludes pods outside the gang
 *   of equal or lower priority; all of them if it is exclusive. The name of the replacement may not be known yet; then the owner is a
 *   placeholder, not an existing pod.
 *
 * A reservation ends when its pod is on a node or gone. One of Tutti's own also ends when its time is over. One that follows the pod's
 * nominatedNodeName ends when that is cleared.
 */
export interface Reservation {
  readonly kind: 'nomination' | 'repair';
  /** The pod for which the capacity is reserved; its template defines the amounts. */
  readonly owner: Pod;
  readonly nodeName: string;
  /** True for a repair of a gang that never started, which otherwise could neither start nor end. */
  readonly isExclusive?: boolean;
  /** True if its creator ends it in time; absent: it follows the pod's nominatedNodeName. */
  readonly isKept?: true;
}

/** Returns whether the reservation excludes `pod`. Members of one gang are planned together and do not exclude each other. */
export function mustRespect(pod: Pod, { owner, isExclusive = false }: Reservation): boolean {
  if (owner.uid === pod.uid) return false;
  if (owner.podGroupKey !== undefined && owner.podGroupKey === pod.podGroupKey) return false;
  return isExclusive || owner.priority >= pod.priority;
}
