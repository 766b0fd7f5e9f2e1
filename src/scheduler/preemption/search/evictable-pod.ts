import type { Pod } from '../../../api/pod.ts';
import type { EvictionUnit } from '../../../framework/preemption-policy.ts';

/** A pod on a node that may be evicted. */
export interface EvictablePod {
  readonly pod: Pod;
  readonly unit: EvictionUnit;
  /** It may go without the rest of its unit. */
  readonly isSpare: boolean;
}
