import type { Pod } from '../../../api/pod.ts';

/** A pod on a node that may be evicted later, without any other change. */
export interface ProtectedUntil {
  readonly pod: Pod;
  /** Milliseconds since the epoch. */
  readonly until: number;
}
