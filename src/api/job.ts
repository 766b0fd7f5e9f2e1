import { toEpochSeconds } from './kubernetes-time.ts';
import type { ListedMetadata } from './listed-metadata.ts';

/** What tells when the pods of a batch/v1 Job end at the latest. */
export interface Job {
  readonly kind: 'Job';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** spec.activeDeadlineSeconds: the Job controller ends the pods this long after the start of the Job; 0: none. */
  readonly deadlineSeconds: number;
  /** When the Job started or was last resumed, in seconds since the epoch; 0: not yet, or it is suspended. */
  readonly startedAt: number;
  /** Name of the CronJob that created the Job. */
  readonly cronJob: string | undefined;
}

interface RawJob {
  readonly metadata: ListedMetadata;
  readonly spec?: { readonly activeDeadlineSeconds?: number | null };
  readonly status?: { readonly startTime?: string };
}

export function projectJob(input: unknown): Job {
  const { metadata, spec, status } = input as RawJob;
  return {
    kind: 'Job',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    deadlineSeconds: spec?.activeDeadlineSeconds ?? 0,
    startedAt: toEpochSeconds(status?.startTime),
    cronJob: metadata.ownerReferences?.find(({ controller, kind }) => controller === true && kind === 'CronJob')?.name,
  };
}
