import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import type { Pod } from '../../api/pod.ts';
import { messageOf } from '../../base/message-of.ts';
import { UnclearOutcomeError } from '../../client/api-errors.ts';
import { missingPermission } from '../../client/missing-permission.ts';
import { nameFor, namespaceOf } from '../../framework/names-for-users.ts';
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

/** `gang default/red (priority 10)`, for Events and verdicts in `namespace`. */
export function beneficiaryOf(schedulingEntity: SchedulingEntity, priority: number, namespace: string): string {
  return `${nameFor(namespace, schedulingEntity)} (priority ${priority})`;
}

/** What the mark of a victim in `namespace` says after kube-scheduler's `preempting to accommodate`. The uid helps administrators. */
export function markedFor(schedulingEntity: SchedulingEntity, namespace: string): string {
  const what = schedulingEntity.kind === 'gang' ? 'podgroup' : 'pod';
  if (namespaceOf(schedulingEntity) !== namespace)
    return `a higher priority ${what} of another namespace (uid ${uidOf(schedulingEntity)})`;
  const { key } = schedulingEntity.kind === 'gang' ? schedulingEntity.gang : schedulingEntity.pod;
  return `a higher priority ${what} (${key})`;
}

/** Returns the uid of the pod or of the group object. */
export function uidOf(schedulingEntity: SchedulingEntity): string {
  return schedulingEntity.kind === 'gang' ? (schedulingEntity.gang.spec?.uid ?? '') : schedulingEntity.pod.uid;
}

/** Why an entity in `namespace` gave up to wait. `stuck`: at least one pod. */
export function gaveUpOn([first, ...others]: readonly Pod[], waitedMs: number, namespace: string): string {
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const waited = `gave up after ${Math.round(waitedMs / 1000)} s`;
  const state = first!.deleting ? 'is still terminating' : 'could not be evicted';
  // Users see the nodes of their own pods.
  const where = first!.namespace === namespace ? ` on node ${first!.nodeName}` : '';
  return `${waited}: ${podFor(namespace, first!)} ${state}${where}${more}`;
}

/** Returns the pod's name for a text in `namespace`. */
export function podFor(namespace: string, pod: Pod): string {
  return nameFor(namespace, { kind: 'pod', pod });
}

/** Why victims could not be evicted. */
export function couldNotEvict(error: Error): string {
  const missing = missingPermission(error instanceof UnclearOutcomeError ? error.cause : error);
  if (missing === undefined) return `a victim could not be evicted (${messageOf(error)})`;
  return `the scheduler lacks the permission to ${missing.verb} ${missing.resource}`;
}
