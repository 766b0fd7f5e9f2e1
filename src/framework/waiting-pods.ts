import type { Clock, Timer } from '../base/clock.ts';
import type { Pod } from '../api/pod.ts';
import { deferred } from '../base/deferred.ts';
import type { Deferred } from '../base/deferred.ts';
import { Status } from './status.ts';

/** kube-scheduler cuts every Permit wait to 15 minutes; so do we, and `maxPermitWaitMs` says so to plugins. */
export const maxPermitWaitMs = 15 * 60 * 1000;

/**
 * A pod that Permit plugins hold. It leaves when every one of them has allowed it, when one rejects it, or when a wait
 * runs out; the first outcome stands.
 */
export class WaitingPod {
  readonly pod: Pod;
  readonly nodeName: string;
  /** plugin -> its timer */
  readonly #pending = new Map<string, Timer>();
  readonly #outcome: Deferred<Status | undefined> = deferred<Status | undefined>();
  readonly #left: () => void;
  #settled: { readonly status: Status | undefined } | undefined;

  constructor(options: {
    readonly pod: Pod;
    readonly nodeName: string;
    /** plugin -> wait in milliseconds */
    readonly waits: ReadonlyMap<string, number>;
    readonly clock: Clock;
    readonly left: () => void;
  }) {
    this.pod = options.pod;
    this.nodeName = options.nodeName;
    this.#left = options.left;
    for (const [plugin, waitMs] of options.waits) {
      const cutMs = Math.min(waitMs, maxPermitWaitMs);
      const timer = options.clock.setTimer(cutMs, () => {
        this.reject(plugin, `timed out after ${Math.round(cutMs / 1000)} s of waiting on Permit`);
      });
      this.#pending.set(plugin, timer);
    }
  }

  get pendingPlugins(): readonly string[] {
    return [...this.#pending.keys()];
  }

  /** Undefined while waiting; `status` is undefined when all plugins allowed it. */
  get settled(): { readonly status: Status | undefined } | undefined {
    return this.#settled;
  }

  /** Resolves with undefined when allowed, with a rejection otherwise. Never rejects. */
  get outcome(): Promise<Status | undefined> {
    return this.#outcome.promise;
  }

  allow(plugin: string): void {
    const timer = this.#pending.get(plugin);
    if (timer === undefined) return;
    timer.cancel();
    this.#pending.delete(plugin);
    if (this.#pending.size === 0) this.#settle(undefined);
  }

  reject(plugin: string, reason: string): void {
    this.#settle(new Status('Unschedulable', reason, plugin));
  }

  #settle(status: Status | undefined): void {
    if (this.#settled !== undefined) return;
    this.#settled = { status };
    for (const timer of this.#pending.values()) timer.cancel();
    this.#left();
    this.#outcome.resolve(status);
  }
}

/** All pods that wait on Permit, by uid. */
export class WaitingPods {
  readonly #clock: Clock;
  /** uid -> waiting pod */
  readonly #waiting = new Map<string, WaitingPod>();

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
    const waiting = new WaitingPod({
      pod,
      nodeName,
      waits,
      clock: this.#clock,
      left: () => this.#waiting.delete(pod.uid),
    });
    if (waiting.settled === undefined) this.#waiting.set(pod.uid, waiting);
    return waiting;
  }
}
