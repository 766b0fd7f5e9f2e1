import type { Clock, Timer } from '../base/clock.ts';
import type { Pod } from '../api/pod.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import { Status } from './status.ts';

/** Longest Permit wait. kube-scheduler also cuts every wait to 15 minutes. */
export const maxPermitWaitMs = 15 * 60 * 1000;

/** How long a plugin makes a pod wait, and the deadline on the monotonic clock. */
interface PermitWait {
  readonly ms: number;
  readonly until: number;
}

/**
 * A pod that waits for Permit plugins. It stops waiting when all of them have allowed it, when one rejects it, or when a wait times out.
 * The first outcome stands.
 */
export class WaitingPod {
  readonly pod: Pod;
  readonly nodeName: string;
  /** plugin -> how long it makes the pod wait */
  readonly #waits = new Map<string, PermitWait>();
  readonly #onSettled: () => void;
  #outcome: Deferred<Status | undefined> | undefined;
  #settled: { readonly status: Status | undefined } | undefined;

  constructor(options: {
    readonly pod: Pod;
    readonly nodeName: string;
    /** plugin -> wait in milliseconds */
    readonly waits: ReadonlyMap<string, number>;
    /** Clock.monotonic() */
    readonly now: number;
    readonly onSettled: () => void;
  }) {
    this.pod = options.pod;
    this.nodeName = options.nodeName;
    this.#onSettled = options.onSettled;
    for (const [plugin, waitMs] of options.waits) {
      const ms = Math.min(waitMs, maxPermitWaitMs);
      this.#waits.set(plugin, { ms, until: options.now + ms });
    }
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
    let first = Infinity;
    for (const { until } of this.#waits.values()) first = Math.min(first, until);
    return first;
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
    const { deadline } = this;
    if (deadline > now) return;
    const [plugin, { ms }] = [...this.#waits].find(([, { until }]) => until === deadline)!;
    this.reject(plugin, `timed out after ${Math.round(ms / 1000)} s of waiting on Permit`);
  }

  #settle(status: Status | undefined): void {
    if (this.#settled !== undefined) return;
    this.#settled = { status };
    this.#onSettled();
    this.#outcome?.resolve(status);
  }
}

/** All pods that wait on Permit, by uid. They share one timer, because a gang of thousands waits only for a moment. */
export class WaitingPods {
  readonly #clock: Clock;
  /** uid -> waiting pod */
  readonly #waiting = new Map<string, WaitingPod>();
  /** Set for the earliest timeout, or for an earlier wait that has ended since. */
  #timer: { readonly timer: Timer; readonly at: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
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

  add(pod: Pod, nodeName: string, waits: ReadonlyMap<string, number>): WaitingPod {
    const now = this.#clock.monotonic();
    const waiting: WaitingPod = new WaitingPod({
      pod,
      nodeName,
      waits,
      now,
      onSettled: () => this.#remove(pod.uid, waiting),
    });
    this.#waiting.set(pod.uid, waiting);
    this.#wakeAt(waiting.deadline, now);
    return waiting;
  }

  #remove(uid: string, waiting: WaitingPod): void {
    if (this.#waiting.get(uid) !== waiting) return;
    this.#waiting.delete(uid);
    if (this.#waiting.size > 0) return;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
  }

  #wakeAt(at: number, now: number): void {
    if (at === Infinity || (this.#timer !== undefined && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    this.#timer = { at, timer: this.#clock.setTimer(Math.max(0, at - now), () => this.#expireWaits()) };
  }

  #expireWaits(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (const waiting of this.all()) waiting.expire(now);
    let next = Infinity;
    for (const { deadline } of this.#waiting.values()) next = Math.min(next, deadline);
    this.#wakeAt(next, now);
  }
}
