import type { Pod } from '../../api/pod.ts';

/** Plans that wait for Permit or PreBind plugins, so that none of their pods is bound yet. */
export interface WaitingPlans {
  /** Returns whether the pod's plan can be given up. */
  isWaiting(uid: string): boolean;
  /** Returns all pods of the pod's plan, with the names of their nodes; undefined if the pod belongs to no plan that can be given up. */
  podsPlannedWith(uid: string): readonly Pod[] | undefined;
  /**
   * Gives up the pod's plan as a whole: its members are released and return to the queue. Resolves once that is done, at the latest when its
   * plugins return. Undefined if the plan can no longer be given up.
   */
  recall(uid: string, why: string): Promise<void> | undefined;
}
