import type { Clock, Timer } from '../base/clock.ts';
import type { Pod } from '../api/pod.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import { Status } from './status.ts';

/** kube-scheduler cuts every Permit wait to 15 minutes; so do we, and `maxPermitWaitMs` says so to plugins. */
export const maxPermitWaitMs = 15 * 60 * 1000;

/** How long a plugin holds a pod, and until when on the clock. */
interface Hold {
  readonly ms: number;
  readonly until: number;
}

/**
 * A pod that Permit plugins hold. It leaves when every one of them has allowed it, when one rejects it, or when a wait
 * runs out; the first outcome stands.
 */
export class WaitingPod {
  readonly pod: Pod;
  readonly nodeName: string;
  /** plugin -> how long it holds the pod */
  readonly #holds = new Map<string, Hold>();
  readonly #left: () => void;
  #outcome: Deferred<Status | undefined> | undefined;
  #settled: { readonly status: Status | undefined } | undefined;

  constructor(options: {
    readonly pod: Pod;
    readonly nodeName: string;
    /** plugin -> wait in milliseconds */
    readonly waits: ReadonlyMap<string, number>;
    /** Clock.monotonic() */
    readonly now: number;
    readonly left: () => void;
  }) {
    this.pod = options.pod;
    this.nodeName = options.nodeName;
    this.#left = options.left;
    for (const [plugin, waitMs] of options.waits) {
      const ms = Math.min(waitMs, maxPermitWaitMs);
      this.#holds.set(plugin, { ms, until: options.now + ms });
    }
  }

  get pendingPlugins(): readonly string[] {
    return [...this.#holds.keys()];
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

  /** When the first wait runs out, on Clock.monotonic(). */
  get deadline(): number {
    let first = Infinity;
    for (const { until } of this.#holds.values()) first = Math.min(first, until);
    return first;
  }

  allow(plugin: string): void {
    if (!this.#holds.delete(plugin)) return;
    if (this.#holds.size === 0) this.#settle(undefined);
  }

  reject(plugin: string, reason: string): void {
    this.#settle(new Status('Unschedulable', reason, plugin));
  }

  /** It is that late: rejects the pod if a wait has run out. */
  expire(now: number): void {
    const { deadline } = this;
    if (deadline > now) return;
    const [plugin, { ms }] = [...this.#holds].find(([, { until }]) => until === deadline)!;
    this.reject(plugin, `timed out after ${Math.round(ms / 1000)} s of waiting on Permit`);
  }

  #settle(status: Status | undefined): void {
    if (this.#settled !== undefined) return;
    this.#settled = { status };
    this.#left();
    this.#outcome?.resolve(status);
  }
}

/** All pods that wait on Permit, by uid. One timer serves all of them: a gang of thousands waits for a moment only. */
export class WaitingPods {
  readonly #clock: Clock;
  /** uid -> waiting pod */
  readonly #waiting = new Map<string, WaitingPod>();
  /** For the first wait that runs out, or for an earlier one that has ended since. */
  #alarm: { readonly timer: Timer; readonly at: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waiting.size;
  }

  get(uid: string): WaitingPod | undefined {
    return this.#waiting.get(uid);
  }

  /** A copy, so that pods may be allowed or rejected on the way. */
  all(): readonly WaitingPod[] {
    return [...this.#waiting.values()];
  }

  add(pod: Pod, nodeName: string, waits: ReadonlyMap<string, number>): WaitingPod {
    const now = this.#clock.monotonic();
    const waiting: WaitingPod = new WaitingPod({ pod, nodeName, waits, now, left: () => this.#left(pod.uid, waiting) });
    this.#waiting.set(pod.uid, waiting);
    this.#wakeAt(waiting.deadline, now);
    return waiting;
  }

  #left(uid: string, waiting: WaitingPod): void {
    if (this.#waiting.get(uid) !== waiting) return;
    this.#waiting.delete(uid);
    if (this.#waiting.size > 0) return;
    this.#alarm?.timer.cancel();
    this.#alarm = undefined;
  }

  #wakeAt(at: number, now: number): void {
    if (at === Infinity || (this.#alarm !== undefined && this.#alarm.at <= at)) return;
    this.#alarm?.timer.cancel();
    this.#alarm = { at, timer: this.#clock.setTimer(Math.max(0, at - now), () => this.#ring()) };
  }

  #ring(): void {
    this.#alarm = undefined;
    const now = this.#clock.monotonic();
    for (const waiting of this.all()) waiting.expire(now);
    let next = Infinity;
    for (const { deadline } of this.#waiting.values()) next = Math.min(next, deadline);
    this.#wakeAt(next, now);
  }
}
