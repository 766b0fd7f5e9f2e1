import { describeLookAlike, podGroupLabel } from '../api/pod-group-membership.ts';
import { podGroupResource } from '../api/pod-group.ts';
import type { PodGroup } from '../api/pod-group.ts';
import type { EventToRecord } from '../client/event-recorder.ts';
import type { MemberPod } from './member-pod.ts';

/**
 * Says that pods were probably meant to be members of the group: one sentence without a period, the same while more such pods arrive.
 * Undefined if there are none. `pods` have a look-alike of the label with the group's name.
 */
export function describeLookAlikes(pods: Iterable<MemberPod>, group: string): string | undefined {
  let first: MemberPod | undefined;
  for (const pod of pods) {
    if (!pod.deleting && (first === undefined || pod.name < first.name)) first = pod;
  }
  const lookAlike = first?.lookAlikes.find(({ name }) => name === group);
  if (first === undefined || lookAlike === undefined) return undefined;
  const which = first.controlledBy === undefined ? `such as ${first.name}` : `of ${first.controlledBy}`;
  return describeLookAlike(which, lookAlike);
}

/** Says that no pod names the group: a sentence without a period. */
export function describeAbsentMembers({ namespace, name }: Pick<PodGroup, 'namespace' | 'name'>): string {
  return `no pod in namespace ${namespace} has the label ${podGroupLabel}=${name}`;
}

/** No pod has named the group for some time. */
export function membersAbsentEvent(group: Pick<PodGroup, 'namespace' | 'name' | 'uid'>): EventToRecord {
  const note = `${describeAbsentMembers(group)}; the group starts when enough pods have it`;
  return { ...labelMissingEvent(group, note), reason: 'WaitingForGang' };
}

/** The group lacks members, because pods that were meant to be members lack its label. */
export function labelMissingEvent(
  { namespace, name, uid }: Pick<PodGroup, 'namespace' | 'name' | 'uid'>,
  note: string,
): EventToRecord {
  const { apiVersion, kind } = podGroupResource;
  return {
    regarding: { apiVersion, kind, namespace, name, uid },
    type: 'Warning',
    reason: 'LabelMissing',
    action: 'Reconciling',
    note,
  };
}
