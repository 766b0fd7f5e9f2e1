import { podPath } from '../../api/pod-path.ts';
import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import { formatIndexes, parseIndexes } from './index-ranges.ts';
import { indexOf, isIndexed, podOfJob, trackingFinalizer } from './job.ts';
import type { Job, JobStatus } from './job.ts';
import { maxChanges } from './workload-actions.ts';
import type { WorkloadActions } from './workload-actions.ts';
import type { RequeueAfter, WorkloadController } from './workload-controller.ts';
import {
  byProgress,
  conditionOf,
  controllerOf,
  hasEnded,
  isActive,
  isDeleting,
  isReady,
  phaseOf,
  replacementDelay,
  withCondition,
} from './workload.ts';
import type { Condition, WorkloadPod } from './workload.ts';

const ownName = 'kubernetes.io/job-controller';
const reachedCompletions = 'Reached expected number of succeeded pods';

/**
 * Runs the pods of Jobs. A finalizer keeps each pod until it is counted. Counting takes two steps, so that each pod counts exactly once
 * even if the controller stops in between: the status lists the uid before the finalizer is removed, and the count increases after that.
 */
export const jobController: WorkloadController = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  plural: 'jobs',
  reportingController: 'job-controller',

  async reconcile(workload, path, actions) {
    const job = workload as Job;
    const { managedBy = ownName } = job.spec;
    if (managedBy !== ownName) return undefined;
    const pods = (await actions.ownedPods(job)).sort((a, b) => (indexOf(a) ?? 0) - (indexOf(b) ?? 0));
    const end = endOf(job.status);
    if (end !== undefined || isDeleting(job)) {
      await removeFinalizers(pods, actions);
      return end === undefined ? undefined : expire(job, path, end, actions);
    }
    const progress = new JobProgress(job, pods, actions.nowMs);
    const status = progress.status();
    await actions.writeStatus(path, job, status);
    recordEvents(job, status, actions);
    await removeFinalizers(progress.ended, actions);
    if (endOf(status) !== undefined) return undefined;
    const active = pods.filter(isActive);
    if (progress.failure !== undefined) {
      await actions.deletePods(job, active);
      return undefined;
    }
    const surplus = progress.surplus();
    // Surplus pods do not count as failed: remove the finalizer before the pods are deleted.
    await removeFinalizers(surplus.slice(0, maxChanges), actions);
    await actions.deletePods(job, surplus);
    const missing = progress.missing();
    const delayMs = missing.length === 0 ? 0 : replacementDelay(pods, actions.nowMs);
    if (delayMs === 0)
      await actions.createPods(
        job,
        missing.map((index) => podOfJob(job, index)),
      );
    const delays = [delayMs, progress.untilDeadlineMs ?? 0].filter((ms) => ms > 0);
    return delays.length > 0 ? { afterMs: Math.min(...delays) } : undefined;
  },

  async forget(namespace, name, actions) {
    const pods = await actions.podsIn(namespace);
    const mayBeLeftover = ({ metadata }: WorkloadPod): boolean => {
      const owner = controllerOf(metadata);
      return owner === undefined || (owner.kind === 'Job' && owner.name === name);
    };
    await removeFinalizers(pods.filter(mayBeLeftover), actions);
  },
};

/** Derives the status and the necessary changes from one state of a Job and its pods. Changes nothing itself. */
class JobProgress {
  readonly #job: Job;
  readonly #pods: readonly WorkloadPod[];
  readonly #active: readonly WorkloadPod[];
  readonly #nowMs: number;
  readonly #completedIndexes: ReadonlySet<number>;
  /** Result -> the number of counted pods, and the uids of the pods being counted */
  readonly #counts: Readonly<
    Record<'succeeded' | 'failed', { readonly counted: number; readonly uids: readonly string[] }>
  >;
  /** Pods whose finalizer can be removed once the status is written. */
  readonly ended: readonly WorkloadPod[];

  constructor(job: Job, pods: readonly WorkloadPod[], nowMs: number) {
    this.#job = job;
    this.#pods = pods;
    this.#active = pods.filter(isActive);
    this.#nowMs = nowMs;
    this.ended = pods.filter((pod) => isTracked(pod) && !isActive(pod)).slice(0, maxChanges);
    const valid = this.ended.filter((pod) => this.#hasValidIndex(pod));
    const succeeded = valid.filter((pod) => phaseOf(pod) === 'Succeeded');
    const failed = valid.filter((pod) => phaseOf(pod) !== 'Succeeded');
    const indexes = isIndexed(job)
      ? parseIndexes(job.status?.completedIndexes, job.spec.completions ?? 0)
      : new Set<number>();
    if (isIndexed(job)) for (const pod of succeeded) indexes.add(indexOf(pod)!);
    this.#completedIndexes = indexes;
    this.#counts = {
      succeeded: this.#count('succeeded', isIndexed(job) ? [] : succeeded),
      failed: this.#count('failed', failed),
    };
  }

