import type { LabelSelector } from '../../api/label-selector.ts';

/** A condition of a Job; times are Kubernetes'. */
export interface JobCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string | null;
}

export interface ExitCodesRule {
  readonly containerName?: string;
  readonly operator: string;
  readonly values: readonly number[];
}

export interface FailureRule {
  readonly action: 'Count' | 'FailIndex' | 'FailJob' | 'Ignore';
  readonly onExitCodes?: ExitCodesRule;
  readonly onPodConditions?: readonly { readonly type: string; readonly status: string }[];
}

export interface SuccessRule {
  readonly succeededIndexes?: string;
  readonly succeededCount?: number;
}

/** A pod template, of which the pods take everything as it is. */
export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The spec as servers give it: defaults are filled in. */
export interface JobSpec {
  readonly parallelism: number;
  /** Absent: it is done when one of its pods has succeeded and none is left. */
  readonly completions?: number;
  readonly completionMode: string;
  readonly backoffLimit: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly suspend: boolean;
  readonly podReplacementPolicy: string;
  readonly podFailurePolicy?: { readonly rules: readonly FailureRule[] };
  readonly successPolicy?: { readonly rules: readonly SuccessRule[] };
  readonly managedBy?: string;
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
}

export interface JobStatus {
  active?: number;
  ready?: number;
  terminating?: number;
  succeeded?: number;
  failed?: number;
  completedIndexes?: string;
  failedIndexes?: string;
  startTime?: string;
  completionTime?: string;
  conditions?: readonly JobCondition[];
  /** Uids of pods that have ended and are not in the counts yet. */
  uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
}

/** A Job as its controller reads it. */
export interface Job {
  /** namespace/name */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isDeleting: boolean;
  readonly spec: JobSpec;
  readonly status: JobStatus;
  /** The whole of it, for what replaces its status. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Who looks after Jobs that name nobody else. */
const controllerName = 'kubernetes.io/job-controller';

/** Throws TypeError for what is not a Job. */
export function readJob(raw: unknown): Job {
  const { metadata, spec, status } = raw as {
    readonly metadata: Readonly<Record<'namespace' | 'name' | 'uid' | 'resourceVersion', string>> & {
      readonly deletionTimestamp?: string;
    };
    readonly spec?: Partial<JobSpec>;
    readonly status?: JobStatus;
  };
  const template = spec?.template;
  if (typeof template?.spec !== 'object' || template.spec === null)
    throw new TypeError('spec.template.spec is not an object');
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    uid,
    resourceVersion,
    isDeleting: metadata.deletionTimestamp !== undefined,
    spec: {
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: 'TerminatingOrFailed',
      selector: {},
      ...spec,
      template,
    },
    status: status ?? {},
    raw: raw as Readonly<Record<string, unknown>>,
  };
}

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed';
}

/** Whether somebody else looks after it. */
export function isManagedElsewhere({ spec }: Job): boolean {
  return spec.managedBy !== undefined && spec.managedBy !== controllerName;
}

export function conditionOf(status: JobStatus, type: string): JobCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}

export function holds(status: JobStatus, type: string): boolean {
  return conditionOf(status, type)?.status === 'True';
}

/** From this it does not come back. */
export function isFinished({ status }: Job): boolean {
  return holds(status, 'Complete') || holds(status, 'Failed');
}

export function jobPath({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/jobs/${encodeURIComponent(name)}`;
}
