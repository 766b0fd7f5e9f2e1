import type { Job } from '../api/job.ts';
import { latestTimeMs } from '../api/kubernetes-time.ts';
import { succeededByItself } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { ListedObjectsView } from './listed-objects.ts';

/** When a pod on a node is expected to end. */
export interface ExpectedEnd {
  /** Milliseconds since the epoch; Infinity if unknown. */
  readonly at: number;
  /** True if no declaration says so: it is derived from earlier pods of its owner, or from the time by which it exceeds its declaration. */
  readonly isEstimated: boolean;
}

export interface RunTimesOptions {
  readonly listed: Pick<ListedObjectsView, 'get'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** How long further declarations of an owner are ignored after one of its pods ran for longer than declared. */
  readonly penaltyMs: number;
  /** A pod runs for longer than it, or its Job, declared in seconds. Called once per pod. */
  readonly overrun: (pod: Pod, declaredSeconds: number) => void;
}

/** The last run times of an owner's pods, in milliseconds. */
interface History {
  readonly last: number;
  readonly secondLast: number | undefined;
}

/** The shortest run times that a pod has declared on its node, in seconds; Infinity: none. */
interface Declared {
  /** From the start of the pod. */
  readonly pod: number;
  /** From the start of its Job. */
  readonly job: number;
}

const nothing: Declared = { pod: Infinity, job: Infinity };
const unknown: ExpectedEnd = { at: Infinity, isEstimated: false };
/** A pod may run for this much longer than declared. Starting and stopping containers takes time. */
const toleranceMs = 30_000;
/** Maximum number of owners to remember; beyond it the oldest is forgotten. */
const maxOwners = 10_000;

/**
 * How long pods run: declared by `activeDeadlineSeconds` of the pod or its Job, or by the annotation tutti.dev/runtime. Without a declaration,
 * the mean of the last two pods of the same owner that succeeded is an estimate. A pod's owner is its controller; the CronJob if that is a Job
 * of one; the namespace if it has none.
 *
 * A pod that runs for longer than it declared when it came to its node is an overrun. It is assumed to run for as long again as it has exceeded
 * its time, and its owner has no credit for a while: only the deadlines of its pods count, because nobody can raise them.
 */
export class RunTimes {
  readonly #options: RunTimesOptions;
  /** owner -> run times of its last pods, the most recent owner last */
  readonly #histories = new Map<string, History>();
  /** owner -> Clock.monotonic() until which only the deadlines of its pods count */
  readonly #penalties = new Map<string, number>();
  /** uid of a pod on a node -> what it has declared there */
  readonly #declared = new Map<string, Declared>();
  /** uids of pods on nodes whose overrun was reported */
  readonly #overruns = new Set<string>();

  constructor(options: RunTimesOptions) {
    this.#options = options;
  }

  /** Returns the end of a pod on a node. */
  endOf(pod: Pod): ExpectedEnd {
    const now = this.#options.clock.now();
    if (pod.deleting) return endAt(pod.deletionTimestamp * 1000, now, false);
    const startedAt = pod.startedAt === 0 ? now : pod.startedAt * 1000;
    this.#checkDeclared(pod, startedAt, now);
    const declared = this.#declaredEndOf(pod, startedAt, true);
    return declared === Infinity ? this.#estimatedEndOf(pod, startedAt, now) : endAt(declared, now, false);
  }

  /**
   * Returns when the last of these pods would end if they started now, in milliseconds since the epoch; Infinity unless declarations that count
   * say so for all of them.
   */
  endIfStartedNow(pods: readonly Pod[]): number {
    const now = this.#options.clock.now();
    let latest = 0;
    for (const pod of pods) {
      latest = Math.max(latest, this.#declaredEndOf(pod, now, this.#hasCredit(pod)));
      if (latest === Infinity) break;
    }
    return latest;
  }

  /** Returns what `endIfStartedNow` reads of the pod, as text; empty if no declaration counts. */
  keyOf(pod: Pod): string {
    if (this.endIfStartedNow([pod]) === Infinity) return '';
    if (!this.#hasCredit(pod)) return `${pod.deadlineSeconds}`;
    const job = this.#jobOf(pod);
    const jobDeadline = job === undefined || job.deadlineSeconds === 0 ? '' : `${job.startedAt}+${job.deadlineSeconds}`;
    return `${pod.deadlineSeconds}/${pod.runtimeSeconds}/${jobDeadline}`;
  }

  /**
   * `pod`: the pod as it now is on a node; undefined if it is on no node. A later declaration may correct its expected end, but does not excuse
   * that it runs for longer than it declared at first.
   */
  seen(uid: string, pod: Pod | undefined): void {
    if (pod === undefined) {
      this.#declared.delete(uid);
      return;
    }
    const before = this.#declared.get(uid) ?? nothing;
    const declared = this.#declaredNow(pod);
    if (declared.pod < before.pod || declared.job < before.job) {
      this.#declared.set(uid, {
        pod: Math.min(declared.pod, before.pod),
        job: Math.min(declared.job, before.job),
      });
    }
  }

