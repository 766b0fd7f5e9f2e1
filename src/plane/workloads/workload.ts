import type { LabelSelector } from '../../api/label-selector.ts';
import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import { hashText } from '../../base/hash-text.ts';

/** A condition in the status of a workload or pod. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string | null;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface WorkloadMetadata {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface PodTemplate {
  readonly metadata?: Pick<WorkloadMetadata, 'labels' | 'annotations' | 'finalizers'>;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** An object that creates pods from a template. The API server has set the defaults of its spec. */
export interface Workload<Spec = unknown, Status = unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: WorkloadMetadata;
  readonly spec: Spec & { readonly selector: LabelSelector; readonly template: PodTemplate };
  readonly status?: Status;
}

/** The parts of a pod that its controller reads. */
export interface WorkloadPod {
  readonly metadata: WorkloadMetadata;
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly {
      readonly restartCount?: number;
      readonly state?: { readonly terminated?: { readonly finishedAt?: string | null } };
    }[];
  };
}

export function controllerOf({
  ownerReferences,
}: Pick<WorkloadMetadata, 'ownerReferences'>): OwnerReference | undefined {
  return ownerReferences?.find(({ controller }) => controller === true);
}

/** Returns `ownerReferences` for objects that the workload creates. The garbage collector deletes them with the workload. */
export function ownedBy({ apiVersion, kind, metadata: { name, uid } }: Workload): readonly object[] {
  return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
}

export function isDeleting({ metadata }: { readonly metadata: WorkloadMetadata }): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function phaseOf({ status }: WorkloadPod): string {
  return status?.phase ?? 'Pending';
}

export function hasEnded(pod: WorkloadPod): boolean {
  return phaseOf(pod) === 'Succeeded' || phaseOf(pod) === 'Failed';
}

/** Whether the pod has neither ended nor been deleted. */
export function isActive(pod: WorkloadPod): boolean {
  return !isDeleting(pod) && !hasEnded(pod);
}

export function isReady(pod: WorkloadPod): boolean {
  return (
    isActive(pod) && pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  );
}

/** Sorts pods by the cost of their deletion, lowest first: unscheduled, not running, not ready, then youngest. */
export function byProgress(a: WorkloadPod, b: WorkloadPod): number {
  const progress = (pod: WorkloadPod): number =>
    Number(pod.spec.nodeName !== undefined) + Number(phaseOf(pod) === 'Running') + Number(isReady(pod));
  return (
    progress(a) - progress(b) ||
    (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? '') ||
    (a.metadata.name < b.metadata.name ? 1 : -1)
  );
}

const firstDelayMs = 10_000;
const maxDelayMs = 600_000;

/**
 * Returns how long a workload waits before it replaces pods, in milliseconds. The delay counts from the last failure. It is 10 s after the
 * first failure since the last success, and doubles with each further one, up to 10 minutes.
 */
export function replacementDelay(pods: readonly WorkloadPod[], nowMs: number): number {
  const endsOf = (phase: string): number[] => pods.filter((pod) => phaseOf(pod) === phase).map(endedAt);
  const succeededAt = Math.max(-Infinity, ...endsOf('Succeeded'));
  const failures = endsOf('Failed').filter((at) => at > succeededAt);
  if (failures.length === 0) return 0;
  const delay = Math.min(firstDelayMs * 2 ** (failures.length - 1), maxDelayMs);
  return Math.max(0, Math.max(...failures) + delay - nowMs);
}

/** Returns when the last container ended, or else when the pod was created, in milliseconds since the epoch. */
export function endedAt({ metadata, status }: WorkloadPod): number {
  const ends = status?.containerStatuses?.map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? '')) ?? [];
  const known = ends.filter((end) => !Number.isNaN(end));
  return known.length > 0 ? Math.max(...known) : Date.parse(metadata.creationTimestamp ?? '') || 0;
}

export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Returns the conditions with `next` set. The transition time changes only if the status changes. */
export function withCondition(
  conditions: readonly Condition[],
  next: Required<Pick<Condition, 'type' | 'status' | 'reason' | 'message'>>,
  nowMs: number,
): readonly Condition[] {
  const { type, status, reason, message } = next;
  const last = conditionOf(conditions, type);
  if (last?.status === status && last.reason === reason && last.message === message) return conditions;
  const lastTransitionTime =
    last?.status === status && last.lastTransitionTime != null ? last.lastTransitionTime : toKubernetesTime(nowMs);
  return [...conditions.filter((condition) => condition !== last), { ...next, lastTransitionTime }];
}

/** Returns a hash of the template for the name of its ReplicaSet or revision, in letters that do not form words. */
export function templateHash(template: PodTemplate): string {
  return [...String(hashText(sortedJson(template)))].map((digit) => 'bcdfghjklm'[Number(digit)]).join('');
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
