import type { Clock } from '../../base/clock.ts';
import { planAnnotations } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { messageOf } from '../../base/message-of.ts';
import { WithdrawnError } from '../../client/api-errors.ts';
import type { GangView } from '../../cluster/gang.ts';
import { setBindingTerms } from '../../framework/binding-terms.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { Status } from '../../framework/status.ts';
import type { BindingFailure, BindingPlan, BindingResult, NodeAssignment } from './binding-plan.ts';

export interface BindingCycleOptions {
  readonly report: (result: BindingResult) => void;
  /** Changes whenever anything about any node does. */
  readonly revision: () => number;
  /** When anything may have changed since it was planned: does the placement still pass Filter, its own claim left aside? */
  readonly stillFits: (plan: BindingPlan, assignment: NodeAssignment, since?: number) => Status | undefined;
  /** What it answers when no attempt is being made. */
  readonly atRest: <T>(look: () => T) => Promise<T>;
  /**
   * Is the placement still what the plan meant: the member there and on its node, and a quorum within reach? Cheap. `lost`: placements that have
   * failed, maybe of other plans, and that the picture may still count as planned.
   */
  readonly stillHolds: (
    plan: BindingPlan,
    assignment: NodeAssignment,
    lost: Iterable<NodeAssignment>,
  ) => Status | undefined;
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
interface Rejection {
  readonly status: Status;
  /** The member that it is about; undefined: all of them. */
  readonly uid?: string;
}

/** A plan that waits for plugins. */
interface HeldPlan {
  readonly plan: BindingPlan;
  readonly giveUp: (why: Status) => void;
}

/** What is known of a plan on its way. */
interface Sending {
  /** A Binding of it has been sent. */
  hasBegun: boolean;
  /** Members of which no Binding is sent -> why; reported. */
  readonly failures: Map<NodeAssignment, BindingFailure>;
  /** Members in the hands of a Bind plugin that has not asked when they may be sent: they may have been. */
  readonly untold: Set<NodeAssignment>;
  /** Of the nodes, when it was last known that all fit; undefined: that is not known. */
  revision: number | undefined;
}

/**
 * Binds plans, with a barrier: nobody is bound before every member of the plan is allowed by Permit, has run PreBind and
 * still fits. Then all are bound in parallel; each Binding is looked at once more when it is about to be sent, and before the first one with
 * which a group starts all the others are. When the scheduler stops a plan is finished if a Binding of it has been sent, unless it is cut, and
 * given up otherwise. Never throws; everything is reported.
 */
export class BindingCycle {
  readonly #options: BindingCycleOptions;
  readonly #running = new Set<Promise<void>>();
  /** key of a group -> the plan with which it is to start, until a Binding of it is sent, or none of it can be withheld any more */
  readonly #starting = new Map<string, BindingPlan>();
  /** Plans that a Permit plugin holds. */
  readonly #onPermit = new Set<BindingPlan>();
  /** key of a group -> its plans that Permit plugins or PreBind hold */
  readonly #held = new Map<string, Set<HeldPlan>>();
  /** Placements that have failed, until the picture knows: while an attempt is open it is not told. */
  readonly #lost = new Set<NodeAssignment>();
  /** Plans whose Bindings are under way. */
  readonly #binds = new Set<Promise<unknown>>();

