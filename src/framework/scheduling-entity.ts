import type { Pod } from '../api/pod.ts';
import type { GangView } from '../cluster/gang.ts';

/** What QueueSort compares. Frozen while the entity is queued. */
export interface QueueKey {
  readonly priority: number;
  /** Milliseconds since the epoch at which the entity became ready. */
  readonly readySince: number;
  /** uid of the pod or of the group object; makes the order total. */
  readonly uid: string;
  /** A group that never started but has members bound: completed before anything new begins. */
  readonly incomplete: boolean;
}

/** What PreEnqueue is asked about: a lone pod, or a whole gang. */
export type SchedulingEntity =
  { readonly kind: 'pod'; readonly pod: Pod } | { readonly kind: 'gang'; readonly gang: GangView };
