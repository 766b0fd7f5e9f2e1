import type { MembershipDisagreement } from '../../api/pod-group-membership.ts';
import { podGroupResource } from '../../api/pod-group.ts';
import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { EventToRecord } from '../../client/event-recorder.ts';
import type { GangSpec, GangView } from '../../cluster/gang.ts';

/** Every Event of the scheduler is made here, one function an Event. */

export function scheduled(pod: Pod, nodeName: string): EventToRecord {
  const note = `Successfully assigned ${pod.key} to ${nodeName}`;
  return { ...about(pod), type: 'Normal', reason: 'Scheduled', action: 'Binding', note };
}

/** The pod is not scheduled, as its verdict says. */
export function notScheduled(pod: Pod, verdict: Verdict): EventToRecord {
  return { ...about(pod), ...rejection(verdict) };
}

/** The same of its group; undefined while there is no object to say it of. */
export function groupNotScheduled(gang: GangView, pod: Pod, verdict: Verdict): EventToRecord | undefined {
  const group = aboutGroup(gang, pod);
  return group && { ...group, ...rejection(verdict) };
}

/** These members of the group were bound by one plan; undefined while there is no object to say it of. */
export function groupScheduled(gang: GangView, members: readonly Pod[], nodes: number): EventToRecord | undefined {
  const group = aboutGroup(gang, members[0]!);
  const note = `Successfully assigned ${counted(members.length, 'member')} to ${counted(nodes, 'node')}`;
  return group && { ...group, type: 'Normal', reason: 'Scheduled', action: 'Binding', note };
}

function rejection({ reason, message }: Verdict): Pick<EventToRecord, 'type' | 'reason' | 'action' | 'note'> {
  return {
    type: 'Warning',
    reason: reason === 'WaitingForGang' ? 'WaitingForGang' : 'FailedScheduling',
    action: 'Scheduling',
    note: message,
  };
}

/** The pod is evicted so that `beneficiary`, a pod or a group, finds room. */
export function preempted(victim: Pod, beneficiary: string): EventToRecord {
  const note = `Preempted by ${beneficiary} on node ${victim.nodeName}`;
  return { ...about(victim), type: 'Normal', reason: 'Preempted', action: 'Preempting', note };
}

/** The group could not be completed within its grace, and these members of it are evicted. */
export function groupReleased(spec: GangSpec, members: readonly Pod[]): EventToRecord {
  const note =
    `could not be completed within ${spec.repairGraceMs / 1000} s: ${counted(members.length, 'member')} ` +
    `of the ${spec.minMember} that it needs ${members.length === 1 ? 'is' : 'are'} evicted, so that others can use the room`;
  return { ...aboutGroupOf(spec, members[0]!), type: 'Warning', reason: 'Released', action: 'Releasing', note };
}

/** The pod is evicted because its group could not be completed. */
export function released(pod: Pod, groupKey: string): EventToRecord {
  const note = `Evicted from node ${pod.nodeName}, because PodGroup ${groupKey} could not be completed`;
  return { ...about(pod), type: 'Warning', reason: 'Released', action: 'Releasing', note };
}

/** The group is on nodes in part for longer than its grace, and stays there; undefined while there is no object to say it of. */
export function groupStays(gang: GangView, member: Pod, note: string): EventToRecord | undefined {
  const group = aboutGroup(gang, member);
  return group && { ...group, type: 'Warning', reason: 'NotReleased', action: 'Releasing', note };
}

/** A member is on its node no longer, for which another is needed; undefined while there is no object to say it of. */
export function memberLost(gang: GangView, member: Pod, note: string): EventToRecord | undefined {
  const group = aboutGroup(gang, member);
  return group && { ...group, type: 'Warning', reason: 'MemberLost', action: 'Repairing', note };
}

/** Members are on a node that has gone or does not run pods; undefined while there is no object to say it of. */
export function membersStranded(gang: GangView, members: readonly Pod[]): EventToRecord | undefined {
  const [first] = members;
  const group = first && aboutGroup(gang, first);
  const nodes = [...new Set(members.map(({ nodeName }) => nodeName))].sort();
  const some = nodes.slice(0, 3).join(', ') + (nodes.length > 3 ? ', …' : '');
  const note =
    `${counted(members.length, 'member')} ${members.length === 1 ? 'is' : 'are'} on nodes that are gone or not ready (${some}); ` +
    'Kubernetes decides when they are given up';
  return group && { ...group, type: 'Warning', reason: 'NodeLost', action: 'Repairing', note };
}

/** The pod's label and its annotation name different groups. */
export function podGroupDisagreement(pod: Pod, { label, annotation }: MembershipDisagreement): EventToRecord {
  return {
    ...about(pod),
    type: 'Warning',
    reason: 'PodGroupDisagreement',
    action: 'Scheduling',
    note:
      `the pod's label names PodGroup ${label}, its annotation ${annotation}; ` +
      `the label is used: remove the annotation or make them equal`,
  };
}

/** Follows an Event of a group whose status is not kept whole: the definition of PodGroup in the cluster is another's. */
export function statusDropped({ regarding, reportingController }: Subject, fields: readonly string[]): EventToRecord {
  return {
    regarding,
    ...(reportingController !== undefined && { reportingController }),
    type: 'Warning',
    reason: 'StatusDropped',
    action: 'Scheduling',
    note:
      `the definition of PodGroup in this cluster is not Tutti's and drops ${fields.join(', ')}; the group is scheduled, ` +
      `but its status does not say how it is: have an administrator apply Tutti's definition`,
  };
}

type Subject = Pick<EventToRecord, 'regarding' | 'reportingController'>;

function about({ namespace, name, uid, schedulerName }: Pod): Subject {
  return { regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid }, reportingController: schedulerName };
}

/** In the name of the scheduler that this member names: others of the group may have been bound by somebody else. */
function aboutGroup({ spec }: GangView, member: Pod): Subject | undefined {
  return spec && aboutGroupOf(spec, member);
}

function aboutGroupOf(spec: GangSpec, { schedulerName }: Pod): Subject {
  const { apiVersion, kind } = podGroupResource;
  const [namespace, name] = spec.key.split('/', 2) as [string, string];
  return { regarding: { apiVersion, kind, namespace, name, uid: spec.uid }, reportingController: schedulerName };
}

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
