import type { Clock } from '../base/clock.ts';
import { planAnnotations } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import { WithdrawnError } from '../client/api-errors.ts';
import { setBindingTerms } from '../framework/binding-terms.ts';
import type { PodBinding } from '../framework/plugin-handle.ts';
import { Status } from '../framework/status.ts';
import type { BindingFailure, BindingPlan, BindingResult } from './binding-plan.ts';
import type { Placement } from './placement/planner.ts';

export interface BindingCycleOptions {
  readonly report: (result: BindingResult) => void;
  /** Changes whenever anything about any node does. */
  readonly revision: () => number;
  /** When anything may have changed since it was planned: does the placement still pass Filter, its own claim left aside? */
  readonly stillFits: (plan: BindingPlan, placement: Placement, since?: number) => Status | undefined;
  /** What it answers when no attempt is being made. */
  readonly atRest: <T>(look: () => T) => Promise<T>;
  /** Is the placement still what the plan meant: the member there and on its node, and a quorum within reach? Cheap. */
  readonly stillHolds: (plan: BindingPlan, placement: Placement) => Status | undefined;
  /** Binds pods that are not the Bind plugins' business. False: this one is. A Status: it failed. Absent: all of them are. */
  readonly bindOutside?:
    ((pod: Pod, binding: PodBinding, signal: AbortSignal) => Promise<Status | boolean>) | undefined;
  /** A pod has waited on Permit, and the plan goes on or is given up; ms since the plan was handed over. */
  readonly permitWaited: (outcome: Status | undefined, ms: number) => void;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Names a plan; unique. */
  readonly planId: () => string;
  /** From here on no plan begins to be bound: those of which no Binding has been sent are given up. */
  readonly signal: AbortSignal;
  /** Cuts what is being bound. */
  readonly cut: AbortSignal;
}

/** Why a plan is given up before anything of it is sent. */
interface Refusal {
  readonly status: Status;
  /** The member that it is about; undefined: all of them. */
  readonly uid?: string;
}

/** What is known of a plan whose Bindings are under way, or wait for their turn. */
interface Sending {
  /** One of them has been sent. */
  hasBegun: boolean;
  /** Why none is ever sent; that all of them have failed has been reported. */
  refusal?: Refusal;
  /** Of the nodes, when it was last known that it fits. */
  readonly revision: number;
}

/**
 * Binds plans, with a barrier: nobody is bound before every member of the plan is allowed by Permit, has run PreBind and
 * still fits. Then all are bound in parallel; each Binding is looked at once more when it is about to be sent, and before the first one that a
 * group is to start with all the others are. When the scheduler stops
 * a plan is finished if a Binding of it has been sent, unless it is cut, and given up otherwise. Never throws; everything is reported.
 */
export class BindingCycle {
  readonly #options: BindingCycleOptions;
  readonly #running = new Set<Promise<void>>();
  /** Keys of groups that are to start with a plan that has not passed the barrier. */
  readonly #starting = new Set<string>();
  /** Plans that a Permit plugin holds. */
  readonly #onPermit = new Set<BindingPlan>();
  /** Plans whose Bindings are under way. */
  readonly #binds = new Set<Promise<unknown>>();

