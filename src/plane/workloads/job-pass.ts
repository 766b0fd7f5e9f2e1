import { ApiError, NotFoundError } from '../../client/api-errors.ts';
import { messageOf } from '../../base/message-of.ts';
import { toError } from '../../base/to-error.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { podPath } from '../../api/pod-path.ts';
import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import { hasFailed, failureOutcome } from './failure-policy.ts';
import type { FailureStreak } from './failure-streak.ts';
import type { IndexSet } from './index-set.ts';
import { holds, isIndexed, jobPath, readJob } from './job.ts';
import type { Job, JobCondition, JobStatus } from './job.ts';
import { readJobPod, trackingFinalizer } from './job-pod.ts';
import type { JobPod } from './job-pod.ts';
import { JobPicture } from './job-picture.ts';
import { isSameStatus, newCondition, setCondition, wireStatus } from './job-status.ts';
import type { OwnWrites } from './own-writes.ts';
import { podOfJob } from './pod-of-job.ts';
import type { PodRoom } from './pod-room.ts';

/** Pods that wait to be counted at once, at most: their uids are in the status. */
const mostUncounted = 500;
/** Calls at once. */
const concurrency = 32;

export interface JobPassOptions {
  readonly client: Pick<KubeClient, 'create' | 'delete' | 'patch' | 'replace'>;
  readonly signal: AbortSignal;
  /** In milliseconds since the epoch. */
  readonly nowMs: number;
  readonly ownJobs: OwnWrites<Job>;
  readonly ownPods: OwnWrites<JobPod>;
  readonly room: Pick<PodRoom, 'take'>;
  readonly onEvent: (job: Job, type: 'Normal' | 'Warning', reason: string, note: string) => void;
  /** What has become of the failures, once it is in the status. */
  readonly onStreak: (streak: FailureStreak) => void;
}

export interface JobPassResult {
  /** Milliseconds after which the Job is to be looked at in any case; undefined: when something changes. */
  readonly againMs: number | undefined;
  /** Pods that are wanted, and for which there was no room. */
  readonly refusedPods: number;
}

/** How many pods are left, in the words of the status. */
interface Tally {
  active: number;
  ready: number;
  terminating: number;
}

/**
 * One look at one Job, with everything that follows from it, call by call. The order is what makes it safe to be broken off anywhere: a pod that
 * has ended is written down as uncounted before it loses its finalizer, and counted after; that a Job ends is said before its last
 * pods go, and that it has ended when they are counted.
 */
export class JobPass {
  readonly #options: JobPassOptions;
  readonly #picture: JobPicture;
  #job: Job;
  readonly #status: JobStatus;
  readonly #tally: Tally;
  #end: JobCondition | undefined;
  #problem: Error | undefined;
  #refusedPods = 0;

  constructor(job: Job, pods: readonly JobPod[], streak: FailureStreak, options: JobPassOptions) {
    const { nowMs } = options;
    const isBeginning = job.status.startTime === undefined && !job.spec.suspend;
    const startTime = isBeginning ? { startTime: toKubernetesTime(nowMs) } : {};
    this.#options = options;
    this.#job = job;
    this.#status = { ...job.status, ...startTime, uncountedTerminatedPods: job.status.uncountedTerminatedPods ?? {} };
    this.#picture = new JobPicture({ ...job, status: this.#status }, pods, streak, nowMs);
    const { active, terminating } = this.#picture;
    this.#tally = { active: active.length, ready: active.filter(({ isReady }) => isReady).length, terminating };
  }