  constructor(options: BindingCycleOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Plans of which a member waits on Permit. */
  get onPermit(): ReadonlySet<BindingPlan> {
    return this.#onPermit;
  }

  /** Plans that groups are to start with: nobody else of those is planned meanwhile. */
  get starting(): readonly BindingPlan[] {
    return [...this.#starting.values()].filter((plan) => standsIn(plan, plan.gang));
  }

  /**
   * The group is to start with a plan that may still be given up, because no Binding of it has been sent. Nobody else of it is planned
   * meanwhile: two plans that count on each other's members would have a barrier each, and a first Binding each. Not so when none of the plan is
   * in the group any more: what is waited for may come much later, if at all, and nobody counts on it.
   */
  isStarting(gang: GangView | undefined): boolean {
    const plan = gang && this.#starting.get(gang.key);
    return plan !== undefined && standsIn(plan, gang);
  }

  /** The group or a member of it has changed: a plan of it that nobody can be bound with any more is not waited for. */
  look(groupKey: string): void {
    for (const { plan, giveUp } of this.#held.get(groupKey) ?? []) {
      const why = this.#whyHopeless(plan);
      if (why !== undefined) giveUp(why);
    }
  }

  /** What is wrong with the first member, if something is with each; undefined: one at least may be bound. */
  #whyHopeless(plan: BindingPlan): Status | undefined {
    let first: Status | undefined;
    for (const assignment of plan.assignments) {
      const problem = this.#options.stillHolds(plan, assignment, this.#lost);
      if (problem === undefined) return undefined;
      first ??= problem;
    }
    return first;
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
    const early = plan.assignments.filter(({ state, pod, nodeName }) =>
      plan.profile.needsPreBind(state, pod, nodeName),
    );
    const hasWaited = plan.waiting.length > 0 || early.length > 0;
    if (plan.startsGang && plan.gang !== undefined) this.#starting.set(plan.gang.key, plan);
    // Changes that an open attempt made wait come in this same turn, after the plan and before anything else of it is done.
    const revision = hasWaited ? undefined : this.#options.revision();
    const sending: Sending = { hasBegun: false, failures: new Map(), untold: new Set(), revision };
    const rejected = await this.#passPlugins(plan, early);
    const decide = (): void => {
      const rejection = rejected ?? this.#stopped();
      if (rejection !== undefined) this.#giveUp(plan, sending, rejection);
      else this.#lookAtAll(plan, sending, hasWaited);
      if (hasWaited) sending.revision = this.#options.revision();
    };
    // Plugins that filter again would count in what an attempt has reserved half way through.
    if (hasWaited) await this.#options.atRest(decide);
    else decide();
    const annotations = this.#annotations(plan);
    const stands = plan.assignments.filter((assignment) => !sending.failures.has(assignment));
    const binds = Promise.all(stands.map((assignment) => this.#bind(plan, assignment, annotations, sending)));
    this.#binds.add(binds);
    await binds;
    this.#binds.delete(binds);
    this.#options.report({ kind: 'finished', plan, failures: [...sending.failures.values()] });
  }

  /** Waits for Permit and PreBind, while somebody of the plan can still be bound. `early`: those for whom PreBind has something to do. */
  async #passPlugins(plan: BindingPlan, early: readonly NodeAssignment[]): Promise<Rejection | undefined> {
    if (plan.waiting.length + early.length === 0) return undefined;
    const givenUp = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, givenUp.signal]);
    const key = plan.assignments[0]!.pod.podGroupKey ?? '';
    const ofGroup = this.#held.get(key) ?? new Set();
    this.#held.set(key, ofGroup);
    const held = { plan, giveUp: ({ message }: Status) => givenUp.abort(new WithdrawnError(message)) };
    ofGroup.add(held);
    const rejected = (await this.#passPermit(plan, signal)) ?? (await this.#preBind(plan, early, signal));
    ofGroup.delete(held);
    if (ofGroup.size === 0) this.#held.delete(key);
    return rejected;
  }

  /** One that is rejected, or waited too long, takes the others with it at once; the first rejection stands. */
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

  /** `early`: those for which something has to be done. The first that fails ends the waiting of the others. */
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

  /** In the same call, so that nobody counts on them any more. */
  #fail(plan: BindingPlan, sending: Sending, failures: readonly BindingFailure[]): void {
    for (const failure of failures) {
      sending.failures.set(failure.assignment, failure);
      sending.untold.delete(failure.assignment);
      this.#lost.add(failure.assignment);
    }
    // Before it is reported, so that those of the group are planned who have waited for this plan.
    if (sending.failures.size + sending.untold.size === plan.assignments.length) this.#startsNoMore(plan);
    const { report, atRest } = this.#options;
    report({ kind: 'failed', plan, failures });
    // Right behind the report, which may have to wait itself.
    void atRest(() => {
      for (const { assignment } of failures) this.#lost.delete(assignment);
    });
  }

  /** Whoever has not failed yet fails because of that, but for those that may have been sent: how that ends has to be seen. */
  #giveUp(plan: BindingPlan, sending: Sending, { status, uid }: Rejection): void {
    const failures = plan.assignments
      .filter((assignment) => isOpen(assignment, sending))
      .map((assignment): BindingFailure => {
        const isBySibling = uid !== undefined && assignment.pod.uid !== uid;
        return isBySibling ? { assignment, status, isBySibling } : { assignment, status };
      });
    this.#fail(plan, sending, failures);
  }

