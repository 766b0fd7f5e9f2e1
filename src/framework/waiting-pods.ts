import type { Clock } from '../base/clock.ts';
import type { Pod } from '../api/pod.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import { DueTimes } from '../base/due-times.ts';
import { Status } from './status.ts';

/** Longest Permit wait. kube-scheduler also cuts every wait to 15 minutes. */
export const maxPermitWaitMs = 15 * 60 * 1000;

/**
 * A pod that waits for Permit plugins. It stops waiting when all of them have allowed it, when one rejects it, or when a wait times out.
 * The first outcome stands.
 */
export class WaitingPod {
  readonly pod: Pod;
  readonly nodeName: string;
  /** plugin -> how long it makes the pod wait, in milliseconds */
  readonly #waits: Map<string, number>;
  /** Clock.monotonic() */
  readonly #since: number;
  readonly #onSettled: (waiting: WaitingPod) => void;
  #outcome: Deferred<Status | undefined> | undefined;
  #settled: { readonly status: Status | undefined } | undefined;

  constructor(options: {
    readonly pod: Pod;
    readonly nodeName: string;
    /** plugin -> wait in milliseconds. The waiting pod removes plugins from it. */
    readonly waits: Map<string, number>;
    /** Clock.monotonic() */
    readonly now: number;
    readonly onSettled: (waiting: WaitingPod) => void;
  }) {
    this.pod = options.pod;
    this.nodeName = options.nodeName;
    this.#since = options.now;
    this.#onSettled = options.onSettled;
    this.#waits = options.waits;
  }

  get pendingPlugins(): readonly string[] {
    return [...this.#waits.keys()];
  }

  /** Undefined while waiting; `status` is undefined when all plugins allowed it. */
  get settled(): { readonly status: Status | undefined } | undefined {
    return this.#settled;
  }

  /** Resolves with undefined when allowed, with a rejection otherwise. Never rejects. */
  get outcome(): Promise<Status | undefined> {
    if (this.#outcome === undefined) {
      this.#outcome = deferred<Status | undefined>();
      if (this.#settled !== undefined) this.#outcome.resolve(this.#settled.status);
    }
    return this.#outcome.promise;
  }

  /** Time of the first timeout, as Clock.monotonic(). */
  get deadline(): number {
    let shortestMs = maxPermitWaitMs;
    for (const ms of this.#waits.values()) shortestMs = Math.min(shortestMs, ms);
    return this.#since + shortestMs;
  }

  allow(plugin: string): void {
    if (!this.#waits.delete(plugin)) return;
    if (this.#waits.size === 0) this.#settle(undefined);
  }

  reject(plugin: string, reason: string): void {
    this.#settle(new Status('Unschedulable', reason, plugin));
  }

  /** Rejects the pod if a wait has timed out at `now`. */
  expire(now: number): void {
    if (this.deadline > now) return;
    const [plugin, waitMs] = [...this.#waits].reduce((first, each) => (each[1] < first[1] ? each : first));
    const ms = Math.min(waitMs, maxPermitWaitMs);
    this.reject(plugin, `timed out after ${Math.round(ms / 1000)} s of waiting on Permit`);
  }

  #settle(status: Status | undefined): void {
    if (this.#settled !== undefined) return;
    this.#settled = { status };
    this.#onSettled(this);
    this.#outcome?.resolve(status);
  }
}

/** All pods that wait on Permit. */
export class WaitingPods {
  readonly #clock: Clock;
  /** uid -> waiting pod */
  readonly #waiting = new Map<string, WaitingPod>();
  /** uid -> waiting pod whose wait can time out, due when it does */
  readonly #due: DueTimes<string, WaitingPod>;

  readonly #remove = (waiting: WaitingPod): void => {
    const { uid } = waiting.pod;
    if (this.#waiting.get(uid) !== waiting) return;
    this.#waiting.delete(uid);
    this.#due.delete(uid);
  };

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#due = new DueTimes(clock, (_uid, waiting) => {
      waiting.expire(clock.monotonic());
      if (waiting.settled === undefined) this.startTimeout(waiting);
    });
  }

  get size(): number {
    return this.#waiting.size;
  }

  get(uid: string): WaitingPod | undefined {
    return this.#waiting.get(uid);
  }

  /** Returns a copy, so that the caller may allow or reject pods while iterating. */
  all(): readonly WaitingPod[] {
    return [...this.#waiting.values()];
  }

  /** Adds a pod, which does not time out before `startTimeout`. It keeps `waits` (plugin -> milliseconds), and changes it. */
  add(pod: Pod, nodeName: string, waits: Map<string, number>): WaitingPod {
    const now = this.#clock.monotonic();
    const waiting = new WaitingPod({ pod, nodeName, waits, now, onSettled: this.#remove });
    const replaced = this.#waiting.get(pod.uid);
    if (replaced !== undefined) this.#remove(replaced);
    this.#waiting.set(pod.uid, waiting);
    return waiting;
  }

  /** Lets the pod time out, counted from `add`. In a gang most pods stop waiting before the last one has passed Permit, and need no timeout. */
  startTimeout(waiting: WaitingPod): void {
    this.#due.set(waiting.pod.uid, waiting.deadline, waiting);
  }
}
