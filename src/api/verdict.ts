/**
 * The reasons that users see on a pod's PodScheduled condition, and that the controller copies to the PodGroup: a closed
 * list.
 * - `WaitingForGang`: the pod's group is not ready (PodGroup absent, too few members, members gated). Not `Unschedulable`,
 *   because more nodes would not help and an autoscaler must not add any.
 * - `Unschedulable`: the pod, or its whole group, is ready but does not fit. On all unbound members of the group.
 * - `SchedulerError`: the attempt failed for a reason that is not the cluster's state (a plugin threw, the API rejected).
 */
export type VerdictReason = 'WaitingForGang' | 'Unschedulable' | 'SchedulerError';

/**
 * What an unscheduled entity waits for, in one word.
 * - `WaitingForGang`: `members` that are missing, or scheduling `gates` of members that are there;
 * - `Unschedulable`: `capacity` (it fits once other pods are gone), `never` (not even then, on the nodes as they are), `permit` (a
 *   plugin let it not pass), or `unknown` (neither was worth finding out);
 * - `SchedulerError`: the `error` to be over.
 */
export type WaitsFor = 'members' | 'gates' | 'capacity' | 'never' | 'permit' | 'error' | 'unknown';

/** The one explanation an unscheduled entity gets; for a group it is copied to every unbound member. */
export interface Verdict {
  readonly reason: VerdictReason;
  readonly message: string;
  readonly waitsFor: WaitsFor;
  /** The message without its counts: while it stays the same, the same things bar the entity. Absent: the message itself. */
  readonly cause?: string;
}
