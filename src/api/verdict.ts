/**
 * The reasons that users see on a pod's PodScheduled condition, and that the controller copies to the PodGroup: a closed
 * list.
 * - `WaitingForGang`: the pod's group is not ready (PodGroup absent, too few members, members gated). Not `Unschedulable`,
 *   because more nodes would not help and an autoscaler must not add any.
 * - `Unschedulable`: the pod, or its whole group, is ready but does not fit. On all unbound members of the group.
 * - `SchedulerError`: the attempt failed for a reason that is not the cluster's state (a plugin threw, the API refused).
 */
export const verdictReasons = ['WaitingForGang', 'Unschedulable', 'SchedulerError'] as const;
export type VerdictReason = (typeof verdictReasons)[number];

/** The one explanation an unscheduled entity gets; for a group it is copied to every unbound member. */
export interface Verdict {
  readonly reason: VerdictReason;
  readonly message: string;
}
