import { isAdmissionRejection } from '../api/admission-rejection.ts';
import { mergeConditions } from '../api/condition.ts';
import type { Condition, ConditionState } from '../api/condition.ts';
import { toKubernetesTime } from '../api/kubernetes-time.ts';
import {
  defaultMaxRepairGraceMs,
  endReasons,
  hasStarted,
  podGroupConditions,
  podGroupPhaseOf,
} from '../api/pod-group.ts';
import { ignoredFields, podGroupProblem } from '../api/pod-group-problem.ts';
import type { PodGroup, PodGroupPhase, PodGroupStatus } from '../api/pod-group.ts';
import { describeAbsentMembers } from './label-missing.ts';
import type { VerdictReason } from '../api/verdict.ts';
import type { MemberPod } from './member-pod.ts';
import { firstUnbound, hasQuorum, tallyOf } from './member-tally.ts';
import type { Tally } from './member-tally.ts';

/** The fields of a group with a predicted start; otherwise absent. */
type StartFields = Pick<PodGroupStatus, 'predictedStartTime' | 'startConfidence'>;

/** A status with every field that the controller writes. */
export type DerivedStatus = Required<Omit<PodGroupStatus, keyof StartFields | 'scheduleStartTime' | 'phase'>> &
  StartFields & { readonly phase: PodGroupPhase };

/** What the members do not show. */
export interface KnownFacts {
  /** The group has started, although its status does not show it yet. */
  readonly seenStarted?: boolean;
  /** Why pods that were meant to be members are not. Reported while members are missing. */
  readonly missingLabel?: string | undefined;
  /** No pod names the group, not even one that was bound for an earlier group of this name. */
  readonly isUnnamed?: boolean;
  /** The administrator's maximum for the grace period. Default 5 minutes. */
  readonly maxRepairGraceMs?: number | undefined;
}

/**
 * Derives the status from the current members. It uses only three facts of the previous status. Started is sticky while a member is bound
 * or has succeeded. Conditions keep their transition times. The counts of a finished group stay when its pods are cleaned up. `now`
 * (milliseconds) only dates conditions, so the same members yield the same status.
 *
 * Phases, first match, with m = minMember; R, S, F = running, succeeded, failed members; P = usable members that do not run yet
 * (not gated). A member that is being deleted counts only in F. A member that had to leave its node has not succeeded.
 *
 * | phase      | when                                            | meaning                                              |
 * | ---------- | ----------------------------------------------- | ---------------------------------------------------- |
 * | Finished   | S ≥ m                                           | the quorum has succeeded                             |
 * | Running    | R + S ≥ m                                       | the quorum runs                                      |
 * | Scheduling | R + S + P ≥ m                                   | enough members exist, but not all of them run        |
 * | Failed     | F > 0 and R + S + F ≥ m                         | the quorum is lost and cannot recover by itself      |
 * | Pending    | otherwise                                       | too few members exist                                |
 *
 * No phase is final while members can arrive: a Failed or Finished group is treated like any other as soon as it has an
 * unfinished member. Without one, Finished and Failed stay, and `succeeded` and `failed` do not decrease.
 *
 * Limit: a succeeded member that is removed while others still run no longer counts.
 */
