import { isIndexed } from './job.ts';
import type { Job } from './job.ts';
import { failureOutcome } from './failure-policy.ts';
import { failureCountName, ignoredFailureCountName, indexName, trackingFinalizer } from './job-pod.ts';
import type { JobPod } from './job-pod.ts';

/** The longest beginning of a generated name. */
const longestPrefix = 58;
const indexVariable = 'JOB_COMPLETION_INDEX';

export interface PodOfJobOptions {
  /** Of an Indexed Job. */
  readonly index?: number;
  /** The one of that index that failed before it, where the Job limits the failures of each index. */
  readonly replaces?: JobPod | undefined;
}

interface Container {
  readonly env?: readonly { readonly name: string }[];
}

/** The pod that a Job makes of its template, without a name: the server gives it one. */
export function podOfJob(job: Job, { index, replaces }: PodOfJobOptions = {}): Record<string, unknown> {
  const { metadata = {}, spec } = job.spec.template;
  const { labels, annotations, finalizers = [] } = metadata;
  const isOfIndex = index !== undefined && isIndexed(job);
  const indexed = isOfIndex ? { [indexName]: String(index) } : {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: isOfIndex ? prefixOf(job.name, `-${index}-`) : `${job.name}-`,
      namespace: job.namespace,
      labels: { ...labels, ...indexed },
      annotations: { ...annotations, ...indexed, ...(isOfIndex && failureCounts(job, replaces)) },
      finalizers: finalizers.includes(trackingFinalizer) ? finalizers : [...finalizers, trackingFinalizer],
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          name: job.name,
          uid: job.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: isOfIndex ? { ...spec, ...knowingIndex(spec), hostname: `${job.name}-${index}` } : spec,
  };
}

function prefixOf(name: string, ending: string): string {
  return name.slice(0, longestPrefix - ending.length) + ending;
}

function failureCounts(job: Job, replaces: JobPod | undefined): Record<string, string> {
  if (job.spec.backoffLimitPerIndex === undefined) return {};
  const counts = replaces !== undefined && failureOutcome(job, replaces).counts;
  const failures = (replaces?.failuresBefore ?? 0) + (counts ? 1 : 0);
  const ignored = (replaces?.ignoredBefore ?? 0) + (replaces !== undefined && !counts ? 1 : 0);
  return { [failureCountName]: String(failures), ...(ignored > 0 && { [ignoredFailureCountName]: String(ignored) }) };
}

/** Every container finds the index in its environment, unless it has a variable of that name already. */
function knowingIndex(spec: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const variable = { name: indexVariable, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexName}']` } } };
  const withVariable = (container: Container): Container =>
    container.env?.some(({ name }) => name === indexVariable) === true
      ? container
      : { ...container, env: [...(container.env ?? []), variable] };
  const changed = ['containers', 'initContainers'].flatMap((field) => {
    const containers = spec[field];
    return Array.isArray(containers) ? [[field, (containers as Container[]).map(withVariable)]] : [];
  });
  return Object.fromEntries(changed) as Record<string, unknown>;
}
