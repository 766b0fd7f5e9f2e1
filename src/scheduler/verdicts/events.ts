import { runtimeAnnotation } from '../../api/declared-runtime.ts';
import { groupApiVersions, parseGroupKey } from '../../api/group-key.ts';
import { podGroupLabel } from '../../api/pod-group-membership.ts';
import type { MembershipDisagreement } from '../../api/pod-group-membership.ts';
import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { EventToRecord } from '../../client/event-recorder.ts';
import type { GangSpec } from '../../cluster/gang-spec.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';

/** Builds all Events of the scheduler, one function per Event. */

export function scheduled(pod: Pod, nodeName: string): EventToRecord {
  const note = `Successfully assigned ${pod.key} to ${nodeName}`;
  return { ...regardingPod(pod), type: 'Normal', reason: 'Scheduled', action: 'Binding', note };
}

/** The pod was not scheduled; the note is its verdict. */
export function notScheduled(pod: Pod, verdict: Verdict): EventToRecord {
  return { ...regardingPod(pod), ...rejection(verdict) };
}

/** The group was not scheduled; the note is its verdict. Undefined if the group has no PodGroup object. */
export function groupNotScheduled(gang: GangView, pod: Pod, verdict: Verdict): EventToRecord | undefined {
  const group = regardingGroup(gang, pod);
  return group && { ...group, ...rejection(verdict) };
}

/** One plan bound these members of the group. Undefined if the group has no PodGroup object. */
export function groupScheduled(gang: GangView, members: readonly Pod[], nodes: number): EventToRecord | undefined {
  const group = regardingGroup(gang, members[0]!);
  const note = `Successfully assigned ${counted(members.length, 'member')} to ${counted(nodes, 'node')}`;
  return group && { ...group, type: 'Normal', reason: 'Scheduled', action: 'Binding', note };
}

function rejection({ reason, message }: Verdict): Pick<EventToRecord, 'type' | 'reason' | 'action' | 'note'> {
  return {
    type: 'Warning',
    reason:
      reason === 'WaitingForGang'
        ? 'WaitingForGang'
        : reason === 'WaitingForTurn'
          ? 'WaitingForTurn'
          : 'FailedScheduling',
    action: 'Scheduling',
    note: message,
  };
}

/** The pod is evicted to free capacity for an entity of higher priority. */
export function preempted(victim: Pod, note: string): EventToRecord {
  return { ...regardingPod(victim), type: 'Normal', reason: 'Preempted', action: 'Preempting', note };
}

/** The group is evicted as a whole for an entity of higher priority. Undefined if it has no PodGroup object. */
export function groupPreempted(gang: GangView, member: Pod, note: string): EventToRecord | undefined {
  const group = regardingGroup(gang, member);
  return group && { ...group, type: 'Normal', reason: 'Preempted', action: 'Preempting', note };
}

/** What happens to a preemption, on the entity that it is for. `pod` is one of its pods. */
export function ofPreemptor(
  schedulingEntity: SchedulingEntity,
  pod: Pod,
  reason: 'PreemptionStarted' | 'PreemptionExpired' | 'PreemptionDisplaced',
  note: string,
): EventToRecord {
  const group = schedulingEntity.kind === 'gang' ? regardingGroup(schedulingEntity.gang, pod) : undefined;
  const type = reason === 'PreemptionStarted' ? 'Normal' : 'Warning';
  return { ...(group ?? regardingPod(pod)), type, reason, action: 'Preempting', note };
}

/** The scheduler could not complete the group within its grace period, and evicts these members. */
export function groupReleased(spec: GangSpec, members: readonly Pod[]): EventToRecord {
  const note =
    `could not be completed within ${spec.repairGraceMs / 1000} s: evicted ${counted(members.length, 'member')} ` +
    `(minMember is ${spec.minMember}) so that other pods can use their capacity`;
  return { ...regardingGroupOf(spec, members[0]!), type: 'Warning', reason: 'Released', action: 'Releasing', note };
}

/** The scheduler evicts the pod because it could not complete the group. */
export function released(pod: Pod, groupKey: string): EventToRecord {
  const note = `Evicted from node ${pod.nodeName} because PodGroup ${groupKey} could not be completed`;
  return { ...regardingPod(pod), type: 'Warning', reason: 'Released', action: 'Releasing', note };
}