export function derivePodGroupStatus(
  group: PodGroup,
  members: readonly MemberPod[],
  now: number,
  { seenStarted = false, missingLabel, isUnnamed, maxRepairGraceMs = defaultMaxRepairGraceMs }: KnownFacts = {},
): DerivedStatus {
  const previous = group.status;
  const before = podGroupPhaseOf(previous);
  const isSettled = before === 'Finished' || before === 'Failed';
  const tally = settle(tallyOf(members), isSettled ? previous : undefined);
  const { minMember } = group;
  const isWhole = hasQuorum(members, tally, minMember);
  const isAlive = tally.bound + tally.succeeded > 0;
  const started = isAlive && (seenStarted || hasStarted(previous) || isWhole);
  const finished = started ? tally.succeeded : 0;
  const counts = { ...tally, scheduled: tally.bound + finished, minMember, started };
  const derived = phaseOf(tally, minMember);
  const phase = isSettled && tally.unfinished === 0 && derived !== 'Finished' ? before : derived;
  const states = [
    scheduledCondition(counts, members, podGroupProblem(group), missingLabel, isUnnamed ? group : undefined),
    startedCondition(counts, started ? undefined : endOf(previous, members)),
    readyCondition(counts, phase),
    incompleteCondition(counts, members, phase),
    ...specAcceptedCondition(group),
    ...repairGraceCondition(group, maxRepairGraceMs),
  ].map((state): ConditionState => ({ ...state, observedGeneration: group.generation }));
  return {
    phase,
    occupiedBy: occupants(members, previous.occupiedBy ?? '', phase),
    running: tally.running,
    succeeded: tally.succeeded,
    failed: tally.failed,
    observedGeneration: group.generation,
    members: tally.members,
    scheduled: counts.scheduled,
    ready: tally.ready,
    ...startFields(counts, members),
    conditions: mergeConditions(previousConditions(previous, states), states, now),
  };
}

/** Adds the counts that a settled group's status keeps for deleted pods, unless new members have arrived. */
function settle(tally: Tally, settled: PodGroupStatus | undefined): Tally {
  if (settled === undefined || tally.unfinished > 0) return tally;
  return {
    ...tally,
    succeeded: Math.max(tally.succeeded, settled.succeeded ?? 0),
    failed: Math.max(tally.failed, settled.failed ?? 0),
  };
}

function phaseOf({ active, succeeded, failed, usable }: Tally, minMember: number): PodGroupPhase {
  if (succeeded >= minMember) return 'Finished';
  if (active + succeeded >= minMember) return 'Running';
  if (usable + succeeded >= minMember) return 'Scheduling';
  if (failed > 0 && active + succeeded + failed >= minMember) return 'Failed';
  return 'Pending';
}

interface Counts extends Tally {
  readonly scheduled: number;
  readonly minMember: number;
  readonly started: boolean;
}

type State = Omit<ConditionState, 'observedGeneration'>;

/**
 * Returns the Scheduled condition. True: QuorumScheduled. False, first match:
 * - InvalidSpec, with the reason why the group can never start (`problem`);
 * - LabelMissing if too few members exist, with the reason why other pods are not members (`missingLabel`);
 * - the verbatim verdict of the unbound member with the lowest uid, whose verdict is written first;
 * - WaitingForGang if too few members exist, with the label that no pod has if no pod names the group (`unnamed`);
 * - WaitingForScheduler.
 */
function scheduledCondition(
  counts: Counts,
  members: readonly MemberPod[],
  problem: string | undefined,
  missingLabel: string | undefined,
  unnamed: Pick<PodGroup, 'namespace' | 'name'> | undefined,
): State {
  const type = podGroupConditions.scheduled;
  const { scheduled, minMember, usable, succeeded } = counts;
  if (scheduled >= minMember) {
    return { type, status: 'True', reason: 'QuorumScheduled', message: needed('scheduled', scheduled, minMember) };
  }
  if (problem !== undefined) return { type, status: 'False', reason: 'InvalidSpec', message: problem };
  const available = needed('able to run', usable + succeeded, minMember);
  const lacksMembers = usable + succeeded < minMember;
  if (lacksMembers && missingLabel !== undefined) {
    return { type, status: 'False', reason: 'LabelMissing', message: `${available}: ${missingLabel}` };
  }
  const verdict = firstUnbound(members)?.podScheduled;
  if (verdict?.status === 'False' && verdict.reason !== '') {
    return {
      type,
      status: 'False',
      reason: validReason(verdict.reason),
      message: verdict.message,
    };
  }
  if (lacksMembers) {
    const reason: VerdictReason = 'WaitingForGang';
    const message = unnamed === undefined ? available : `${available}: ${describeAbsentMembers(unnamed)}`;
    return { type, status: 'False', reason, message };
  }
  const message = 'the scheduler has not reported on the members yet';
  return { type, status: 'False', reason: 'WaitingForScheduler', message };
}

