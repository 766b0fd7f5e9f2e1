import type { Job } from '../api/job.ts';
import { latestTimeMs } from '../api/kubernetes-time.ts';
import { evictionReason, succeededByItself } from '../api/pod.ts';
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
  /** A pod ran for longer than declared. Called once per pod. */
  readonly overrun: (pod: Pod, declaredSeconds: number) => void;
}

/** By when a pod ends according to its declaration. */
interface DeclaredEnd {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** True if the kubelet or the Job controller ends the pod. */
  readonly isEnforced: boolean;
}

/** What a pod has declared on its node. Later declarations do not excuse that it runs for longer. */
interface Promised {
  readonly owner: string;
  /** The shortest run time of the annotation while there was no deadline, in seconds; Infinity: none. */
  readonly seconds: number;
  /** The earliest end that the Job's deadline has set, in milliseconds since the epoch; Infinity: none. */
  readonly jobEnd: number;
  /** By how much the wall clock was ahead of Clock.monotonic() when the pod was first seen, in milliseconds. */
  readonly clockOffset: number;
}

/** The last run times of an owner's pods, in milliseconds. */
interface History {
  readonly last: number;
  readonly secondLast: number | undefined;
}

const unknown: ExpectedEnd = { at: Infinity, isEstimated: false };
/** A pod may run for this much longer than declared. Starting and stopping containers takes time. */
const toleranceMs = 30_000;
/** The same for a pod that is ended at its deadline, because its containers then still have their grace period. */
const enforcedToleranceMs = 2 * toleranceMs;
/** Maximum number of owners to remember; beyond it the oldest is forgotten. */
const maxOwners = 10_000;

/**
 * How long pods run: declared by `activeDeadlineSeconds` of the pod or its Job, which Kubernetes enforces, or by the annotation tutti.dev/runtime.
 * Without a declaration, the mean of the last two pods of the same owner that succeeded is an estimate. A pod's owner is its controller, or the
 * CronJob of its Job: each Job of a CronJob has a new name. Pods without a controller have their namespace as owner.
 *
 * A pod that runs for longer than declared is an overrun. It is assumed to run for as long again as it has exceeded its time, and its owner's
 * annotations are ignored for a while. Its user can also evade a deadline: raise that of the Job, take the pod from the Job, or delete the pod
 * with a longer grace period. Then the owner's deadlines are ignored as well.
 */
export class RunTimes {
  readonly #options: RunTimesOptions;
  /** owner -> run times of its last pods, the most recent owner last */
  readonly #histories = new Map<string, History>();
  /** owner -> Clock.monotonic() until which its annotations are ignored */
  readonly #penalties = new Map<string, number>();
  /** owner -> Clock.monotonic() until which its deadlines are ignored */
  readonly #deadlinePenalties = new Map<string, number>();
  /** uid of a pod on a node -> what it has declared there */
  readonly #promises = new Map<string, Promised>();
  /** uids of pods on nodes whose overrun was reported */
  readonly #overruns = new Set<string>();

  constructor(options: RunTimesOptions) {
    this.#options = options;
  }

  /** Returns the end of a pod on a node. */
  endOf(pod: Pod): ExpectedEnd {
    const now = this.#options.clock.now();
    const startedAt = pod.startedAt === 0 ? now : pod.startedAt * 1000;
    const declared = this.#declaredEndOf(pod, startedAt);
    this.#checkPromise(pod, declared, startedAt);
    if (pod.deleting) return endAt(pod.deletionTimestamp * 1000, now, false);
    if (declared === undefined) return this.#estimatedEndOf(pod, startedAt, now);
    return endAt(declared.at, now, false);
  }

