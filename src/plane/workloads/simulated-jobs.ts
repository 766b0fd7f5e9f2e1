import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { toError } from '../../base/to-error.ts';
import { compileLabelSelector } from '../../api/label-selector.ts';
import { podPath } from '../../api/pod-path.ts';
import { ConflictError, NotFoundError } from '../../client/api-errors.ts';
import { EventRecorder } from '../../client/event-recorder.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { isRetryable } from '../../client/retry.ts';
import type { Transport } from '../../client/transport.ts';
import type { Reflector } from '../../informer/reflector.ts';
import { createMetricRegistry } from '../../observability/metric-registry.ts';
import { WorkQueueMetrics } from '../../controller/work-queue/work-queue-metrics.ts';
import { WorkQueue } from '../../controller/work-queue/work-queue.ts';
import { simulatedReflector } from '../nodes/simulated-reflector.ts';
import type { OnSimulationProblem } from '../nodes/simulation-problem.ts';
import { noFailures } from './failure-streak.ts';
import type { FailureStreak } from './failure-streak.ts';
import { conditionOf, isFinished, isManagedElsewhere, jobPath, readJob } from './job.ts';
import type { Job } from './job.ts';
import { disownPatch, isGone, JobPass, releasePatch } from './job-pass.ts';
import { readJobPod } from './job-pod.ts';
import type { JobPod } from './job-pod.ts';
import { OwnWrites } from './own-writes.ts';
import { PodRoom } from './pod-room.ts';

export interface SimulatedJobsOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** For the jitter of retries only. */
  readonly random: Random;
  /** Jobs that are looked at at the same time, at most. Default 4. */
  readonly workers?: number;
  /** How long changes of pods and statuses are gathered before a Job is looked at, in milliseconds. Default 100. */
  readonly settleMs?: number;
  /**
   * Pods of the whole plane beyond which none is made any more, so that a Job of a billion pods does not end it. What has ended counts until it
   * is deleted. Default 10,000.
   */
  readonly mostPods?: number;
  /** Told of what went wrong and is tried again. Default: nobody is. */
  readonly onProblem?: OnSimulationProblem;
}

/** What a timer can wait. */
const longestTimerMs = 2 ** 31 - 1;
/** After so long the watch must have shown what a call has left. */
const overdueMs = 30_000;

/**
 * A stand-in for the controller of Jobs that a cluster has, and for the one that removes them when their time after the end is over, as an
 * ordinary API client: makes pods of Jobs, indexed ones too, replaces what fails, counts what ends, and says so in status and
 * Events as kube-controller-manager does. It lets pods go that a Job no longer selects; it does not adopt pods that somebody else has made.
 * Only one may act on a plane at a time.
 */
export class SimulatedJobs {
  readonly #options: SimulatedJobsOptions;
  readonly #client: KubeClient;
  readonly #settleMs: number;
  readonly #room: PodRoom;
  readonly #jobs: Reflector<Job>;
  readonly #pods: Reflector<JobPod>;
  readonly #ownJobs: OwnWrites<Job>;
  readonly #ownPods: OwnWrites<JobPod>;
  readonly #recorder: EventRecorder;
  /** Keys of Jobs. */
  readonly #queue: WorkQueue;
  /** Keys of pods that have nobody to be counted by. */
  readonly #released: WorkQueue;
  /** Job uid -> its failures in a row */
  readonly #streaks = new Map<string, FailureStreak>();
  /** Keys of Jobs that time alone will change: pods wait for the end of a back-off, or a deadline comes. */
  readonly #waiting = new Set<string>();
  /** Jobs that are being looked at. */
  #looking = 0;
  #isSynced = false;

