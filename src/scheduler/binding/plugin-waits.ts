import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/message-of.ts';
import { Multimap } from '../../base/multimap.ts';
import { WithdrawnError } from '../../client/api-errors.ts';
import { Status } from '../../framework/status.ts';
import type { BindingPlan, NodeAssignment } from './binding-plan.ts';

export interface PluginWaitsOptions {
  /** Returns why no member of the plan can be bound any more; undefined if at least one can. */
  readonly whyHopeless: (plan: BindingPlan) => Status | undefined;
  /** A pod has finished waiting on Permit. `outcome` is undefined if it was allowed. `ms` counts from the start of the plan's wait. */
  readonly permitWaited: (outcome: Status | undefined, ms: number) => void;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Once aborted, all waits end. */
  readonly signal: AbortSignal;
}

/** Why a plan is given up before any of its bindings is sent. */
export interface Rejection {
  readonly status: Status;
  /** The member that caused it; undefined: all of them. */
  readonly uid?: string;
}

/** A plan that waits for Permit or PreBind plugins. */
interface WaitingPlan {
  readonly plan: BindingPlan;
  readonly giveUp: (why: Status) => void;
}

/**
 * Lets plans wait for Permit and PreBind plugins. A wait ends early if the scheduler stops, or if no member of the plan can be bound any
 * more.
 */
export class PluginWaits {
  readonly #options: PluginWaitsOptions;
  /** Plans with a member that waits on Permit. */
  readonly #onPermit = new Set<BindingPlan>();
  /** group key -> its plans that wait for Permit or PreBind */
  readonly #waiting = new Multimap<string, WaitingPlan>();

  constructor(options: PluginWaitsOptions) {
    this.#options = options;
  }

  /** Plans with a member that waits on Permit. */
  get onPermit(): ReadonlySet<BindingPlan> {
    return this.#onPermit;
  }

  /** The group or one of its members has changed. Gives up waiting plans that can no longer bind any member. */
  reconcile(groupKey: string): void {
    for (const { plan, giveUp } of this.#waiting.of(groupKey)) {
      const why = this.#options.whyHopeless(plan);
      if (why !== undefined) giveUp(why);
    }
  }

  /** Ends the wait of the plan. */
  giveUp(plan: BindingPlan, why: Status): void {
    for (const waiting of this.#waiting.of(keyOf(plan))) if (waiting.plan === plan) waiting.giveUp(why);
  }

  /**
   * Waits for Permit and PreBind while at least one member can be bound, and resolves with the first rejection. `early`: the assignments
   * with PreBind work. Never rejects.
   */
  async pass(plan: BindingPlan, early: readonly NodeAssignment[]): Promise<Rejection | undefined> {
    if (plan.waiting.length + early.length === 0) return undefined;
    const givenUp = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, givenUp.signal]);
    const key = keyOf(plan);
    const waiting = { plan, giveUp: ({ message }: Status) => givenUp.abort(new WithdrawnError(message)) };
    this.#waiting.add(key, waiting);
    // A large plan begins to wait in a later turn, and the group may have changed in the meantime.
    const why = this.#options.whyHopeless(plan);
    if (why !== undefined) waiting.giveUp(why);
    const rejected = (await this.#passPermit(plan, signal)) ?? (await this.#preBind(plan, early, signal));
    this.#waiting.delete(key, waiting);
    return rejected;
  }

  /** Waits for Permit. The first rejection or timeout rejects the other members at once, and its status is returned. */
  async #passPermit(plan: BindingPlan, signal: AbortSignal): Promise<Rejection | undefined> {
    const { waiting } = plan;
    if (waiting.length === 0) return undefined;
    const { clock, permitWaited } = this.#options;
    const begun = clock.monotonic();
    this.#onPermit.add(plan);
    let rejected: Rejection | undefined;
    const rejectAll = (plugin: string, reason: string): void => {
      for (const pod of waiting) pod.reject(plugin, reason);
    };
    const onAbort = (): void => rejectAll('', whyEnded(signal).message);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    await Promise.all(
      waiting.map(async ({ pod, outcome }) => {
        const status = await outcome;
        permitWaited(status, clock.monotonic() - begun);
        if (status === undefined || rejected !== undefined) return;
        rejected = { status, uid: pod.uid };
        rejectAll(status.plugin, `member ${pod.name} was rejected: ${status.message}`);
      }),
    );
    signal.removeEventListener('abort', onAbort);
    this.#onPermit.delete(plan);
    return rejected;
  }

  /** Runs PreBind for `early`. The first failure aborts the others. */
  async #preBind(
    { profile }: BindingPlan,
    early: readonly NodeAssignment[],
    until: AbortSignal,
  ): Promise<Rejection | undefined> {
    if (early.length === 0) return undefined;
    const failing = new AbortController();
    const signal = AbortSignal.any([until, failing.signal]);
    let rejected: Rejection | undefined;
    await Promise.all(
      early.map(async ({ state, pod, nodeName }) => {
        const status = await profile.preBind(state, pod, nodeName, signal);
        if (status === undefined || rejected !== undefined) return;
        rejected = until.aborted ? { status: whyEnded(until) } : { status, uid: pod.uid };
        failing.abort(new Error(`${pod.name} failed: ${status.message}`));
      }),
    );
    return rejected;
  }
}

/** Returns the key under which a plan waits. */
function keyOf({ assignments }: BindingPlan): string {
  return assignments[0]!.pod.podGroupKey ?? '';
}

/** Returns why a wait for plugins ended early. */
function whyEnded({ reason }: AbortSignal): Status {
  return new Status(reason instanceof WithdrawnError ? 'Unschedulable' : 'Error', messageOf(reason));
}
