import type { Subject } from '../../../api/explain/basis.ts';
import type { EntityState } from '../../../api/explain/explanation.ts';
import type { StatusItem } from '../../../api/explain/lists.ts';
import { isBoundForAnother } from '../../../api/pod.ts';
import { firstUnbound, hasQuorum, tallyOf } from '../../../controller/member-tally.ts';
import { waitsForOf } from '../waits-for.ts';
import type { StatusGroup } from './status-group.ts';
import type { StatusCondition, StatusPod } from './status-pod.ts';

/** A partially bound group counts as starting for this long after its latest Binding, if no other member has a verdict. */
export const startingMs = 10_000;

interface GroupFacts {
  readonly state: EntityState;
  readonly bound: number;
  readonly size: number;
}

/**
 * Derives the state of a group from its object and its members. `members`: the pods that name it; undefined: the caller may not list pods, and
 * the status of the group has to do. `now`: milliseconds since the epoch.
 */
export function groupItem(group: StatusGroup, members: readonly StatusPod[] | undefined, now: number): StatusItem {
  const { source, namespace, name, uid, minMember } = group;
  const own = members?.filter((pod) => uid === undefined || !isBoundForAnother(pod, uid));
  const { state, bound, size } = own === undefined ? factsOfStatus(group) : factsOfMembers(group, own, now);
  const subject: Subject = { kind: 'PodGroup', source, namespace, name, ...(uid !== undefined && { uid }) };
  const verdict = verdictOf(group, own);
  const waits = state === 'Waiting' || state === 'Partial' || state === 'Degraded';
  const since = sinceOf(group, state, own);
  return {
    subject,
    state,
    ...(waits && {
      waitsFor: verdict === undefined ? 'unknown' : waitsForOf('PodGroup', verdict.reason, verdict.message),
    }),
    ...{ bound, minMember, size },
    ...(since !== undefined && { since }),
    ...(waits && verdict !== undefined && { reason: verdict.reason }),
    message: waits ? (verdict?.message ?? group.incomplete?.message ?? '') : '',
  };
}

function factsOfMembers(group: StatusGroup, members: readonly StatusPod[], now: number): GroupFacts {
  const { minMember, phase } = group;
  const tally = tallyOf(members);
  const quorum = Math.max(1, minMember);
  const ended = tally.succeeded + tally.failed;
  const isWhole = hasQuorum(members, tally, quorum);
  const started = tally.bound + tally.succeeded > 0 && (group.started || isWhole);
  const bound = tally.bound + (started ? tally.succeeded : 0);
  const facts = { bound, size: members.length };
  const hasSettled = phase === 'Finished' || phase === 'Failed';
  if (tally.unfinished === 0 && (hasSettled || (phase === undefined && ended > 0)))
    return { ...facts, state: 'Finished' };
  if (bound >= quorum) return { ...facts, state: 'Running' };
  if (started) return { ...facts, state: 'Degraded' };
  if (bound === 0) return { ...facts, state: 'Waiting' };
  return { ...facts, state: isBeingBound(members, now) ? 'Starting' : 'Partial' };
}

function factsOfStatus({ minMember, phase, started, counts, scheduled }: StatusGroup): GroupFacts {
  if (counts === undefined) {
    const state = scheduled === undefined ? 'Unknown' : scheduled.status === 'True' ? 'Running' : 'Waiting';
    return { state, bound: 0, size: 0 };
  }
  const { members: size, bound } = counts;
  const quorum = Math.max(1, minMember);
  if (phase === 'Finished' || phase === 'Failed') return { state: 'Finished', bound, size };
  if (bound >= quorum) return { state: 'Running', bound, size };
  return { state: started ? 'Degraded' : bound > 0 ? 'Partial' : 'Waiting', bound, size };
}

/** Returns whether the other members were probably planned too: the latest Binding is recent, and none of them has a verdict. */
function isBeingBound(members: readonly StatusPod[], now: number): boolean {
  const latest = members.reduce((time, { podScheduled }) => Math.max(time, podScheduled?.since ?? 0), 0);
  const others = members.filter(({ nodeName, phase }) => nodeName === '' && phase === 'Pending');
  return now - latest < startingMs && others.every(({ condition }) => condition?.status !== 'False');
}

/** Returns the condition with the verdict: that of the group, as its controller has copied it, or that of a member. */
function verdictOf(
  { scheduled }: StatusGroup,
  members: readonly StatusPod[] | undefined,
): Pick<StatusCondition, 'reason' | 'message'> | undefined {
  if (scheduled?.status === 'False') return scheduled;
  const first = members === undefined ? undefined : firstUnbound(members)?.podScheduled;
  return first?.status === 'False' ? first : undefined;
}

function sinceOf(
  { scheduled, startedCondition, incomplete, ready, createdAt }: StatusGroup,
  state: EntityState,
  members: readonly StatusPod[] | undefined,
): string | undefined {
  const whenTrue = (condition: StatusCondition | undefined): string | undefined =>
    condition?.status === 'True' ? condition.since : undefined;
  const whenFalse = scheduled?.status === 'False' ? scheduled.since : undefined;
  switch (state) {
    case 'Running':
      return whenTrue(startedCondition) ?? whenTrue(scheduled) ?? latestBinding(members);
    case 'Partial':
    case 'Degraded':
      return whenTrue(incomplete) ?? whenFalse ?? latestBinding(members);
    case 'Starting':
      return latestBinding(members);
    case 'Finished':
      return ready?.status === 'False' ? ready.since : undefined;
    case 'Waiting':
      return whenFalse ?? createdAt ?? earliestCreation(members);
    case 'Unknown':
      return undefined;
  }
}

function latestBinding(members: readonly StatusPod[] | undefined): string | undefined {
  const latest = (members ?? []).reduce((time, { podScheduled }) => Math.max(time, podScheduled?.since ?? 0), 0);
  return latest === 0 ? undefined : new Date(latest).toISOString();
}

function earliestCreation(members: readonly StatusPod[] | undefined): string | undefined {
  return members?.flatMap(({ createdAt }) => createdAt ?? []).sort()[0];
}