  constructor(options: SimulatedJobsOptions) {
    const { transport, clock, workers = 4 } = options;
    this.#options = options;
    this.#settleMs = options.settleMs ?? 100;
    this.#client = new KubeClient({ transport, clock, userAgent: 'tutti-simulated-jobs' });
    this.#jobs = this.#reflectJobs();
    this.#pods = this.#reflectPods();
    const now = (): number => clock.monotonic();
    this.#ownJobs = new OwnWrites(this.#jobs.store, now);
    this.#ownPods = new OwnWrites(this.#pods.store, now);
    this.#room = new PodRoom({
      most: options.mostPods ?? 10_000,
      present: () => this.#pods.store.size + [...this.#ownPods.unseen()].length,
      wake: (key) => this.#queue.add(key),
    });
    this.#recorder = new EventRecorder({
      client: this.#client,
      clock,
      reportingController: 'job-controller',
      reportingInstance: 'tutti-simulated-jobs',
    });
    const metrics = new WorkQueueMetrics(createMetricRegistry({ processMetrics: false }));
    this.#queue = this.#workQueue('jobs', workers, metrics, (key, signal) => this.#look(key, signal));
    this.#released = this.#workQueue('released-pods', workers, metrics, (key, signal) => this.#releasePod(key, signal));
  }

  /** Resolves when it has seen what there is, and begins. */
  async start(): Promise<void> {
    const all = [this.#jobs, this.#pods];
    for (const reflector of all) reflector.start();
    await Promise.all(all.map((reflector) => reflector.synced()));
    this.#isSynced = true;
    for (const { key } of this.#jobs.store.values()) this.#queue.add(key);
    for (const pod of this.#pods.store.values()) this.#lookForOwner(pod);
    this.#queue.start();
    this.#released.start();
  }

  /** Whether something will become of a Job by itself, however long that takes. That one is removed long after its end does not count. */
  get isMoving(): boolean {
    return this.#looking > 0 || this.#waiting.size > 0;
  }

  /** Resolves when nothing is under way. Objects stay as they are; another one can go on from there. */
  async stop(): Promise<void> {
    await Promise.all([this.#queue.stop(), this.#released.stop()]);
    this.#recorder.stop();
    await Promise.all([this.#jobs.stop(), this.#pods.stop()]);
  }

  #reflectJobs(): Reflector<Job> {
    const context = { ...this.#options, client: this.#client };
    return simulatedReflector<Job>(context, {
      path: '/apis/batch/v1/jobs',
      project: readJob,
      handler: {
        onAdd: (job) => this.#jobChanged(job, 0),
        onUpdate: (previous, job) => {
          const isSpec = JSON.stringify(previous.spec) !== JSON.stringify(job.spec) || previous.uid !== job.uid;
          this.#jobChanged(job, isSpec ? 0 : this.#settleMs);
        },
        onDelete: (job) => {
          this.#ownJobs.sawGone(job);
          this.#streaks.delete(job.uid);
          this.#waiting.delete(job.key);
          if (!this.#isSynced) return;
          // What was put off for it, for days perhaps, is over.
          this.#queue.add(job.key);
          for (const pod of this.#podsNaming(job)) this.#lookForOwner(pod);
        },
      },
    });
  }

  #reflectPods(): Reflector<JobPod> {
    const changed = (pod: JobPod): void => {
      this.#ownPods.saw(pod);
      if (!this.#isSynced) return;
      this.#wakeJobOf(pod);
      this.#lookForOwner(pod);
    };
    const context = { ...this.#options, client: this.#client };
    return simulatedReflector<JobPod>(context, {
      path: '/api/v1/pods',
      project: readJobPod,
      indexers: { job: ({ namespace, owner }) => (owner === undefined ? [] : [`${namespace}/${owner.uid}`]) },
      handler: {
        onAdd: changed,
        onUpdate: (previous, pod) => {
          if (this.#isSynced && previous.owner?.uid !== pod.owner?.uid) this.#wakeJobOf(previous);
          changed(pod);
        },
        onDelete: (pod) => {
          this.#ownPods.sawGone(pod);
          if (!this.#isSynced) return;
          this.#wakeJobOf(pod);
          this.#room.look();
        },
      },
    });
  }

  #workQueue(
    name: string,
    workers: number,
    metrics: WorkQueueMetrics,
    process: (key: string, signal: AbortSignal) => Promise<void>,
  ): WorkQueue {
    const { clock, random, onProblem } = this.#options;
    return new WorkQueue({
      name,
      clock,
      random,
      workers,
      metrics,
      process,
      backoff: { initialMs: 100, maxMs: 60_000 },
      onRetry: ({ key, error }) => {
        // Somebody has changed the Job meanwhile, which the next look takes into account.
        if (error instanceof ConflictError) return;
        onProblem?.({
          message: 'something about a Job could not be done, which is tried again',
          subject: key,
          error: toError(error),
        });
      },
    });
  }

  #jobChanged(job: Job, delayMs: number): void {
    this.#ownJobs.saw(job);
    if (this.#isSynced) this.#queue.add(job.key, delayMs);
  }

  #wakeJobOf({ namespace, owner }: JobPod): void {
    if (owner !== undefined) this.#queue.add(`${namespace}/${owner.name}`, this.#settleMs);
  }

  /** A pod that no Job will count any more must not be kept for counting. */
  #lookForOwner(pod: JobPod): void {
    if (this.#isUncountable(pod)) this.#released.add(pod.key);
  }

  #isUncountable(pod: JobPod): boolean {
    if (!pod.isTracked) return false;
    const { owner } = pod;
    if (owner === undefined) return pod.isOrphan;
    const job = this.#jobs.store.get(`${pod.namespace}/${owner.name}`);
    if (job?.uid !== owner.uid) return true;
    return isFinished(job) && !isManagedElsewhere(job);
  }

  async #releasePod(key: string, signal: AbortSignal): Promise<void> {
    const known = this.#pods.store.get(key);
    const pod = known && this.#ownPods.newest(known);
    if (pod === undefined || !this.#isUncountable(pod)) return;
    await this.#patchPod(pod, releasePatch(pod), signal);
  }

  /** Unless it is gone. */
  async #patchPod(pod: JobPod, patch: object, signal: AbortSignal): Promise<void> {
    try {
      const left = await this.#client.patch(podPath(pod), 'strategic-merge', patch, { signal });
      this.#ownPods.changed(readJobPod(left));
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  async #look(key: string, signal: AbortSignal): Promise<void> {
    this.#looking++;
    this.#waiting.delete(key);
    this.#room.forget(key);
    try {
      await this.#process(key, signal);
    } catch (error) {
      // What the server refuses it will refuse again, unless somebody changes something.
      if (error instanceof ConflictError || isRetryable(error, true)) this.#waiting.add(key);
      throw error;
    } finally {
      this.#looking--;
      // Whoever was woken for the room may not want it any more.
      this.#room.look();
    }
  }

  async #process(key: string, signal: AbortSignal): Promise<void> {
    await this.#settleOverdue(signal);
    const known = this.#jobs.store.get(key);
    const job = known && this.#ownJobs.newest(known);
    if (job === undefined || isManagedElsewhere(job)) return;
    if (isFinished(job)) {
      this.#streaks.delete(job.uid);
      await this.#expire(job, signal);
      return;
    }
    const { clock } = this.#options;
    const pods = await this.#claim(job, signal);
    const pass = new JobPass(job, pods, this.#streaks.get(job.uid) ?? noFailures, {
      client: this.#client,
      signal,
      nowMs: clock.now(),
      ownJobs: this.#ownJobs,
      ownPods: this.#ownPods,
      room: this.#room,
      onEvent: (about, type, reason, note) => this.#tell(about, type, reason, note),
      onStreak: (streak) => {
        // It may be gone by the time the answer comes.
        if (this.#jobs.store.get(key)?.uid === job.uid) this.#streaks.set(job.uid, streak);
      },
    });
    const { againMs, refusedPods } = await pass.run();
    if (againMs !== undefined) {
      this.#waiting.add(key);
      this.#queue.add(key, Math.min(againMs, longestTimerMs));
    }
    if (refusedPods > 0) this.#tellFull(job);
  }

  #podsNaming({ namespace, uid }: Job): Iterable<JobPod> {
    return this.#pods.store.byIndex('job', `${namespace}/${uid}`);
  }

  #podsOf(job: Job): JobPod[] {
    const pods = [...this.#podsNaming(job)].flatMap((pod) => this.#ownPods.newest(pod) ?? []);
    for (const pod of this.#ownPods.unseen()) if (pod.owner?.uid === job.uid) pods.push(pod);
    // The newest may be one that names it no longer.
    return pods.filter(({ owner }) => owner?.uid === job.uid);
  }

  /** The pods that are its own; those that name it and that it does not select are let go, unless they go with it. */
  async #claim(job: Job, signal: AbortSignal): Promise<JobPod[]> {
    const selects = compileLabelSelector(job.spec.selector);
    const own: JobPod[] = [];
    for (const pod of this.#podsOf(job)) {
      if (selects(pod.labels)) own.push(pod);
      else if (!job.isDeleting) await this.#patchPod(pod, disownPatch(pod, job), signal);
    }
    return own;
  }

  #tellFull(job: Job): void {
    const note = `Error creating: there are ${this.#room.most} pods, and the simulation makes no more; what has ended counts until it is deleted: delete Jobs that are done, or give them ttlSecondsAfterFinished`;
    this.#tell(job, 'Warning', 'FailedCreate', note);
    this.#room.wait(job.key);
  }

  #tell({ namespace, name, uid }: Job, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const regarding = { apiVersion: 'batch/v1', kind: 'Job', namespace, name, uid };
    this.#recorder.record({ regarding, type, reason, action: reason, note });
  }

  /** Removes it when its time after the end is over. */
  async #expire(job: Job, signal: AbortSignal): Promise<void> {
    const { ttlSecondsAfterFinished: seconds } = job.spec;
    if (seconds === undefined || job.isDeleting) return;
    const end = conditionOf(job.status, 'Complete') ?? conditionOf(job.status, 'Failed');
    const finishedAt = Date.parse(end?.lastTransitionTime ?? '');
    if (Number.isNaN(finishedAt)) return;
    const leftMs = finishedAt + seconds * 1000 - this.#options.clock.now();
    if (leftMs > 0) {
      this.#queue.add(job.key, Math.min(leftMs, longestTimerMs));
      return;
    }
    // Its pods go with it.
    const body = {
      propagationPolicy: 'Background',
      preconditions: { uid: job.uid, resourceVersion: job.resourceVersion },
    };
    try {
      await this.#client.delete(jobPath(job), body, { signal });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  /** What a call has left and no watch ever showed: a list may have come between. */
  async #settleOverdue(signal: AbortSignal): Promise<void> {
    for (const pod of this.#ownPods.overdue(overdueMs)) {
      try {
        const now = readJobPod(await this.#client.get(podPath(pod), { signal }));
        this.#ownPods.forget(pod);
        if (now.uid === pod.uid) this.#ownPods.created(now);
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
        this.#ownPods.forget(pod);
      }
    }
    for (const job of this.#ownJobs.overdue(overdueMs)) this.#ownJobs.forget(job);
  }
}
