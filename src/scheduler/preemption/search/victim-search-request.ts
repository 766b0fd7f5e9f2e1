import type { Pod } from '../../../api/pod.ts';
import type { PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import type { Profile } from '../../../framework/profile.ts';
import type { NodeSubsetOf } from '../../placement/cache/node-subset.ts';
import type { Demand } from '../../placement/planning/demand.ts';

/** What earlier preemptions mean for a search. */
export interface EarlierPreemptions {
  /** Returns whether the pod did not terminate in time, so that no entity must wait for it. */
  isStuck(pod: Pod): boolean;
  /**
   * Returns whether the pod is about to be evicted for an entity of equal or higher priority. It is no victim, but what its capacity is not
   * reserved for can be planned like that of a terminating pod.
   */
  makesWay(pod: Pod): boolean;
}

/** The input of a search. */
export interface VictimSearchRequest {
  readonly profile: Profile;
  readonly demand: Demand;
  readonly policy: PreemptionPolicy;
  /** Absent: there is none. */
  readonly earlier?: EarlierPreemptions;
  /** Returns the nodes that a member may use. Absent: no restriction. */
  readonly nodeSubsetOf?: NodeSubsetOf | undefined;
}
