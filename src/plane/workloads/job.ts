import type { Condition, Workload, WorkloadPod } from './workload.ts';

export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
const indexLabel = 'batch.kubernetes.io/job-completion-index';

export interface JobSpec {
  readonly parallelism: number;
  /** Absent: the Job is complete once a pod has succeeded and none is active. */
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
  /** uids of pods that have ended and still have the finalizer, or had it at the last look. */
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
}

export type Job = Workload<JobSpec, JobStatus>;

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === 'Indexed';
}

/** The completion index of a pod, or undefined if it has none that is a number. */
export function indexOf({ metadata }: WorkloadPod): number | undefined {
  const text = metadata.annotations?.[indexLabel];
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

/** A job pod of the template, without owner and namespace. */
export function podOfJob(job: Job, index: number | undefined): object {
  const { metadata = {}, spec } = job.spec.template;
  const { name } = job.metadata;
  const indexed = index === undefined ? {} : { [indexLabel]: String(index) };
  const ending = index === undefined ? '-' : `-${index}-`;
  return {
    metadata: {
      generateName: name.slice(0, 58 - ending.length) + ending,
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

/** Gives every container the index in its environment, unless it sets that variable itself. */
function withIndexVariable(spec: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const variable = { name: indexVariable, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexLabel}']` } } };
  const added = (container: Container): Container => {
    const { env = [] } = container;
    return env.some(({ name }) => name === indexVariable) ? container : { ...container, env: [...env, variable] };
  };
  const changed = { ...spec };
  for (const field of ['containers', 'initContainers']) {
    const containers = spec[field] as readonly Container[] | undefined;
    if (containers !== undefined) changed[field] = containers.map(added);
  }
  return changed;
}