/** Returns the predicted start of a group that lacks its quorum: that of the member whose verdict the condition Scheduled has. */
function startFields({ scheduled, minMember }: Counts, members: readonly MemberPod[]): StartFields {
  const start = scheduled >= minMember ? undefined : firstUnbound(members)?.predictedStart;
  if (start === undefined) return {};
  const { at, confidence } = start;
  return { ...(at !== undefined && { predictedStartTime: toKubernetesTime(at) }), startConfidence: confidence };
}

/**
 * Returns the Started condition. True: QuorumReached, until no member is bound or has succeeded any more. False: why that was (`end`), or
 * QuorumNotReached.
 */
function startedCondition({ started, scheduled, minMember }: Counts, end: string | undefined): State {
  const type = podGroupConditions.started;
  if (started) return { type, status: 'True', reason: 'QuorumReached', message: 'the quorum was scheduled' };
  const message = needed('scheduled', scheduled, minMember);
  if (end === undefined) return { type, status: 'False', reason: 'QuorumNotReached', message };
  return { type, status: 'False', reason: end, message: `the group starts over: ${message}` };
}

/** Returns why the latest life of a group ended that does not live now; undefined if it never started. */
function endOf(previous: PodGroupStatus, members: readonly MemberPod[]): (typeof endReasons)[number] | undefined {
  if (hasStarted(previous)) {
    return members.some(({ disruptedBy }) => disruptedBy === 'PreemptionByScheduler') ? 'Preempted' : 'Ended';
  }
  const before = readConditions(previous).find(({ type }) => type === podGroupConditions.started);
  return endReasons.find((reason) => reason === before?.reason);
}

/**
 * Returns the Ready condition. True: QuorumReady. False: QuorumNotReady, or GroupFinished when no member can become ready
 * anymore.
 */
function readyCondition({ ready, succeeded, minMember, started }: Counts, phase: PodGroupPhase): State {
  const type = podGroupConditions.ready;
  if (phase === 'Finished')
    return { type, status: 'False', reason: 'GroupFinished', message: 'the quorum has succeeded' };
  const count = ready + (started ? succeeded : 0);
  const message = needed('ready or succeeded', count, minMember);
  if (count >= minMember) return { type, status: 'True', reason: 'QuorumReady', message };
  return { type, status: 'False', reason: 'QuorumNotReady', message };
}

/**
 * Returns the Incomplete condition. True, with the cause of the missing members, first match:
 * - MemberRefused: a node did not admit one;
 * - MemberDisrupted: one was, or is being, evicted or preempted;
 * - MemberFailed;
 * - MemberLost after the start of the group, PartlyScheduled before.
 *
 * False: QuorumScheduled, GroupFinished, or NotScheduled (no member is bound; the group waits as a whole).
 */
function incompleteCondition(counts: Counts, members: readonly MemberPod[], phase: PodGroupPhase): State {
  const type = podGroupConditions.incomplete;
  const { scheduled, minMember, started, bound } = counts;
  const message = needed('scheduled', scheduled, minMember);
  if (phase === 'Finished') {
    return { type, status: 'False', reason: 'GroupFinished', message: 'the quorum has succeeded' };
  }
  if (scheduled >= minMember) return { type, status: 'False', reason: 'QuorumScheduled', message };
  if (bound === 0) return { type, status: 'False', reason: 'NotScheduled', message };
  const cause = causeOf(members, started);
  const { reason } = cause;
  return { type, status: 'True', reason, message: cause.message === '' ? message : `${message}: ${cause.message}` };
}

/** Returns the SpecAccepted condition: False, with the reason FieldIgnored, if fields have no effect; otherwise none. */
function specAcceptedCondition(group: PodGroup): readonly State[] {
  const message = ignoredFields(group);
  return message === undefined
    ? []
    : [{ type: podGroupConditions.specAccepted, status: 'False', reason: 'FieldIgnored', message }];
}

