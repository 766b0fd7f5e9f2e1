import type { Labels } from '../../api/label-selector.ts';
import type { RawPod } from '../../api/pod.ts';
import { isTerminalPhase } from '../nodes/kubelet-pod.ts';

/** Keeps a pod that has ended until it is in the counts of its Job. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const indexName = 'batch.kubernetes.io/job-completion-index';
export const failureCountName = 'batch.kubernetes.io/job-index-failure-count';
export const ignoredFailureCountName = 'batch.kubernetes.io/job-index-ignored-failure-count';

/** A pod as the controller of Jobs reads it, whoever made it. Times are milliseconds since the epoch. */
export interface JobPod {
  /** namespace/name */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The Job that controls it; undefined when nobody does, or something else. */
  readonly owner: { readonly name: string; readonly uid: string } | undefined;
  /** Whether it is nobody's: what controls it is gone, or has let it go. */
  readonly isOrphan: boolean;
  readonly labels: Labels | undefined;
  readonly phase: string;
  readonly isDeleting: boolean;
  /** Has the finalizer of Jobs. */
  readonly isTracked: boolean;
  readonly isScheduled: boolean;
  readonly isReady: boolean;
  readonly createdAt: number;
  /** When its containers ended, or the next best that is known. */
  readonly finishedAt: number;
  readonly restarts: number;
  /** Undefined where it has none, or none that is a number. */
  readonly index: number | undefined;
  /** Pods of its index that failed before it, those that count and those that do not. */
  readonly failuresBefore: number;
  readonly ignoredBefore: number;
  /** Exit code of each container that has ended, init containers last. */
  readonly exits: readonly { readonly container: string; readonly code: number }[];
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
}

interface RawContainerStatus {
  readonly name: string;
  readonly restartCount?: number;
  readonly state?: { readonly terminated?: { readonly exitCode: number; readonly finishedAt?: string | null } };
}

interface RawJobPod {
  readonly metadata: Omit<RawPod['metadata'], 'ownerReferences'> & {
    readonly resourceVersion: string;
    readonly finalizers?: readonly string[];
    readonly deletionGracePeriodSeconds?: number;
    readonly ownerReferences?: readonly {
      readonly apiVersion: string;
      readonly kind: string;
      readonly name: string;
      readonly uid: string;
      readonly controller?: boolean;
    }[];
  };
  readonly spec: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string | null;
    }[];
    readonly containerStatuses?: readonly RawContainerStatus[];
    readonly initContainerStatuses?: readonly RawContainerStatus[];
  };
}

export function readJobPod(raw: unknown): JobPod {
  const { metadata, spec, status = {} } = raw as RawJobPod;
  const { namespace, name, uid, resourceVersion, annotations } = metadata;
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  const isOfJob = controller?.kind === 'Job' && controller.apiVersion === 'batch/v1';
  const containers = status.containerStatuses ?? [];
  const initContainers = status.initContainerStatuses ?? [];
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    uid,
    resourceVersion,
    owner: isOfJob ? { name: controller.name, uid: controller.uid } : undefined,
    isOrphan: controller === undefined,
    labels: metadata.labels,
    phase: status.phase ?? 'Pending',
    isDeleting: metadata.deletionTimestamp !== undefined,
    isTracked: metadata.finalizers?.includes(trackingFinalizer) === true,
    isScheduled: (spec?.nodeName ?? '') !== '',
    isReady: status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') === true,
    createdAt: timeOf(metadata.creationTimestamp) ?? 0,
    finishedAt: finishedAt(metadata, status),
    restarts: [...containers, ...initContainers].reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    index: countOf(annotations?.[indexName]),
    failuresBefore: countOf(annotations?.[failureCountName]) ?? 0,
    ignoredBefore: countOf(annotations?.[ignoredFailureCountName]) ?? 0,
    exits: [...containers, ...initContainers].flatMap(({ name: container, state }) =>
      state?.terminated === undefined ? [] : [{ container, code: state.terminated.exitCode }],
    ),
    conditions: (status.conditions ?? []).map(({ type, status: state }) => ({ type, status: state })),
  };
}

/** It may still do its work. */
export function isActive(pod: JobPod): boolean {
  return !pod.isDeleting && !isTerminalPhase(pod.phase);
}

/** It is being deleted and has not ended. */
export function isTerminating(pod: JobPod): boolean {
  return pod.isDeleting && !isTerminalPhase(pod.phase);
}

function finishedAt(metadata: RawJobPod['metadata'], status: NonNullable<RawJobPod['status']>): number {
  const ends = (status.containerStatuses ?? []).map(({ state }) => timeOf(state?.terminated?.finishedAt));
  if (ends.length > 0 && ends.every((end) => end !== undefined)) return Math.max(...ends);
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const unreadySince = ready?.status === 'False' ? timeOf(ready.lastTransitionTime) : undefined;
  if (unreadySince !== undefined) return unreadySince;
  const deletedBy = timeOf(metadata.deletionTimestamp);
  if (deletedBy !== undefined) return deletedBy - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
  return timeOf(metadata.creationTimestamp) ?? 0;
}

function timeOf(text: string | null | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** Users can write annotations: what is no count is none. */
function countOf(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
