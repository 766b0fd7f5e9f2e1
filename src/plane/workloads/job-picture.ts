import { hasFailed, failureOutcome } from './failure-policy.ts';
import { delayAfter, streakAfter } from './failure-streak.ts';
import type { FailureStreak } from './failure-streak.ts';
import { IndexSet } from './index-set.ts';
import { conditionOf, holds, isIndexed } from './job.ts';
import type { Job, JobCondition } from './job.ts';
import { isActive, isTerminating } from './job-pod.ts';
import type { JobPod } from './job-pod.ts';
import { newCondition } from './job-status.ts';
import { successByPolicy } from './success-policy.ts';

/** Made and deleted at once, at most. */
const mostChanges = 500;

/** What is to be done about the pods of a Job. */
export interface PodPlan {
  readonly remove: readonly JobPod[];
  /** The index of each pod to make; undefined ones for a Job without indexes. */
  readonly create: readonly (number | undefined)[];
  /** Pods that are wanted have to wait for so long, because others have failed; in milliseconds. */
  readonly delayMs: number;
}

/** Everything that follows from a Job and its pods as they are at one moment. Computes only; nothing is changed. */
export class JobPicture {
  readonly job: Job;
  /** In the order of their indexes and creation. */
  readonly pods: readonly JobPod[];
  readonly nowMs: number;
  readonly active: readonly JobPod[];
  readonly terminating: number;
  readonly completions: number | undefined;
  /** What the status says already, and with what has ended since. */
  readonly succeededBefore: IndexSet;
  readonly succeededIndexes: IndexSet;
  /** Of a Job that limits the failures of each index. */
  readonly failedIndexes: IndexSet | undefined;
  readonly succeeded: number;
  readonly failed: number;
  readonly streak: FailureStreak;
  /** index -> the pod that failed last, kept until its successor, which takes over its count, is there */
  readonly awaitingSuccessor: ReadonlyMap<number, JobPod>;

