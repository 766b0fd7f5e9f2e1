import type { Pod } from '../api/pod.ts';

/**
 * Room on a node kept for an owner that is not there yet. Filter shows it to others as if the claimant ran there already.
 * An owner has one claim at a time.
 * - `nomination`: ours or another scheduler's nominatedNodeName. Kept from pods of equal or lower priority; ends when the
 *   pod is on a node, gone, or no longer nominated.
 * - `repair`: a member of a gang whose other members are bound could not be bound; its room is kept from everybody
 *   until it is on a node or gone, or until whoever made the claim releases it.
 */
export interface Claim {
  readonly kind: 'nomination' | 'repair';
  /** The pod that will come; its uid is the owner, its template the room. */
  readonly claimant: Pod;
  readonly nodeName: string;
}

/** Whether `pod` must leave the claimed room alone. Members of one gang are planned together and do not bar each other. */
export function mustRespect(pod: Pod, { kind, claimant }: Claim): boolean {
  if (claimant.uid === pod.uid) return false;
  if (claimant.podGroupKey !== undefined && claimant.podGroupKey === pod.podGroupKey) return false;
  return kind === 'repair' || claimant.priority >= pod.priority;
}
