import { safeMessage } from '../base/safe-text.ts';

/**
 * Closed list of reasons in a pod's PodScheduled condition. The controller copies the reason to the PodGroup.
 * - `WaitingForGang`: the pod's group is not ready (PodGroup absent, too few members, members gated). Not `Unschedulable`,
 *   because more nodes would not help and an autoscaler must not add any.
 * - `Unschedulable`: the pod or its group is ready but does not fit. Set on all unbound members of the group.
 * - `SchedulerError`: the attempt failed for a reason other than the state of the cluster, such as a plugin that threw or an error from the
 *   API server.
 */
export type VerdictReason = 'WaitingForGang' | 'Unschedulable' | 'SchedulerError';

/**
 * What an unscheduled entity waits for, in one word.
 * - `WaitingForGang`: missing `members`, or scheduling `gates` of existing members.
 * - `Unschedulable`: `capacity` (it fits once other pods are gone), `nodes` (only once nodes that are cordoned, not ready, unreachable or
 *   under pressure are available), `never` (it would not fit even then on the current nodes), `permit` (a plugin rejected it), or `unknown`
 *   (the scheduler did not determine which of the first three it is).
 * - `SchedulerError`: the end of the `error`.
 */
export type WaitsFor = 'members' | 'gates' | 'capacity' | 'nodes' | 'never' | 'permit' | 'error' | 'unknown';

/** The explanation for an unscheduled entity. For a group, every unbound member gets a copy. */
export interface Verdict {
  readonly reason: VerdictReason;
  readonly message: string;
  readonly waitsFor: WaitsFor;
  /** The message without its counts. It stays the same while the cause stays the same. Absent: the message itself. */
  readonly cause?: string;
}

/** Returns the verdict with texts that are safe to show. What users and plugins wrote into them can have any length and any characters. */
export function safeVerdict(verdict: Verdict): Verdict {
  const { message, cause } = verdict;
  return { ...verdict, message: safeMessage(message), ...(cause !== undefined && { cause: safeMessage(cause) }) };
}