/** The gang has been partially bound for longer than its grace period and stays bound. Undefined if it has no PodGroup object. */
export function groupStays(gang: GangView, member: Pod, note: string): EventToRecord | undefined {
  const group = regardingGroup(gang, member);
  return group && { ...group, type: 'Warning', reason: 'NotReleased', action: 'Releasing', note };
}

/** A member has left its node and needs a replacement. Undefined if the group has no PodGroup object. */
export function memberLost(gang: GangView, member: Pod, note: string): EventToRecord | undefined {
  const group = regardingGroup(gang, member);
  return group && { ...group, type: 'Warning', reason: 'MemberLost', action: 'Repairing', note };
}

/** Members are on nodes that are gone or not ready. Undefined if the group has no PodGroup object. */
export function membersStranded(gang: GangView, members: readonly Pod[]): EventToRecord | undefined {
  const [first] = members;
  const group = first && regardingGroup(gang, first);
  const nodes = [...new Set(members.map(({ nodeName }) => nodeName))].sort();
  const some = nodes.slice(0, 3).join(', ') + (nodes.length > 3 ? ', …' : '');
  const note =
    `${counted(members.length, 'member')} ${members.length === 1 ? 'is' : 'are'} on nodes that are gone or not ready (${some}); ` +
    'Kubernetes decides when to delete them';
  return group && { ...group, type: 'Warning', reason: 'NodeLost', action: 'Repairing', note };
}

/** The pod's label and its annotation name different groups. */
export function podGroupDisagreement(pod: Pod, { label, annotation }: MembershipDisagreement): EventToRecord {
  return {
    ...regardingPod(pod),
    type: 'Warning',
    reason: 'PodGroupDisagreement',
    action: 'Scheduling',
    note:
      `the pod's label names PodGroup ${label}, but its annotation names ${annotation}; ` +
      `the scheduler uses the label: remove the annotation or make them equal`,
  };
}

/** The pod's annotation tutti.dev/runtime declares no run time. */
export function invalidRuntime(pod: Pod, value: string): EventToRecord {
  return {
    ...regardingPod(pod),
    type: 'Warning',
    reason: 'InvalidRuntime',
    action: 'Scheduling',
    note:
      `the scheduler ignores the annotation ${runtimeAnnotation} because ${JSON.stringify(value)} is not a valid run time: ` +
      `set it to a duration such as 90m or 1h30m, or to whole seconds, of more than 0 and at most 10 years`,
  };
}

/** The pod has no group, but a key by which another gang scheduler would find one. */
export function foreignGroupKey(pod: Pod, key: string): EventToRecord {
  return {
    ...regardingPod(pod),
    type: 'Warning',
    reason: 'LabelMissing',
    action: 'Scheduling',
    note:
      `the pod has ${key}, but not the label ${podGroupLabel}, so it starts alone; ` +
      `to make it a member of a PodGroup, set that label to the name of the group in the pod template`,
  };
}

/** Follows an Event on a group when the PodGroup CRD in the cluster drops status fields. */
export function statusDropped({ regarding, reportingController }: Subject, fields: readonly string[]): EventToRecord {
  return {
    regarding,
    ...(reportingController !== undefined && { reportingController }),
    type: 'Warning',
    reason: 'StatusDropped',
    action: 'Scheduling',
    note:
      `the PodGroup CRD in this cluster is outdated or not Tutti's, and drops ${fields.join(', ')}; the group is scheduled, ` +
      `but its status is incomplete: ask an administrator to apply Tutti's CRD`,
  };
}

type Subject = Pick<EventToRecord, 'regarding' | 'reportingController'>;

function regardingPod({ namespace, name, uid, schedulerName }: Pod): Subject {
  return { regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid }, reportingController: schedulerName };
}

/** Reports under the schedulerName of this member: another scheduler may have bound other members of the group. */
function regardingGroup({ spec }: GangView, member: Pod): Subject | undefined {
  return spec && regardingGroupOf(spec, member);
}

function regardingGroupOf(spec: GangSpec, { schedulerName }: Pod): Subject {
  const { source, namespace, name } = parseGroupKey(spec.key);
  return {
    regarding: { apiVersion: groupApiVersions[source], kind: 'PodGroup', namespace, name, uid: spec.uid },
    reportingController: schedulerName,
  };
}

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
