import type { Pod } from '../api/pod.ts';
import type { GangView } from '../cluster/gang-view.ts';

/** The input of QueueSort. Frozen while the entity is queued. */
export interface QueueKey {
  readonly priority: number;
  /** Time at which the entity became ready, in milliseconds since the epoch. */
  readonly readySince: number;
  /** uid of the pod or of the group object; a tie-breaker that makes the order total. */
  readonly uid: string;
  /**
   * True for a gang that never started and that our own Bindings left partially bound. The queue completes it before it starts other
   * entities of its priority.
   */
  readonly incomplete: boolean;
}

/** The input of PreEnqueue: a single pod or a whole gang. */
export type SchedulingEntity =
  { readonly kind: 'pod'; readonly pod: Pod } | { readonly kind: 'gang'; readonly gang: GangView };