/** Returns the RepairGraceLimited condition: True, with the reason AboveMaximum, if the maximum applies; otherwise none. */
function repairGraceCondition({ repairGraceSeconds }: PodGroup, maxMs: number): readonly State[] {
  const max = maxMs / 1000;
  if (repairGraceSeconds <= max) return [];
  const message = `spec.repairGraceSeconds is ${repairGraceSeconds}, but the administrator allows at most ${max}: ${max} s apply`;
  return [{ type: podGroupConditions.repairGraceLimited, status: 'True', reason: 'AboveMaximum', message }];
}

/** Returns why members are missing: the most specific cause, for the affected member with the lowest uid. */
function causeOf(members: readonly MemberPod[], started: boolean): Pick<State, 'reason' | 'message'> {
  const first = (is: (member: MemberPod) => boolean): MemberPod | undefined =>
    members.filter(is).reduce<MemberPod | undefined>((a, b) => (a === undefined || b.uid < a.uid ? b : a), undefined);
  const rejected = first(({ failedBecause }) => isAdmissionRejection(failedBecause));
  if (rejected !== undefined) {
    const { name, nodeName, failedBecause } = rejected;
    return { reason: 'MemberRefused', message: `node ${nodeName} did not admit ${name} (${failedBecause})` };
  }
  const isOver = ({ phase, deleting }: MemberPod): boolean => phase === 'Failed' || deleting;
  const disrupted = first((member) => isOver(member) && member.disruptedBy !== undefined);
  if (disrupted !== undefined) {
    const { name, nodeName, disruptedBy } = disrupted;
    return { reason: 'MemberDisrupted', message: `${name} must leave node ${nodeName} (${disruptedBy})` };
  }
  const failed = first(({ phase }) => phase === 'Failed');
  if (failed !== undefined) return { reason: 'MemberFailed', message: `${failed.name} has failed` };
  return { reason: started ? 'MemberLost' : 'PartlyScheduled', message: '' };
}

function needed(state: string, count: number, minMember: number): string {
  return `${count} ${count === 1 ? 'member is' : 'members are'} ${state}, ${minMember} ${minMember === 1 ? 'is' : 'are'} needed`;
}

/**
 * Returns the users of the group: the owners of one member, set when the group first has enough members. They stay as long as a
 * member has these owners or no member has any, so that they do not depend on the order of pods.
 */
function occupants(members: readonly MemberPod[], previous: string, phase: PodGroupPhase): string {
  if (previous === '' && phase === 'Pending') return '';
  let first: MemberPod | undefined;
  for (const member of members) {
    if (member.owners === '') continue;
    if (member.owners === previous) return previous;
    if (first === undefined || member.uid < first.uid) first = member;
  }
  return first === undefined ? previous : first.owners;
}

/** Replaces an invalid reason: another scheduler's pod may carry any text, and the API server would reject the whole patch. */
function validReason(reason: string): string {
  return reason.length <= 1024 && /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason) ? reason : 'UnknownReason';
}

/** Conditions that the status contains only while they apply. */
const optionalConditions: ReadonlySet<string> = new Set([
  podGroupConditions.specAccepted,
  podGroupConditions.repairGraceLimited,
]);

/** Returns the conditions that stay or change. Optional ones end when they no longer apply. */
function previousConditions(status: PodGroupStatus, states: readonly ConditionState[]): readonly Condition[] {
  const isOver = ({ type }: Condition): boolean =>
    optionalConditions.has(type) && !states.some((state) => state.type === type);
  return readConditions(status).filter((condition) => !isOver(condition));
}

/** Returns the valid conditions of a status. */
export function readConditions(status: PodGroupStatus): readonly Condition[] {
  const conditions: unknown = status.conditions;
  if (!Array.isArray(conditions)) return [];
  return conditions.filter((condition: Partial<Condition> | null): condition is Condition => {
    return typeof condition?.type === 'string' && typeof condition.lastTransitionTime === 'string';
  });
}