  /** Rejects with the first error that keeps the Job from being as it should; everything else has been done. */
  async run(): Promise<JobPassResult> {
    const { plan, untilDeadlineMs, end } = this.#picture;
    this.#end = end;
    if (end !== undefined) {
      await this.#delete(this.#picture.active, false);
      // Something may be left of it.
      if (this.#problem !== undefined) this.#end = undefined;
    } else {
      if (!this.#job.isDeleting) {
        await this.#delete(plan.remove, true);
        await this.#create(plan.create);
      }
      if (this.#picture.isComplete(this.#tally.active)) {
        const message = 'Reached expected number of succeeded pods';
        this.#end = newCondition('SuccessCriteriaMet', 'CompletionsReached', message, this.#options.nowMs);
      } else if (!this.#job.isDeleting) {
        this.#sayWhetherSuspended();
      }
    }
    const { active, ready, terminating } = this.#tally;
    Object.assign(this.#status, { active, ready, terminating });
    await this.#track();
    if (this.#problem !== undefined) throw this.#problem;
    const waits = end === undefined ? [plan.delayMs, untilDeadlineMs ?? 0].filter((ms) => ms > 0) : [];
    return { againMs: waits.length === 0 ? undefined : Math.min(...waits), refusedPods: this.#refusedPods };
  }

  /** `released`: without their finalizer, so that nobody counts them. */
  async #delete(pods: readonly JobPod[], released: boolean): Promise<void> {
    const { client, signal, ownPods } = this.#options;
    await this.#each(pods, async (pod) => {
      if (released && !(await this.#release(pod))) return;
      try {
        const body = { preconditions: { uid: pod.uid } };
        const left = await client.delete<unknown>(podPath(pod), body, { signal });
        if (isPod(left)) ownPods.changed(readJobPod(left));
        this.#options.onEvent(this.#job, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.name}`);
      } catch (error) {
        if (isGone(error)) {
          ownPods.gone(pod);
          this.#tally.terminating--;
        } else {
          this.#failed(error);
          this.#options.onEvent(this.#job, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`);
          return;
        }
      }
      this.#tally.active--;
      this.#tally.terminating++;
      if (pod.isReady) this.#tally.ready--;
    });
  }

  /** One, then two, then four at once, until one fails: what fails for one will mostly fail for all. */
  async #create(indexes: readonly (number | undefined)[]): Promise<void> {
    if (indexes.length === 0) return;
    const room = this.#options.room.take(indexes.length);
    this.#refusedPods = indexes.length - room.pods;
    try {
      for (let done = 0, batch = 1; done < room.pods && this.#problem === undefined; batch *= 2) {
        const next = indexes.slice(done, Math.min(done + batch, room.pods));
        done += next.length;
        await this.#each(next, (index) => this.#createOne(index));
      }
    } finally {
      room.giveBack();
    }
  }

  async #createOne(index: number | undefined): Promise<void> {
    const { client, signal, ownPods, onEvent } = this.#options;
    const job = this.#job;
    const replaces = index === undefined ? undefined : this.#picture.awaitingSuccessor.get(index);
    const body = podOfJob(job, { ...(index !== undefined && { index }), replaces });
    try {
      const path = `/api/v1/namespaces/${encodeURIComponent(job.namespace)}/pods`;
      const pod = readJobPod(await client.create(path, body, { signal }));
      ownPods.created(pod);
      this.#tally.active++;
      onEvent(job, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.name}`);
    } catch (error) {
      // In a namespace that goes, all goes.
      if (error instanceof ApiError && error.message.includes('because it is being terminated')) return;
      this.#failed(error);
      if (!this.#options.signal.aborted) onEvent(job, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
    }
  }

  #sayWhetherSuspended(): void {
    const { nowMs, onEvent } = this.#options;
    const said = (reason: string, message: string, status: string): boolean =>
      setCondition(this.#status, newCondition('Suspended', reason, message, nowMs, status));
    if (this.#job.spec.suspend) {
      if (!said('JobSuspended', 'Job suspended', 'True')) return;
      // It counts from when the Job goes on.
      delete this.#status.startTime;
      onEvent(this.#job, 'Normal', 'Suspended', 'Job suspended');
    } else if (said('JobResumed', 'Job resumed', 'False')) {
      this.#status.startTime = toKubernetesTime(nowMs);
      onEvent(this.#job, 'Normal', 'Resumed', 'Job resumed');
    }
  }

  async #track(): Promise<void> {
    const { nowMs, onStreak } = this.#options;
    /** uids of pods that are kept for counting */
    const kept = new Set(this.#picture.pods.filter(({ isTracked }) => isTracked).map(({ uid }) => uid));
    countReleased(this.#status, kept);
    const { release, isAll } = this.#writeDown();
    const last = this.#sayHowItEnds();
    if (await this.#write()) onStreak(this.#picture.streak);
    const problem = this.#problem;
    await this.#each(release, async (pod) => {
      if (await this.#release(pod)) kept.delete(pod.uid);
    });
    countReleased(this.#status, kept);
    const hasReleasedAll = this.#problem === problem;
    const { succeeded = [], failed = [] } = this.#status.uncountedTerminatedPods ?? {};
    const isOver =
      last !== undefined &&
      isAll &&
      hasReleasedAll &&
      succeeded.length + failed.length === 0 &&
      this.#tally.terminating === 0;
    if (isOver) {
      setCondition(this.#status, last);
      if (last.type === 'Complete') this.#status.completionTime = toKubernetesTime(nowMs);
    }
    await this.#write();
    if (isOver) this.#tellTheEnd(last);
  }

  /** Enters what has ended into the status; answers whom that lets go, and whether that is everybody. */
  #writeDown(): { readonly release: readonly JobPod[]; readonly isAll: boolean } {
    const picture = this.#picture;
    const { job } = picture;
    const status = this.#status;
    const succeeded = [...(status.uncountedTerminatedPods?.succeeded ?? [])];
    const failed = [...(status.uncountedTerminatedPods?.failed ?? [])];
    const known = { succeeded: new Set(succeeded), failed: new Set(failed) };
    const newIndexes: number[] = [];
    const release: JobPod[] = [];
    let isAll = true;
    for (const pod of picture.pods) {
      if (!pod.isTracked || !this.#maySayGoodbye(pod)) continue;
      if (newIndexes.length + succeeded.length + failed.length >= mostUncounted) {
        isAll = false;
        break;
      }
      release.push(pod);
      if (pod.phase === 'Succeeded' && !known.failed.has(pod.uid)) {
        if (!isIndexed(job)) {
          if (!known.succeeded.has(pod.uid)) succeeded.push(pod.uid);
        } else if (picture.hasValidIndex(pod) && !picture.succeededBefore.has(pod.index!)) {
          newIndexes.push(pod.index!);
        }
      } else if (hasFailed(pod, job) || this.#end?.type === 'FailureTarget') {
        // What a Job leaves behind that has failed has failed with it.
        const counts = !known.failed.has(pod.uid) && picture.hasValidIndex(pod) && failureOutcome(job, pod).counts;
        if (counts) failed.push(pod.uid);
      }
    }
    status.uncountedTerminatedPods = { succeeded, failed };
    if (isIndexed(job)) this.#sayIndexes(picture.succeededIndexes.with(newIndexes), picture.failedIndexes);
    return { release, isAll };
  }

  #maySayGoodbye(pod: JobPod): boolean {
    const picture = this.#picture;
    if (picture.job.isDeleting || this.#end !== undefined || pod.phase === 'Succeeded') return true;
    const isAwaiting = pod.index !== undefined && picture.awaitingSuccessor.get(pod.index)?.uid === pod.uid;
    return hasFailed(pod, picture.job) && !isAwaiting;
  }

  #sayIndexes(succeeded: IndexSet, failed: IndexSet | undefined): void {
    this.#status.succeeded = succeeded.size;
    this.#status.completedIndexes = String(succeeded);
    if (failed === undefined) delete this.#status.failedIndexes;
    else this.#status.failedIndexes = String(failed);
  }

  /** Says that the Job is about to end; answers the condition that says that it has. */
  #sayHowItEnds(): JobCondition | undefined {
    const end = this.#end;
    if (end === undefined) return undefined;
    if (!holds(this.#status, end.type)) setCondition(this.#status, end);
    const type = end.type === 'FailureTarget' ? 'Failed' : 'Complete';
    return newCondition(type, end.reason ?? '', end.message ?? '', this.#options.nowMs);
  }

  #tellTheEnd(last: JobCondition): void {
    const { onEvent } = this.#options;
    const job = this.#job;
    if (last.type === 'Failed') {
      onEvent(job, 'Warning', last.reason ?? '', last.message ?? '');
      return;
    }
    if ((this.#status.succeeded ?? 0) > (job.spec.completions ?? Infinity)) {
      const note = 'Too many succeeded pods running after completion count reached';
      onEvent(job, 'Warning', 'TooManySucceededPods', note);
    }
    onEvent(job, 'Normal', 'Completed', 'Job completed');
  }

  /** Whether there was something to write. */
  async #write(): Promise<boolean> {
    const job = this.#job;
    if (isSameStatus(job.status, this.#status)) return false;
    const { client, signal, ownJobs } = this.#options;
    const body = { ...job.raw, status: wireStatus(this.#status) };
    this.#job = readJob(await client.replace(`${jobPath(job)}/status`, body, { signal }));
    ownJobs.changed(this.#job);
    return true;
  }

  /** Takes the finalizer off; whether it is off now, be it that the pod is gone. */
  async #release(pod: JobPod): Promise<boolean> {
    if (!pod.isTracked) return true;
    const { client, signal, ownPods } = this.#options;
    try {
      ownPods.changed(readJobPod(await client.patch(podPath(pod), 'strategic-merge', releasePatch(pod), { signal })));
      return true;
    } catch (error) {
      if (isGone(error)) {
        ownPods.gone(pod);
        return true;
      }
      this.#failed(error);
      return false;
    }
  }

  #failed(error: unknown): void {
    this.#problem ??= toError(error);
  }

  /** A few at once, in order. */
  async #each<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
    for (let first = 0; first < items.length; first += concurrency) {
      await Promise.all(items.slice(first, first + concurrency).map(act));
    }
  }
}

/** Takes the finalizer of Jobs off exactly this pod. */
export function releasePatch(pod: JobPod): { readonly metadata: object } {
  return { metadata: { uid: pod.uid, '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } };
}

/** Makes exactly this pod nobody's, and takes the finalizer of Jobs off it. */
export function disownPatch(pod: JobPod, job: Job): object {
  return { metadata: { ...releasePatch(pod).metadata, ownerReferences: [{ $patch: 'delete', uid: job.uid }] } };
}

/** Whether the call says that the object is not there; that another one has its name shows in the watch. */
export function isGone(error: unknown): boolean {
  return error instanceof NotFoundError;
}

/** Moves those that nothing keeps any more from the uncounted into the counts. In place. */
function countReleased(status: JobStatus, kept: ReadonlySet<string>): void {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const still = { succeeded: succeeded.filter((uid) => kept.has(uid)), failed: failed.filter((uid) => kept.has(uid)) };
  status.succeeded = (status.succeeded ?? 0) + succeeded.length - still.succeeded.length;
  status.failed = (status.failed ?? 0) + failed.length - still.failed.length;
  status.uncountedTerminatedPods = still;
}

/** A server may answer with a Status instead. */
function isPod(answer: unknown): boolean {
  return (answer as { readonly kind?: string }).kind === 'Pod';
}
