import { safeMessage } from '../base/safe-text.ts';
import { latestTimeMs } from './kubernetes-time.ts';

/**
 * Closed list of reasons in a pod's PodScheduled condition. The controller copies the reason to the PodGroup.
 * - `WaitingForGang`: the pod's group is not ready (PodGroup absent, too few members, members gated). Not `Unschedulable`,
 *   because more nodes would not help and an autoscaler must not add any.
 * - `WaitingForTurn`: the pod or its group fits, but only on capacity that is reserved for an entity ahead of it. Not `Unschedulable`,
 *   because an autoscaler adds nodes for the entity ahead, not for those behind it.
 * - `Unschedulable`: the pod or its group is ready but does not fit. Set on all unbound members of the group.
 * - `SchedulerError`: the attempt failed for a reason other than the state of the cluster, such as a plugin that threw or an error from the
 *   API server; or the group asks for something that is not supported, or has a member that contradicts it.
 */
export type VerdictReason = 'WaitingForGang' | 'WaitingForTurn' | 'Unschedulable' | 'SchedulerError';

/**
 * What an unscheduled entity waits for, in one word.
 * - `WaitingForGang`: missing `members`, or scheduling `gates` of existing members.
 * - `WaitingForTurn`: its `turn`, after the entity for which the capacity is reserved.
 * - `Unschedulable`: `capacity` (it fits once other pods are gone), `nodes` (only once nodes that are cordoned, not ready, unreachable or
 *   under pressure are available), `never` (it would not fit even then on the current nodes), `permit` (a plugin rejected it), or `unknown`
 *   (the scheduler did not determine which of the first three it is).
 * - `SchedulerError`: the end of the `error`.
 */
export type WaitsFor = 'members' | 'gates' | 'turn' | 'capacity' | 'nodes' | 'never' | 'permit' | 'error' | 'unknown';

/**
 * What a predicted start is based on.
 * - `Declared`: the declared ends of all pods that have to end first.
 * - `Estimated`: also on the run times of earlier pods of the same owners.
 * - `Draining`: the entity waits until nodes are empty on which pods run that declare no end.
 */
export type StartConfidence = 'Declared' | 'Estimated' | 'Draining';

/** When an entity with reserved capacity should start. */
export interface PredictedStart {
  /** Latest time at which it should start, in milliseconds since the epoch. Absent while it drains nodes whose pods declare no end. */
  readonly at?: number;
  readonly confidence: StartConfidence;
}

/** The explanation for an unscheduled entity. For a group, every unbound member gets a copy. */
export interface Verdict {
  readonly reason: VerdictReason;
  readonly message: string;
  readonly waitsFor: WaitsFor;
  /** The message without its counts. It stays the same while the cause stays the same. Absent: the message itself. */
  readonly cause?: string;
  /** The resource of which too little is free, if the message says how much is missing. */
  readonly shortOf?: string;
  /** Only while capacity is reserved for the entity. */
  readonly predictedStart?: PredictedStart;
}

/**
 * Returns the verdict with texts that are safe to show, and its predicted start in whole seconds, as the API has it. What users and plugins
 * wrote into the texts can have any length and any characters.
 */
export function safeVerdict(verdict: Verdict): Verdict {
  const { message, cause, predictedStart } = verdict;
  return {
    ...verdict,
    message: safeMessage(message),
    ...(cause !== undefined && { cause: safeMessage(cause) }),
    ...(predictedStart?.at !== undefined && {
      predictedStart: { ...predictedStart, at: Math.min(Math.ceil(predictedStart.at / 1000) * 1000, latestTimeMs) },
    }),
  };
}