  constructor(job: Job, pods: readonly JobPod[], streak: FailureStreak, nowMs: number) {
    this.job = job;
    this.nowMs = nowMs;
    this.pods = [...pods].sort(
      (a, b) => (a.index ?? -1) - (b.index ?? -1) || a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1),
    );
    this.active = this.pods.filter(isActive);
    this.terminating = this.pods.filter(isTerminating).length;
    this.completions = job.spec.completions;
    const { status, spec } = job;
    const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
    const counted = new Set([...succeeded, ...failed]);
    const isNew = (pod: JobPod): boolean => pod.isTracked && !counted.has(pod.uid) && this.hasValidIndex(pod);
    const newlySucceeded = this.pods.filter((pod) => pod.phase === 'Succeeded' && isNew(pod));
    const newlyFailed = this.pods.filter((pod) => hasFailed(pod, job) && isNew(pod));
    const limit = spec.completions ?? 0;
    this.succeededBefore = isIndexed(job) ? IndexSet.parse(status.completedIndexes, limit) : IndexSet.empty;
    const ended = this.pods.filter((pod) => pod.phase === 'Succeeded' && pod.isTracked && this.hasValidIndex(pod));
    this.succeededIndexes = isIndexed(job)
      ? this.succeededBefore.with(ended.map(({ index }) => index!))
      : IndexSet.empty;
    this.failedIndexes = this.#failedIndexes(limit);
    this.succeeded = isIndexed(job)
      ? this.succeededIndexes.size
      : (status.succeeded ?? 0) + succeeded.length + newlySucceeded.length;
    const newFailures = newlyFailed.filter((pod) => failureOutcome(job, pod).counts);
    this.failed = (status.failed ?? 0) + failed.length + newFailures.length;
    this.streak = streakAfter(streak, newlySucceeded, newlyFailed);
    this.awaitingSuccessor = this.#awaitingSuccessor();
  }

  /** An Indexed Job does not know what to do with a pod that has none. */
  hasValidIndex({ index }: JobPod): boolean {
    return !isIndexed(this.job) || (index !== undefined && index < (this.completions ?? 0));
  }

  /** Whether the Job is over, by what was said before, then by its failures, then by its policy of success; else undefined. */
  get end(): JobCondition | undefined {
    const { job, nowMs } = this;
    const { status, spec } = job;
    if (holds(status, 'SuccessCriteriaMet')) return conditionOf(status, 'SuccessCriteriaMet');
    if (holds(status, 'FailureTarget')) return conditionOf(status, 'FailureTarget');
    const fails = (reason: string, message: string): JobCondition =>
      newCondition('FailureTarget', reason, message, nowMs);
    for (const pod of this.pods) {
      const why = hasFailed(pod, job) ? failureOutcome(job, pod).failsJob : undefined;
      if (why !== undefined) return fails('PodFailurePolicy', why);
    }
    if (this.failed > spec.backoffLimit || this.#restartsTooOften()) {
      return fails('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
    }
    if (this.untilDeadlineMs !== undefined && this.untilDeadlineMs <= 0) {
      return fails('DeadlineExceeded', 'Job was active longer than specified deadline');
    }
    const { failedIndexes } = this;
    if (failedIndexes !== undefined && failedIndexes.size > 0) {
      if (failedIndexes.size > (spec.maxFailedIndexes ?? Infinity)) {
        const message = 'Job has exceeded the specified maximal number of failed indexes';
        return fails('MaxFailedIndexesExceeded', message);
      }
      if (failedIndexes.size + this.succeededIndexes.size >= (this.completions ?? Infinity)) {
        return fails('FailedIndexes', 'Job has failed indexes');
      }
    }
    const why = isIndexed(job) ? successByPolicy(job, this.succeededIndexes) : undefined;
    return why === undefined ? undefined : newCondition('SuccessCriteriaMet', 'SuccessPolicy', why, nowMs);
  }

  /** What is left of `spec.activeDeadlineSeconds`; undefined when it does not run. */
  get untilDeadlineMs(): number | undefined {
    const { spec, status } = this.job;
    if (spec.activeDeadlineSeconds === undefined || status.startTime === undefined || spec.suspend) return undefined;
    return Date.parse(status.startTime) + spec.activeDeadlineSeconds * 1000 - this.nowMs;
  }

  /** Whether so many pods have succeeded as were asked for, when `active` are left. */
  isComplete(active: number): boolean {
    return active === 0 && this.succeeded >= (this.completions ?? 1);
  }

  get plan(): PodPlan {
    const { job } = this;
    const { spec } = job;
    const nothing = { remove: [], create: [], delayMs: 0 };
    if (spec.suspend) return { ...nothing, remove: this.active };
    const wanted = this.#wantedActive();
    const remove = this.#superfluous(Math.max(0, this.active.length - wanted)).slice(0, mostChanges);
    if (remove.length > 0) return { ...nothing, remove };
    const dying = spec.podReplacementPolicy === 'Failed' ? this.terminating : 0;
    const missing = Math.min(wanted - this.active.length - dying, mostChanges);
    if (missing <= 0) return nothing;
    const perIndex = spec.backoffLimitPerIndex !== undefined;
    const delayMs = perIndex ? 0 : delayAfter(this.streak, this.nowMs);
    if (delayMs > 0) return { ...nothing, delayMs };
    if (!isIndexed(job)) return { ...nothing, create: Array.from({ length: missing }, () => undefined) };
    const indexes = this.#pendingIndexes(missing);
    const delays = indexes.map((index) => this.#delayOfIndex(index));
    const create = indexes.filter((_, position) => delays[position] === 0);
    const soonest = delays.reduce((least, delay) => Math.min(least, delay), Infinity);
    return { ...nothing, create, delayMs: create.length > 0 || delays.length === 0 ? 0 : soonest };
  }

  #wantedActive(): number {
    const { parallelism } = this.job.spec;
    if (this.completions === undefined) return this.succeeded > 0 ? this.active.length : parallelism;
    return Math.max(0, Math.min(parallelism, this.completions - this.succeeded));
  }

  /** At least so many: those without an index of their own, and then those that have come least far. */
  #superfluous(least: number): JobPod[] {
    const { active } = this;
    const byProgress = [...active].sort(lessProgress);
    if (!isIndexed(this.job)) return byProgress.slice(0, least);
    /** index -> the pod that has come farthest */
    const keepers = new Map<number, JobPod>();
    for (const pod of byProgress) if (this.hasValidIndex(pod)) keepers.set(pod.index!, pod);
    const doubles = active.filter((pod) => keepers.get(pod.index ?? -1) !== pod);
    if (doubles.length >= least) return doubles;
    const others = byProgress.filter((pod) => keepers.get(pod.index ?? -1) === pod);
    return [...doubles, ...others.slice(0, least - doubles.length)];
  }

  #pendingIndexes(count: number): number[] {
    const taken =
      this.job.spec.podReplacementPolicy === 'Failed'
        ? this.pods.filter((pod) => isActive(pod) || isTerminating(pod))
        : this.active;
    const done = this.succeededIndexes.union(this.failedIndexes ?? IndexSet.empty);
    const indexes = taken.flatMap(({ index }) => (index === undefined ? [] : [index]));
    return done.with(indexes).missing(count, this.completions ?? 0);
  }

  #delayOfIndex(index: number): number {
    const last = this.awaitingSuccessor.get(index);
    if (last === undefined) return 0;
    const failures = last.failuresBefore + last.ignoredBefore + 1;
    return delayAfter({ failures, lastAt: last.finishedAt }, this.nowMs);
  }

  /** Only pods that restart by themselves: the others show it by failing. */
  #restartsTooOften(): boolean {
    const { template, backoffLimit } = this.job.spec;
    if (template.spec.restartPolicy !== 'OnFailure') return false;
    const alive = this.pods.filter(({ phase }) => phase === 'Running' || phase === 'Pending');
    const restarts = alive.reduce((sum, pod) => sum + pod.restarts, 0);
    return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
  }

  #failedIndexes(limit: number): IndexSet | undefined {
    const { job } = this;
    const { backoffLimitPerIndex } = job.spec;
    if (backoffLimitPerIndex === undefined || !isIndexed(job)) return undefined;
    const failed = this.pods.filter((pod) => {
      if (!pod.isTracked || !this.hasValidIndex(pod) || !hasFailed(pod, job)) return false;
      const { counts, failsIndex } = failureOutcome(job, pod);
      return failsIndex || (counts && pod.failuresBefore >= backoffLimitPerIndex);
    });
    return IndexSet.parse(job.status.failedIndexes, limit).with(failed.map(({ index }) => index!));
  }

  #awaitingSuccessor(): ReadonlyMap<number, JobPod> {
    const found = new Map<number, JobPod>();
    const { job, failedIndexes } = this;
    if (failedIndexes === undefined) return found;
    const active = new Set(this.active.map(({ index }) => index));
    for (const pod of this.pods) {
      if (!pod.isTracked || !this.hasValidIndex(pod) || !hasFailed(pod, job)) continue;
      const index = pod.index!;
      if (this.succeededIndexes.has(index) || failedIndexes.has(index) || active.has(index)) continue;
      const known = found.get(index);
      if (known === undefined || isLaterFailure(pod, known)) found.set(index, pod);
    }
    return found;
  }
}

function isLaterFailure(pod: JobPod, known: JobPod): boolean {
  const failures = (each: JobPod): number => each.failuresBefore + each.ignoredBefore;
  return failures(pod) >= failures(known) && pod.finishedAt >= known.finishedAt;
}

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** Those whose loss costs least come first: without a node, not running, not ready, restarted often, young. */
function lessProgress(a: JobPod, b: JobPod): number {
  return (
    Number(a.isScheduled) - Number(b.isScheduled) ||
    (phaseRank[a.phase] ?? 0) - (phaseRank[b.phase] ?? 0) ||
    Number(a.isReady) - Number(b.isReady) ||
    b.restarts - a.restarts ||
    b.createdAt - a.createdAt ||
    (a.name < b.name ? 1 : -1)
  );
}