  /** Why the Job fails; undefined if it does not. */
  get failure(): { readonly reason: string; readonly message: string } | undefined {
    const { backoffLimit, template } = this.#job.spec;
    const decided = conditionOf(this.#job.status?.conditions, 'FailureTarget');
    if (decided !== undefined) return { reason: decided.reason ?? '', message: decided.message ?? '' };
    const restarts = this.#active.reduce((sum, pod) => sum + restartsOf(pod), 0);
    const isOverRestarted = template.spec.restartPolicy === 'OnFailure' && restarts > 0 && restarts >= backoffLimit;
    if (this.#failed > backoffLimit || isOverRestarted)
      return { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
    const { untilDeadlineMs } = this;
    if (untilDeadlineMs !== undefined && untilDeadlineMs <= 0)
      return { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
    return undefined;
  }

  get untilDeadlineMs(): number | undefined {
    const { status, spec } = this.#job;
    if (spec.activeDeadlineSeconds === undefined || status?.startTime === undefined || spec.suspend) return undefined;
    return Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000 - this.#nowMs;
  }

  status(): JobStatus {
    const { status = {}, spec } = this.#job;
    const nowText = toKubernetesTime(this.#nowMs);
    const { succeeded, failed } = this.#counts;
    const conditions = this.#conditions(status.conditions ?? []);
    const isComplete = conditionOf(conditions, 'Complete') !== undefined;
    const isResumed = this.#wasSuspended && !spec.suspend;
    const startTime = spec.suspend ? undefined : ((isResumed ? undefined : status.startTime) ?? nowText);
    const counted = isIndexed(this.#job) ? this.#completedIndexes.size : succeeded.counted;
    return {
      ...(startTime !== undefined && { startTime }),
      ...(isComplete && { completionTime: nowText }),
      ...(conditions.length > 0 && { conditions }),
      ...(this.#active.length > 0 && { active: this.#active.length }),
      ready: this.#active.filter(isReady).length,
      terminating: this.#pods.filter((pod) => isDeleting(pod) && !hasEnded(pod)).length,
      ...(counted > 0 && { succeeded: counted }),
      ...(failed.counted > 0 && { failed: failed.counted }),
      ...(this.#completedIndexes.size > 0 && { completedIndexes: formatIndexes(this.#completedIndexes) }),
      uncountedTerminatedPods: {
        ...(succeeded.uids.length > 0 && { succeeded: succeeded.uids }),
        ...(failed.uids.length > 0 && { failed: failed.uids }),
      },
    };
  }

  /** Returns the surplus pods: first those without a valid index of their own, then those with the least progress. */
  surplus(): WorkloadPod[] {
    const active = [...this.#active].sort(byProgress);
    if (this.#job.spec.suspend) return active;
    /** Index -> the pod with the most progress */
    const farthest = new Map(active.map((pod) => [indexOf(pod), pod]));
    const isNeeded = (pod: WorkloadPod): boolean => {
      const index = indexOf(pod);
      return farthest.get(index) === pod && this.#hasValidIndex(pod) && !this.#completedIndexes.has(index!);
    };
    const needed = isIndexed(this.#job) ? active.filter(isNeeded) : active;
    const excess = Math.max(0, needed.length - this.#wantedActive);
    return [...active.filter((pod) => !needed.includes(pod)), ...needed.slice(0, excess)];
  }

  /** Returns the indexes of the pods to create, with undefined for each pod of a Job that is not Indexed. */
  missing(): readonly (number | undefined)[] {
    const job = this.#job;
    const count = Math.min(this.#wantedActive - this.#active.length, maxChanges);
    if (job.spec.suspend || count <= 0) return [];
    if (!isIndexed(job)) return Array.from({ length: count }, () => undefined);
    const taken = new Set([...this.#completedIndexes, ...this.#active.map(indexOf)]);
    const found: number[] = [];
    for (let index = 0; index < (job.spec.completions ?? 0) && found.length < count; index++)
      if (!taken.has(index)) found.push(index);
    return found;
  }

  get #succeeded(): number {
    const { counted, uids } = this.#counts.succeeded;
    return isIndexed(this.#job) ? this.#completedIndexes.size : counted + uids.length;
  }

  get #failed(): number {
    return this.#counts.failed.counted + this.#counts.failed.uids.length;
  }

  get #wantedActive(): number {
    const { parallelism, completions } = this.#job.spec;
    if (completions === undefined) return this.#succeeded > 0 ? this.#active.length : parallelism;
    return Math.max(0, Math.min(parallelism, completions - this.#succeeded));
  }

  get #wasSuspended(): boolean {
    return conditionOf(this.#job.status?.conditions, 'Suspended')?.status === 'True';
  }

  /** An Indexed Job does not count pods without a valid index. */
  #hasValidIndex(pod: WorkloadPod): boolean {
    return !isIndexed(this.#job) || (indexOf(pod) ?? Infinity) < (this.#job.spec.completions ?? 0);
  }

  #count(
    result: 'succeeded' | 'failed',
    ended: readonly WorkloadPod[],
  ): { readonly counted: number; readonly uids: readonly string[] } {
    const { status = {} } = this.#job;
    const before = status.uncountedTerminatedPods?.[result] ?? [];
    /** UIDs of pods that still have the finalizer. */
    const tracked = new Set(this.#pods.filter(isTracked).map(({ metadata }) => metadata.uid));
    const uncounted = before.filter((uid) => tracked.has(uid));
    const uids = new Set([...uncounted, ...ended.map(({ metadata }) => metadata.uid)]);
    return { counted: (status[result] ?? 0) + before.length - uncounted.length, uids: [...uids] };
  }

  #conditions(before: readonly Condition[]): readonly Condition[] {
    const { suspend, completions = 1 } = this.#job.spec;
    const set = (
      conditions: readonly Condition[],
      type: string,
      reason: string,
      message: string,
      status = 'True',
    ): readonly Condition[] => withCondition(conditions, { type, status, reason, message }, this.#nowMs);
    const { succeeded, failed } = this.#counts;
    const isCounted = succeeded.uids.length + failed.uids.length === 0 && !this.#pods.some(isTracked);
    const { failure } = this;
    if (failure !== undefined) {
      const { reason, message } = failure;
      const failing = set(before, 'FailureTarget', reason, message);
      const isOver = isCounted && !this.#pods.some((pod) => isDeleting(pod) && !hasEnded(pod));
      return isOver ? set(failing, 'Failed', reason, message) : failing;
    }
    if (this.#active.length === 0 && this.#succeeded >= completions) {
      const succeeding = set(before, 'SuccessCriteriaMet', 'CompletionsReached', reachedCompletions);
      return isCounted ? set(succeeding, 'Complete', 'CompletionsReached', reachedCompletions) : succeeding;
    }
    if (suspend) return set(before, 'Suspended', 'JobSuspended', 'Job suspended');
    return this.#wasSuspended ? set(before, 'Suspended', 'JobResumed', 'Job resumed', 'False') : before;
  }
}

function restartsOf({ status }: WorkloadPod): number {
  return (status?.containerStatuses ?? []).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
}

function isTracked({ metadata }: WorkloadPod): boolean {
  return metadata.finalizers?.includes(trackingFinalizer) === true;
}

function endOf(status: JobStatus | undefined): Condition | undefined {
  return conditionOf(status?.conditions, 'Complete') ?? conditionOf(status?.conditions, 'Failed');
}

/** Removes the finalizer from pods, so that the API server can delete them. */
async function removeFinalizers(pods: readonly WorkloadPod[], actions: WorkloadActions): Promise<void> {
  await actions.each(pods.filter(isTracked), async ({ metadata }) => {
    const patch = { metadata: { uid: metadata.uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } };
    await actions.patch(podPath(metadata), 'strategic-merge', patch);
  });
}

/** Records Events for conditions that are new in the status. */
function recordEvents(job: Job, status: JobStatus, actions: WorkloadActions): void {
  for (const { type, status: state, reason = '', message = '' } of status.conditions ?? []) {
    const last = conditionOf(job.status?.conditions, type);
    if (last?.status === state) continue;
    if (type === 'Complete') actions.record(job, 'Normal', 'Completed', 'Job completed');
    if (type === 'Failed') actions.record(job, 'Warning', reason, message);
    if (type === 'Suspended') actions.record(job, 'Normal', state === 'True' ? 'Suspended' : 'Resumed', message);
  }
}

/** Deletes a finished Job when its ttlSecondsAfterFinished has passed. */
async function expire(
  job: Job,
  path: string,
  end: Condition,
  actions: WorkloadActions,
): Promise<RequeueAfter | undefined> {
  const { ttlSecondsAfterFinished: seconds } = job.spec;
  if (seconds === undefined || isDeleting(job)) return undefined;
  const afterMs = Date.parse(end.lastTransitionTime ?? '') + seconds * 1000 - actions.nowMs;
  if (afterMs > 0) return { afterMs, hasFinished: true };
  await actions.delete(path, job.metadata.uid);
  return undefined;
}