  /**
   * Returns when the last of these pods would end if they started now, in milliseconds since the epoch; Infinity unless declarations that count
   * say so for all of them.
   */
  endIfStartedNow(pods: readonly Pod[]): number {
    const { clock } = this.#options;
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    let latest = 0;
    for (const pod of pods) {
      const declared = this.#declaredEndOf(pod, now);
      // A deadline that has passed ends no pod that starts now.
      if (declared === undefined || declared.at < now) return Infinity;
      const penalties = declared.isEnforced ? this.#deadlinePenalties : this.#penalties;
      if ((penalties.get(this.#ownerOf(pod)) ?? 0) > monotonic) return Infinity;
      latest = Math.max(latest, declared.at);
    }
    return latest;
  }

  /** Returns what `endIfStartedNow` reads of the pod, as text; empty if no declaration counts. */
  keyOf(pod: Pod): string {
    if (this.endIfStartedNow([pod]) === Infinity) return '';
    const job = this.#jobOf(pod);
    const jobDeadline = job === undefined || job.deadlineSeconds === 0 ? '' : `${job.startedAt}+${job.deadlineSeconds}`;
    return `${pod.deadlineSeconds}/${pod.runtimeSeconds}/${jobDeadline}/${longGraceMs(pod)}`;
  }

  /**
   * `pod`: the pod as it now is on a node; undefined if it is on no node. A later declaration may correct its expected end, but does not excuse
   * that it runs for longer than it declared at first.
   */
  seen(uid: string, pod: Pod | undefined): void {
    if (pod === undefined) {
      this.#promises.delete(uid);
      return;
    }
    const before = this.#promises.get(uid);
    const promised = this.#promisedBy(pod);
    if (pod.deadlineSeconds === 0 && promised.seconds === Infinity && promised.jobEnd === Infinity) return;
    this.#promises.set(uid, {
      owner: before?.owner ?? promised.owner,
      seconds: Math.min(before?.seconds ?? Infinity, promised.seconds),
      jobEnd: Math.min(before?.jobEnd ?? Infinity, promised.jobEnd),
      clockOffset: before?.clockOffset ?? promised.clockOffset,
    });
  }

  /** The pod has left its node: it has succeeded, failed, or is gone. */
  left(pod: Pod): void {
    const now = this.#options.clock.now();
    // Reports an overrun that no prediction has seen.
    if (pod.startedAt !== 0) this.endOf(pod);
    this.#overruns.delete(pod.uid);
    if (pod.startedAt !== 0 && pod.controller !== undefined && succeededByItself(pod))
      this.#record(this.#ownerOf(pod), Math.max(0, now - pod.startedAt * 1000));
  }

  #declaredEndOf(pod: Pod, startedAt: number): DeclaredEnd | undefined {
    const ownDeadline = pod.deadlineSeconds === 0 ? Infinity : startedAt + pod.deadlineSeconds * 1000;
    const deadline = Math.min(ownDeadline, this.#jobDeadlineOf(pod)) + longGraceMs(pod);
    // The API does not limit the deadline of a Job.
    if (deadline <= latestTimeMs) return { at: deadline, isEnforced: true };
    return pod.runtimeSeconds === 0 ? undefined : { at: startedAt + pod.runtimeSeconds * 1000, isEnforced: false };
  }

  /** Returns when the Job controller ends the pod's Job, in milliseconds since the epoch; Infinity if it does not. */
  #jobDeadlineOf(pod: Pod): number {
    const job = this.#jobOf(pod);
    if (job === undefined || job.deadlineSeconds === 0) return Infinity;
    // The Job controller creates the pods before it records the start.
    const startedAt = job.startedAt === 0 ? this.#options.clock.now() : job.startedAt * 1000;
    return startedAt + job.deadlineSeconds * 1000;
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

  #promisedBy(pod: Pod): Promised {
    const { clock } = this.#options;
    const declared = this.#declaredEndOf(pod, clock.now());
    return {
      owner: this.#ownerOf(pod),
      seconds: declared?.isEnforced === false ? pod.runtimeSeconds : Infinity,
      jobEnd: this.#jobDeadlineOf(pod) + longGraceMs(pod),
      clockOffset: clock.now() - clock.monotonic(),
    };
  }

  #checkPromise(pod: Pod, declared: DeclaredEnd | undefined, startedAt: number): void {
    const { clock } = this.#options;
    const promised = this.#promises.get(pod.uid);
    // The wall clock may have jumped ahead. Then the pods of all owners would seem to overrun.
    const now = promised === undefined ? clock.now() : Math.min(clock.now(), clock.monotonic() + promised.clockOffset);
    const deadline = declared?.isEnforced === true ? declared.at : Infinity;
    const enforcedEnd = promised === undefined ? deadline : Math.min(promised.jobEnd, deadline);
    const seconds = promised?.seconds ?? (declared?.isEnforced === false ? pod.runtimeSeconds : Infinity);
    const isPastDeadline = now > enforcedEnd + enforcedToleranceMs;
    if ((!isPastDeadline && now <= startedAt + seconds * 1000 + toleranceMs) || isDisrupted(pod)) return;
    const owner = promised?.owner ?? this.#ownerOf(pod);
    if (isPastDeadline) this.#reportOverrun(pod, owner, enforcedEnd - startedAt, true);
    else this.#reportOverrun(pod, owner, seconds * 1000, false);
  }

  #reportOverrun(pod: Pod, owner: string, declaredMs: number, evadesDeadline: boolean): void {
    if (this.#overruns.has(pod.uid)) return;
    this.#overruns.add(pod.uid);
    const { clock, penaltyMs, overrun } = this.#options;
    const until = clock.monotonic() + penaltyMs;
    putLast(this.#penalties, owner, until);
    if (evadesDeadline) putLast(this.#deadlinePenalties, owner, until);
    overrun(pod, Math.round(declaredMs / 1000));
  }

  #record(owner: string, ranMs: number): void {
    putLast(this.#histories, owner, { last: ranMs, secondLast: this.#histories.get(owner)?.last });
  }

  #ownerOf(pod: Pod): string {
    const { namespace, controller } = pod;
    const cronJob = this.#jobOf(pod)?.cronJob;
    if (cronJob !== undefined) return `${namespace}/CronJob/${cronJob}`;
    return controller === undefined ? namespace : `${namespace}/${controller.kind}/${controller.name}`;
  }
}

/** Returns by how much a pod may outlive its deadline: its containers have the whole grace period, of which the tolerance covers a part. */
function longGraceMs({ template }: Pod): number {
  return Math.max(0, template.terminationGracePeriodSeconds * 1000 - toleranceMs);
}

/** Returns whether the pod terminates, and not because its user wants it to. */
function isDisrupted({ deleting, disruptedBy }: Pod): boolean {
  return deleting && disruptedBy !== undefined && disruptedBy !== evictionReason;
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
