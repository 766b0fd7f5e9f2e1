import type { MembershipDisagreement } from '../api/pod-group-membership.ts';
import type { Pod } from '../api/pod.ts';
import type { Verdict } from '../api/verdict.ts';
import type { EventRegarding, EventToRecord } from '../client/event-recorder.ts';

/** Every Event of the scheduler about a pod is made here, one function an Event. */

export function scheduled(pod: Pod, nodeName: string): EventToRecord {
  const note = `Successfully assigned ${pod.key} to ${nodeName}`;
  return { ...about(pod), type: 'Normal', reason: 'Scheduled', action: 'Binding', note };
}

/** The pod is not scheduled, as its verdict says. */
export function notScheduled(pod: Pod, { reason, message }: Verdict): EventToRecord {
  return {
    ...about(pod),
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

function about({ namespace, name, uid }: Pod): { readonly regarding: EventRegarding } {
  return { regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid } };
}
