import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import type { Pod } from '../../api/pod.ts';
import { messageOf } from '../../base/message-of.ts';
import { missingPermission } from '../../client/missing-permission.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';

/** The sentence that the verdict of an entity contains while capacity is reserved for it. A new leader recognizes its nominations by it. */
const waitingSentence = /Waiting for \d+ of \d+ victims? to terminate, until \d\d:\d\d:\d\dZ at the latest\./;

export function waitingFor(remaining: number, victims: number, deadline: number): string {
  const what = victims === 1 ? 'victim' : 'victims';
  return `Waiting for ${remaining} of ${victims} ${what} to terminate, until ${timeOf(deadline)} at the latest.`;
}

/** Returns whether this scheduler, or an earlier process of it, wrote the pod's nomination together with this verdict. */
export function isVerdictOfNomination(message: string): boolean {
  return waitingSentence.test(message);
}

/** Returns the time of day of milliseconds since the epoch: `12:03:20Z`. */
export function timeOf(ms: number): string {
  return toKubernetesTime(ms).slice('2026-11-26T'.length);
}

/** `PodGroup default/red`, for logs. */
export function nameOf(schedulingEntity: SchedulingEntity): string {
  return schedulingEntity.kind === 'gang' ? `PodGroup ${schedulingEntity.gang.key}` : `pod ${schedulingEntity.pod.key}`;
}

/** `gang default/red (priority 10)`, for Events and verdicts. */
export function beneficiaryOf(schedulingEntity: SchedulingEntity, priority: number): string {
  const name =
    schedulingEntity.kind === 'gang' ? `gang ${schedulingEntity.gang.key}` : `pod ${schedulingEntity.pod.key}`;
  return `${name} (priority ${priority})`;
}

/** What a victim's mark says after kube-scheduler's `preempting to accommodate`. */
export function markedFor(schedulingEntity: SchedulingEntity): string {
  return schedulingEntity.kind === 'gang'
    ? `a higher priority podgroup (${schedulingEntity.gang.key})`
    : `a higher priority pod (${schedulingEntity.pod.key})`;
}

/** Why an entity gave up to wait. `stuck`: at least one pod. */
export function gaveUpOn([first, ...others]: readonly Pod[], waitedMs: number): string {
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const waited = `gave up after ${Math.round(waitedMs / 1000)} s`;
  const state = first!.deleting ? 'is still terminating' : 'could not be evicted';
  return `${waited}: pod ${first!.key} ${state} on node ${first!.nodeName}${more}`;
}

/** Why victims could not be evicted. */
export function couldNotEvict(error: Error): string {
  const missing = missingPermission(error);
  if (missing === undefined) return `a victim could not be evicted (${messageOf(error)})`;
  return `the scheduler lacks the permission to ${missing.verb} ${missing.resource}`;
}
