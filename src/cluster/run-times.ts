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
  /** A pod ran for longer than its annotation declared. Called once per pod. */
  readonly overrun: (pod: Pod) => void;
}

/** The last run times of an owner's pods, in milliseconds. */
interface History {
  readonly last: number;
  readonly secondLast: number | undefined;
}

const unknown: ExpectedEnd = { at: Infinity, isEstimated: false };
/** A pod may run for this much longer than declared. Starting and stopping containers takes time. */
const toleranceMs = 30_000;
/** Maximum number of owners to remember; beyond it the oldest is forgotten. */
const maxOwners = 10_000;

/**
 * How long pods run: declared by `activeDeadlineSeconds` of the pod or its Job, which the API enforces, or by the annotation tutti.dev/runtime.
 * Without a declaration, the mean of the last two pods of the same owner that succeeded is an estimate.
 *
 * A pod that runs for longer than the annotation says is an overrun. It is assumed to run for as long again as it has exceeded its time, and
 * its owner's annotations are ignored for a while.
 */
export class RunTimes {
  readonly #options: RunTimesOptions;
  /** owner -> run times of its last pods, the most recent owner last */
  readonly #histories = new Map<string, History>();
  /** owner -> Clock.monotonic() until which its annotations are ignored */
  readonly #penalties = new Map<string, number>();
  /** uid of a pod on a node -> the shortest run time in seconds that its annotation has declared there */
  readonly #promises = new Map<string, number>();
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
    const declared = this.#declaredEndOf(pod, startedAt);
    if (declared?.isEnforced !== true) this.#checkPromise(pod, startedAt, now);
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
      if (declared === undefined) return Infinity;
      if (!declared.isEnforced && this.#penaltyOf(ownerOf(pod)) > monotonic) return Infinity;
      latest = Math.max(latest, declared.at);
    }
    return latest;
  }

  /** Returns what `endIfStartedNow` reads of the pod, as text; empty if no declaration counts. */
  keyOf(pod: Pod): string {
    const end = this.endIfStartedNow([pod]);
    if (end === Infinity) return '';
    const jobEnd = this.#jobDeadlineOf(pod);
    return `${pod.deadlineSeconds}/${pod.runtimeSeconds}/${jobEnd === Infinity ? '' : jobEnd}`;
  }

  /**
   * `pod`: the pod as it now is on a node; undefined if it is on no node. A later annotation may correct its expected end, but does not excuse
   * that it runs for longer than it declared at first.
   */
  seen(uid: string, pod: Pod | undefined): void {
    if (pod === undefined) this.#promises.delete(uid);
    else if (pod.runtimeSeconds > 0)
      this.#promises.set(uid, Math.min(pod.runtimeSeconds, this.#promises.get(uid) ?? Infinity));
  }

  /** The pod has left its node: it has succeeded, failed, or is gone. */
  left(pod: Pod): void {
    const now = this.#options.clock.now();
    // Reports an overrun that no prediction has seen.
    if (pod.startedAt !== 0 && !pod.deleting) this.endOf(pod);
    this.#overruns.delete(pod.uid);
    if (pod.startedAt !== 0 && pod.controller !== undefined && succeededByItself(pod))
      this.#record(ownerOf(pod), Math.max(0, now - pod.startedAt * 1000));
  }

  #declaredEndOf(pod: Pod, startedAt: number): { readonly at: number; readonly isEnforced: boolean } | undefined {
    const deadline = Math.min(
      pod.deadlineSeconds === 0 ? Infinity : startedAt + pod.deadlineSeconds * 1000,
      this.#jobDeadlineOf(pod),
    );
    // The API does not limit the deadline of a Job.
    if (deadline <= latestTimeMs) return { at: deadline, isEnforced: true };
    return pod.runtimeSeconds === 0 ? undefined : { at: startedAt + pod.runtimeSeconds * 1000, isEnforced: false };
  }

  /** Returns when the Job controller ends the pod's Job, in milliseconds since the epoch; Infinity if it does not. */
  #jobDeadlineOf({ controller, namespace }: Pod): number {
    if (controller?.kind !== 'Job') return Infinity;
    const job = this.#options.listed.get('Job', namespace, controller.name);
    if (job?.uid !== controller.uid || job.deadlineSeconds === 0 || job.startedAt === 0) return Infinity;
    return (job.startedAt + job.deadlineSeconds) * 1000;
  }

  #estimatedEndOf(pod: Pod, startedAt: number, now: number): ExpectedEnd {
    const history = pod.controller === undefined ? undefined : this.#histories.get(ownerOf(pod));
    if (history === undefined) return unknown;
    const meanMs = (history.last + (history.secondLast ?? history.last)) / 2;
    return endAt(startedAt + meanMs, now, true);
  }

  #checkPromise(pod: Pod, startedAt: number, now: number): void {
    const seconds = this.#promises.get(pod.uid) ?? pod.runtimeSeconds;
    if (seconds > 0 && now > startedAt + seconds * 1000 + toleranceMs) this.#reportOverrun(pod);
  }

  #reportOverrun(pod: Pod): void {
    if (this.#overruns.has(pod.uid)) return;
    this.#overruns.add(pod.uid);
    const { clock, penaltyMs, overrun } = this.#options;
    putLast(this.#penalties, ownerOf(pod), clock.monotonic() + penaltyMs);
    overrun(pod);
  }

  #penaltyOf(owner: string): number {
    return this.#penalties.get(owner) ?? 0;
  }

  #record(owner: string, ranMs: number): void {
    putLast(this.#histories, owner, { last: ranMs, secondLast: this.#histories.get(owner)?.last });
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

/** Returns who declares the pod's run time: its controller, or the namespace for pods without one. */
function ownerOf({ namespace, controller }: Pod): string {
  return controller === undefined ? namespace : `${namespace}/${controller.kind}/${controller.name}`;
}
