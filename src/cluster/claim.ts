import type { Pod } from '../api/pod.ts';

/**
 * Room on a node kept for an owner that is not there yet: a nomination (ours or another scheduler's nominatedNodeName).
 * Filter shows it to pods of equal or lower priority as if the claimant ran there already. Claims of one owner replace one
 * another; one ends when its owner is bound, assumed somewhere, gone, or no longer asks for it.
 */
export interface Claim {
  /** The pod that will come; its uid is the owner, its template the room, its priority the claim's. */
  readonly claimant: Pod;
  readonly nodeName: string;
}

/** Whether `pod` must leave the claimed room alone. */
export function mustRespect(pod: Pod, { claimant }: Claim): boolean {
  return claimant.uid !== pod.uid && claimant.priority >= pod.priority;
}
