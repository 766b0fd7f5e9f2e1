import type { Pod } from '../../../api/pod.ts';
import type { PreemptionPolicy } from '../../../framework/preemption-policy.ts';
import type { Profile } from '../../../framework/profile.ts';
import type { NodeSubsetOf } from '../../placement/cache/node-subset.ts';
import type { Demand } from '../../placement/planning/demand.ts';

/** What earlier preemptions mean for a search. */
export interface EarlierPreemptions {
  /** Returns whether the pod did not terminate in time, so that no entity must wait for it. */
  isStuck(pod: Pod): boolean;
  /** Returns whether the capacity that the pod leaves will be reserved for its replacement, so that the entity cannot use it. */
  keepsCapacity(pod: Pod): boolean;
  /**
   * uids of the pods that are about to be evicted for entities of equal or higher priority. They are no victims, but what of their capacity is
   * not reserved can be planned like that of terminating pods.
   */
  readonly leaving: ReadonlySet<string>;
}

/** The input of a search. */
export interface VictimSearchRequest {
  readonly profile: Profile;
  readonly demand: Demand;
  readonly policy: PreemptionPolicy;
  /** Victims must have a lower priority than this. Absent: than all members. */
  readonly priority?: number;
  /** Absent: there is none. */
  readonly earlier?: EarlierPreemptions;
  /** Returns the nodes that a member may use. Absent: no restriction. */
  readonly nodeSubsetOf?: NodeSubsetOf | undefined;
  /** Returns whether the reservation of this owner, by uid, does not count. Absent: all count. */
  readonly ignoresReservationOf?: ((uid: string) => boolean) | undefined;
}