  /**
   * Before anybody is bound. The gang may have changed meanwhile, and if they have `moved` the nodes as well: members that do not hold any more
   * fail, and the others with them when they are too few without them.
   */
  #lookAtAll(plan: BindingPlan, sending: Sending, isMoved: boolean): void {
    const lost: BindingFailure[] = [];
    for (const assignment of plan.assignments) {
      if (!isOpen(assignment, sending)) continue;
      const status = this.#problem(plan, assignment, isMoved, sending.revision);
      if (status !== undefined) lost.push({ assignment, status });
    }
    const [first] = lost;
    if (first === undefined) return;
    this.#fail(plan, sending, lost);
    const left = plan.assignments.find((assignment) => isOpen(assignment, sending));
    if (left === undefined || this.#options.stillHolds(plan, left, this.#lost) === undefined) return;
    this.#giveUp(plan, sending, { status: first.status, uid: first.assignment.pod.uid });
  }

  #problem(
    plan: BindingPlan,
    assignment: NodeAssignment,
    isMoved: boolean,
    since: number | undefined,
  ): Status | undefined {
    const { stillHolds, stillFits } = this.#options;
    return stillHolds(plan, assignment, this.#lost) ?? (isMoved ? stillFits(plan, assignment, since) : undefined);
  }

  #begin(plan: BindingPlan, sending: Sending): void {
    if (sending.hasBegun) return;
    sending.hasBegun = true;
    this.#startsNoMore(plan);
    if (plan.startsGang) this.#options.report({ kind: 'begun', plan });
  }

  #startsNoMore(plan: BindingPlan): void {
    const key = plan.gang?.key;
    if (key !== undefined && this.#starting.get(key) === plan) this.#starting.delete(key);
  }

  #stopped(): Rejection | undefined {
    return this.#options.signal.aborted ? { status: new Status('Error', 'the scheduler is stopping') } : undefined;
  }

  /**
   * At the last moment: why this Binding may not go. Before the first one that a group is to start with all are looked at: while nobody is on a
   * node it costs nothing to give up.
   */
  #withdrawn(plan: BindingPlan, assignment: NodeAssignment, sending: Sending): Status | undefined {
    const isMoved = this.#options.revision() !== sending.revision;
    if (!sending.hasBegun && !sending.failures.has(assignment)) {
      const stopped = this.#stopped();
      if (stopped !== undefined) this.#giveUp(plan, sending, stopped);
      else if (plan.startsGang) this.#lookAtAll(plan, sending, isMoved);
    }
    return sending.failures.get(assignment)?.status ?? this.#problem(plan, assignment, isMoved, sending.revision);
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
    assignment: NodeAssignment,
    annotations: Readonly<Record<string, string>>,
    sending: Sending,
  ): Promise<void> {
    const status = await this.#send(plan, assignment, annotations, sending);
    // Plugins that bind by themselves do not say when they send.
    if (status === undefined) {
      this.#begin(plan, sending);
      this.#options.report({ kind: 'bound', plan, assignment });
      return;
    }
    if (!sending.failures.has(assignment)) this.#fail(plan, sending, [{ assignment, status }]);
  }

  async #send(
    plan: BindingPlan,
    assignment: NodeAssignment,
    annotations: Readonly<Record<string, string>>,
    sending: Sending,
  ): Promise<Status | undefined> {
    const { state, pod, nodeName } = assignment;
    const { bindOutside, cut } = this.#options;
    const { namespace, name, uid } = pod;
    const mayBeSent = (): void => {
      const rejected = this.#withdrawn(plan, assignment, sending);
      if (rejected !== undefined) throw new WithdrawnError(rejected.message);
      this.#begin(plan, sending);
    };
    const outside =
      (await bindOutside?.(pod, { namespace, name, uid, nodeName, annotations, mayBeSent }, cut)) ?? false;
    if (typeof outside === 'object') return outside;
    if (outside) return undefined;
    sending.untold.add(assignment);
    setBindingTerms(state, {
      annotations,
      get mayBeSent() {
        sending.untold.delete(assignment);
        return mayBeSent;
      },
    });
    return plan.profile.bind(state, pod, nodeName, cut);
  }
}

/** Why a plan was not waited for any longer. */
function whyEnded({ reason }: AbortSignal): Status {
  return new Status(reason instanceof WithdrawnError ? 'Unschedulable' : 'Error', messageOf(reason));
}

/** Somebody of the plan is in the gang. */
function standsIn({ assignments }: BindingPlan, gang: GangView | undefined): boolean {
  return assignments.some(({ pod }) => gang?.stateOf(pod.uid) === 'planned');
}

/** It has not failed, and has not been sent unless its plan has begun. */
function isOpen(assignment: NodeAssignment, { failures, untold }: Sending): boolean {
  return !failures.has(assignment) && !untold.has(assignment);
}
