import type { Pod } from '../api/pod.ts';

/**
 * Room on a node kept for an owner that is not there yet. Filter shows it to others as if the claimant ran there already.
 * An owner has one claim at a time.
 * - `nomination`: room that is being made for a pod, by us or, as its nominatedNodeName says, by another scheduler. Kept from
 *   pods of equal or lower priority.
 * - `repair`: a member of a gang whose other members are bound could not be bound, or was lost, and another has to come; its room is
 *   kept from everybody but its gang. Nobody knows yet what the one will be called that comes: then the claimant is no pod that there is.
 *
 * Every claim ends when its pod is on a node or gone; one of ours also when its time is over, one that only the API tells of when
 * the pod is no longer nominated.
 */
export interface Reservation {
  readonly kind: 'nomination' | 'repair';
  /** The pod that will come; its uid is the owner, its template the room. */
  readonly owner: Pod;
  readonly nodeName: string;
  /** Whoever made the claim ends it in time; absent: it follows the pod's nominatedNodeName. */
  readonly isKept?: true;
}

/** Whether `pod` must leave the claimed room alone. Members of one gang are planned together and do not bar each other. */
export function mustRespect(pod: Pod, { kind, owner }: Reservation): boolean {
  if (owner.uid === pod.uid) return false;
  if (owner.podGroupKey !== undefined && owner.podGroupKey === pod.podGroupKey) return false;
  return kind === 'repair' || owner.priority >= pod.priority;
}
