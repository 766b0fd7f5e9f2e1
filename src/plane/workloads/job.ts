import type { Condition, Workload, WorkloadPod } from './workload.ts';

export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const indexLabel = 'batch.kubernetes.io/job-completion-index';

export interface JobSpec {
  readonly parallelism: number;
  /** If absent, the Job is complete once a pod has succeeded and none is active. */
  readonly completions?: number;
  readonly completionMode: string;
  readonly backoffLimit: number;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly suspend: boolean;
  readonly managedBy?: string;
}

export interface JobStatus {
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly completedIndexes?: string;
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly conditions?: readonly Condition[];
  /** UIDs of pods that have ended and still have the finalizer, or had it at the last reconcile. */
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
}

export type Job = Workload<JobSpec, JobStatus>;

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed';
}

/** Returns the completion index of a pod; undefined if the pod has no valid number as its index. */
export function indexOf({ metadata }: WorkloadPod): number | undefined {
  const text = metadata.annotations?.[indexLabel];
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** Returns a pod of the Job, without owner and namespace. */
export function podOfJob(job: Job, index: number | undefined): object {
  const { metadata = {}, spec } = job.spec.template;
  const { name } = job.metadata;
  const indexed = index === undefined ? {} : { [indexLabel]: String(index) };
  const suffix = index === undefined ? '-' : `-${index}-`;
  return {
    metadata: {
      generateName: name.slice(0, 58 - suffix.length) + suffix,
      labels: { ...metadata.labels, ...indexed },
      annotations: { ...metadata.annotations, ...indexed },
      finalizers: [...new Set([...(metadata.finalizers ?? []), trackingFinalizer])],
    },
    spec: index === undefined ? spec : { ...withIndexVariable(spec), hostname: `${name}-${index}` },
  };
}

interface Container {
  readonly env?: readonly { readonly name: string }[];
}

const indexVariable = 'JOB_COMPLETION_INDEX';

/** Adds the index to the environment of every container that does not set that variable itself. */
function withIndexVariable(spec: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const variable = { name: indexVariable, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexLabel}']` } } };
  const withVariable = (container: Container): Container => {
    const { env = [] } = container;
    return env.some(({ name }) => name === indexVariable) ? container : { ...container, env: [...env, variable] };
  };
  const changed = { ...spec };
  for (const field of ['containers', 'initContainers']) {
    const containers = spec[field] as readonly Container[] | undefined;
    if (containers !== undefined) changed[field] = containers.map(withVariable);
  }
  return changed;
}
