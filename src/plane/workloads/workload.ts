import type { LabelSelector } from '../../api/label-selector.ts';
import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import { hashText } from '../../base/hash-text.ts';

/** A condition in the status of a workload or pod. Times are Kubernetes'. */
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

/** An object that makes pods of a template. The server has filled in the defaults of its spec. */
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

/** `ownerReferences` of what the workload makes: the garbage collector deletes it with the workload. */
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

/** The pod may still do its work. */
export function isActive(pod: WorkloadPod): boolean {
  return !isDeleting(pod) && !hasEnded(pod);
}

export function isReady(pod: WorkloadPod): boolean {
  return (
    isActive(pod) && pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  );
}

/** Sorts first the pods whose deletion costs least: unscheduled, not running, not ready, young. */
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
const longestDelayMs = 600_000;

/**
 * How long a workload waits before it replaces pods, in milliseconds: from 10 s, doubled with every pod that failed after the last success, to 10 min.
 */
export function replacementDelay(pods: readonly WorkloadPod[], nowMs: number): number {
  const endsOf = (phase: string): number[] => pods.filter((pod) => phaseOf(pod) === phase).map(endedAt);
  const succeededAt = Math.max(-Infinity, ...endsOf('Succeeded'));
  const failures = endsOf('Failed').filter((at) => at > succeededAt);
  if (failures.length === 0) return 0;
  const delay = Math.min(firstDelayMs * 2 ** (failures.length - 1), longestDelayMs);
  return Math.max(0, Math.max(...failures) + delay - nowMs);
}

/** When the containers ended, or when the pod was created if its status does not say; milliseconds since the epoch. */
export function endedAt({ metadata, status }: WorkloadPod): number {
  const ends = status?.containerStatuses?.map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? '')) ?? [];
  const known = ends.filter((end) => !Number.isNaN(end));
  return known.length > 0 ? Math.max(...known) : Date.parse(metadata.creationTimestamp ?? '') || 0;
}

export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** The conditions with one of them set. A condition that says the same already keeps its time; its time is that of the last change of status. */
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

/** The hash of a template, in letters that make no words: names the ReplicaSet or revision that was made of it. */
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