  constructor(options: BindingCycleOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Plans of which a member waits on Permit. */
  get onPermit(): Iterable<BindingPlan> {
    return this.#onPermit;
  }

  /**
   * The group is to start with a plan that may still be given up. Nobody else of it is planned meanwhile: two plans that count on each other's
   * members would have a barrier each.
   */
  isStarting(groupKey: string): boolean {
    return this.#starting.has(groupKey);
  }

  start(plan: BindingPlan): void {
    const run = this.#run(plan).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  /** Resolves when no plan is under way any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Resolves when no Binding is under way any more. */
  async drained(): Promise<void> {
    while (this.#binds.size > 0) await Promise.all(this.#binds);
  }

  async #run(plan: BindingPlan): Promise<void> {
    const early = plan.placements.filter(({ state, pod, nodeName }) => plan.profile.needsPreBind(state, pod, nodeName));
    const hasWaited = plan.waiting.length > 0 || early.length > 0;
    const starts = plan.startsGang && hasWaited ? plan.gang : undefined;
    if (starts !== undefined) this.#starting.add(starts.key);
    const refused = (await this.#passPermit(plan)) ?? (await this.#preBind(plan, early));
    const decide = (): boolean => {
      if (starts !== undefined) this.#starting.delete(starts.key);
      return this.#stands(plan, refused ?? this.#stopped() ?? this.#lookAgain(plan, plan.placements, hasWaited));
    };
    // Plugins that filter again would count in what an attempt has reserved half way through.
    if (!(hasWaited ? await this.#options.atRest(decide) : decide())) return;
    const annotations = this.#annotations(plan);
    const sending: Sending = { hasBegun: false, revision: this.#options.revision() };
    const binds = Promise.all(plan.placements.map((placement) => this.#bind(plan, placement, annotations, sending)));
    this.#binds.add(binds);
    const outcomes = await binds;
    this.#binds.delete(binds);
    this.#options.report({ kind: 'finished', plan, failures: outcomes.filter((outcome) => outcome !== undefined) });
  }

  /** One that is rejected, or waited too long, takes the others with it at once; the first refusal stands. */
  async #passPermit(plan: BindingPlan): Promise<Refusal | undefined> {
    const { waiting } = plan;
    if (waiting.length === 0) return undefined;
    const { clock, permitWaited } = this.#options;
    const begun = clock.monotonic();
    this.#onPermit.add(plan);
    let refused: Refusal | undefined;
    const rejectAll = (plugin: string, reason: string): void => {
      for (const pod of waiting) pod.reject(plugin, reason);
    };
    const { signal } = this.#options;
    const onAbort = (): void => rejectAll('', 'the scheduler is stopping');
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    await Promise.all(
      waiting.map(async ({ pod, outcome }) => {
        const status = await outcome;
        permitWaited(status, clock.monotonic() - begun);
        if (status === undefined || refused !== undefined) return;
        refused = { status, uid: pod.uid };
        rejectAll(status.plugin, `member ${pod.name} was rejected: ${status.message}`);
      }),
    );
    signal.removeEventListener('abort', onAbort);
    this.#onPermit.delete(plan);
    return refused;
  }

  /** `early`: those for which something has to be done. The first that fails ends the waiting of the others. */
  async #preBind({ profile }: BindingPlan, early: readonly Placement[]): Promise<Refusal | undefined> {
    if (early.length === 0) return undefined;
    const failing = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, failing.signal]);
    let refused: Refusal | undefined;
    await Promise.all(
      early.map(async ({ state, pod, nodeName }) => {
        const status = await profile.preBind(state, pod, nodeName, signal);
        if (status === undefined || refused !== undefined) return;
        refused = { status, uid: pod.uid };
        failing.abort(new Error(`${pod.name} failed: ${status.message}`));
      }),
    );
    return refused;
  }

  /** Whether it may be bound; that it may not is reported in the same call, so that nobody counts on it any more. */
  #stands(plan: BindingPlan, refusal: Refusal | undefined): boolean {
    if (refusal === undefined) return true;
    const failures = this.#giveUp(plan, refusal);
    this.#options.report({ kind: 'finished', plan, failures });
    return false;
  }

  #giveUp(plan: BindingPlan, { status, uid }: Refusal): readonly BindingFailure[] {
    const failures = plan.placements.map((placement): BindingFailure => {
      const isBySibling = uid !== undefined && placement.pod.uid !== uid;
      return isBySibling ? { placement, status, isBySibling } : { placement, status };
    });
    this.#options.report({ kind: 'failed', plan, failures });
    return failures;
  }

  /** The gang may have changed meanwhile, and the nodes as well. `since`: their revision when it was known that all fit; absent: it is not. */
  #lookAgain(
    plan: BindingPlan,
    placements: readonly Placement[],
    isMoved: boolean,
    since?: number,
  ): Refusal | undefined {
    const { stillHolds, stillFits } = this.#options;
    for (const placement of placements) {
      const status = stillHolds(plan, placement) ?? (isMoved ? stillFits(plan, placement, since) : undefined);
      if (status !== undefined) return { status, uid: placement.pod.uid };
    }
    return undefined;
  }

  #stopped(): Refusal | undefined {
    return this.#options.signal.aborted ? { status: new Status('Error', 'the scheduler is stopping') } : undefined;
  }

  /**
   * At the last moment: why this Binding may not go. Nobody of a group that is to start is on a node before the first one goes, so that the plan is
   * given up as a whole when it holds no more for any of them.
   */
  #withdrawn(plan: BindingPlan, placement: Placement, sending: Sending): Status | undefined {
    if (sending.refusal !== undefined) return sending.refusal.status;
    const since = sending.revision;
    const isMoved = this.#options.revision() !== since;
    if (sending.hasBegun) return this.#lookAgain(plan, [placement], isMoved, since)?.status;
    const all = plan.startsGang && isMoved ? plan.placements : [placement];
    const refusal = this.#stopped() ?? this.#lookAgain(plan, all, isMoved, since);
    if (refusal === undefined || !plan.startsGang) return refusal?.status;
    sending.refusal = refusal;
    this.#giveUp(plan, refusal);
    return refusal.status;
  }

  #annotations(plan: BindingPlan): Readonly<Record<string, string>> {
    const { gang, groupSpec } = plan;
    if (groupSpec === undefined) return {};
    const annotations = { [planAnnotations.groupUid]: groupSpec.uid };
    if (gang === undefined) return annotations;
    return {
      ...annotations,
      [planAnnotations.plan]: this.#options.planId(),
      [planAnnotations.quorum]: String(groupSpec.minMember),
    };
  }

  async #bind(
    plan: BindingPlan,
    placement: Placement,
    annotations: Readonly<Record<string, string>>,
    sending: Sending,
  ): Promise<BindingFailure | undefined> {
    const status = await this.#send(plan, placement, annotations, sending);
    if (status === undefined) {
      this.#options.report({ kind: 'bound', plan, placement });
      return undefined;
    }
    const failure = { placement, status };
    if (sending.refusal === undefined) this.#options.report({ kind: 'failed', plan, failures: [failure] });
    return failure;
  }

  async #send(
    plan: BindingPlan,
    placement: Placement,
    annotations: Readonly<Record<string, string>>,
    sending: Sending,
  ): Promise<Status | undefined> {
    const { state, pod, nodeName } = placement;
    const { bindOutside, cut } = this.#options;
    const { namespace, name, uid } = pod;
    const mayBeSent = (): void => {
      const refused = this.#withdrawn(plan, placement, sending);
      if (refused !== undefined) throw new WithdrawnError(refused.message);
      sending.hasBegun = true;
    };
    const outside =
      (await bindOutside?.(pod, { namespace, name, uid, nodeName, annotations, mayBeSent }, cut)) ?? false;
    if (typeof outside === 'object') return outside;
    if (outside) return undefined;
    setBindingTerms(state, { annotations, mayBeSent });
    return plan.profile.bind(state, pod, nodeName, cut);
  }
}