  /** The pod has left its node: it has succeeded, failed, or is gone. */
  left(pod: Pod): void {
    const now = this.#options.clock.now();
    // Reports an overrun that no prediction has seen.
    if (pod.startedAt !== 0 && !pod.deleting) this.endOf(pod);
    this.#overruns.delete(pod.uid);
    if (pod.startedAt !== 0 && pod.controller !== undefined && succeededByItself(pod))
      this.#record(this.#ownerOf(pod), Math.max(0, now - pod.startedAt * 1000));
  }

  /** Returns when the pod ends as declared if it started then; Infinity if nothing says so. Without credit, only what nobody can raise counts. */
  #declaredEndOf(pod: Pod, startedAt: number, hasCredit: boolean): number {
    const own = pod.deadlineSeconds === 0 ? Infinity : startedAt + pod.deadlineSeconds * 1000;
    const deadline = hasCredit ? Math.min(own, this.#jobEndOf(pod)) : own;
    // The API does not limit the deadline of a Job.
    if (deadline <= latestTimeMs) return deadline;
    return hasCredit && pod.runtimeSeconds > 0 ? startedAt + pod.runtimeSeconds * 1000 : Infinity;
  }

  /** Returns when the Job controller ends the pod's Job, in milliseconds since the epoch; Infinity if it does not. */
  #jobEndOf(pod: Pod): number {
    const job = this.#jobOf(pod);
    if (job === undefined || job.deadlineSeconds === 0) return Infinity;
    // The Job controller creates the pods first.
    return job.deadlineSeconds * 1000 + (job.startedAt === 0 ? this.#options.clock.now() : job.startedAt * 1000);
  }

  #jobOf({ controller, namespace }: Pod): Job | undefined {
    if (controller?.kind !== 'Job') return undefined;
    const job = this.#options.listed.get('Job', namespace, controller.name);
    return job?.uid === controller.uid ? job : undefined;
  }

  #estimatedEndOf(pod: Pod, startedAt: number, now: number): ExpectedEnd {
    const history = pod.controller === undefined ? undefined : this.#histories.get(this.#ownerOf(pod));
    if (history === undefined) return unknown;
    const meanMs = (history.last + (history.secondLast ?? history.last)) / 2;
    return endAt(startedAt + meanMs, now, true);
  }

  /** Returns what is believed of the pod. The annotation is not if there is a deadline. */
  #declaredNow(pod: Pod): Declared {
    const job = this.#jobOf(pod);
    if (job !== undefined && job.deadlineSeconds > 0) return { pod: Infinity, job: job.deadlineSeconds };
    return pod.deadlineSeconds > 0 || pod.runtimeSeconds === 0 ? nothing : { pod: pod.runtimeSeconds, job: Infinity };
  }

  #checkDeclared(pod: Pod, startedAt: number, now: number): void {
    const declared = this.#declared.get(pod.uid) ?? this.#declaredNow(pod);
    if (declared === nothing || this.#overruns.has(pod.uid)) return;
    const jobStartedAt = (this.#jobOf(pod)?.startedAt ?? 0) * 1000 || Infinity;
    const isOverrun = (from: number, seconds: number): boolean => now > from + seconds * 1000 + toleranceMs;
    const exceedsOwn = isOverrun(startedAt, declared.pod);
    if (!exceedsOwn && !isOverrun(jobStartedAt, declared.job)) return;
    this.#overruns.add(pod.uid);
    const { clock, penaltyMs, overrun } = this.#options;
    putLast(this.#penalties, this.#ownerOf(pod), clock.monotonic() + penaltyMs);
    overrun(pod, exceedsOwn ? declared.pod : declared.job);
  }

  #hasCredit(pod: Pod): boolean {
    return (this.#penalties.get(this.#ownerOf(pod)) ?? 0) <= this.#options.clock.monotonic();
  }

  #record(owner: string, ranMs: number): void {
    putLast(this.#histories, owner, { last: ranMs, secondLast: this.#histories.get(owner)?.last });
  }

  /** Returns who declares the pod's run time. */
  #ownerOf(pod: Pod): string {
    const { namespace, controller } = pod;
    const cronJob = this.#jobOf(pod)?.cronJob;
    if (cronJob !== undefined) return `${namespace}/CronJob/${cronJob}`;
    return controller === undefined ? namespace : `${namespace}/${controller.kind}/${controller.name}`;
  }
}

/** Returns the end of a pod that is expected at this time. One that exceeds it is assumed to run for as long again as it has exceeded it. */
function endAt(at: number, now: number, isEstimated: boolean): ExpectedEnd {
  return at >= now ? { at, isEstimated } : { at: now + Math.max(toleranceMs, now - at), isEstimated: true };
}

/** Adds the entry as the most recent one, and forgets the oldest if there are too many. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > maxOwners) map.delete(map.keys().next().value!);
}
