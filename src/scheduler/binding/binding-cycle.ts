import { planAnnotations } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { WithdrawnError } from '../../client/api-errors.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import { setBindingTerms } from '../../framework/binding-terms.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { Status } from '../../framework/status.ts';
import type { BindingFailure, BindingPlan, BindingResult, NodeAssignment } from './binding-plan.ts';
import { Recalls } from './recalls.ts';
import { PluginWaits } from './plugin-waits.ts';
import type { PluginWaitsOptions, Rejection } from './plugin-waits.ts';

export interface BindingCycleOptions extends Pick<PluginWaitsOptions, 'clock' | 'permitWaited'> {
  readonly report: (result: BindingResult) => void;
  /** A number that changes with every change of any node. */
  readonly revision: () => number;
  /**
   * Returns which of these assignments no longer pass Filter, ignoring their own reservations, and why. They are in the order of the plan.
   * `since`: the revision at which they were known to pass.
   */
  readonly misfits: (
    plan: BindingPlan,
    assignments: readonly NodeAssignment[],
    since?: number,
  ) => ReadonlyMap<NodeAssignment, Status>;
  /** Runs `look` when no attempt is open, and resolves to its result. */
  readonly betweenAttempts: <T>(look: () => T) => Promise<T>;
  /**
   * Returns why the assignment no longer matches the plan: the member must exist and be assumed on its node, and the quorum must be within
   * reach. A cheap check. `failed`: failed assignments, maybe of other plans, that the cluster cache may still count as planned.
   */
  readonly stillHolds: (
    plan: BindingPlan,
    assignment: NodeAssignment,
    failed: Iterable<NodeAssignment>,
  ) => Status | undefined;
  /** Binds pods through an extender. False: no extender binds this pod, so a Bind plugin does. A Status: the binding failed. */
  readonly bindOutside?:
    ((pod: Pod, binding: PodBinding, signal: AbortSignal) => Promise<Status | boolean>) | undefined;
  /** Resolves in a later turn of the event loop, after pending I/O. */
  readonly nextTurn: () => Promise<void>;
  /** Maximum number of Bindings of a plan to start in one turn. */
  readonly startsPerTurn: number;
  /** Returns a unique plan ID. */
  readonly planId: () => string;
  /** Once aborted, no plan starts to bind. Plans that have sent no Binding are given up. */
  readonly signal: AbortSignal;
  /** Aborts running bindings. */
  readonly bindSignal: AbortSignal;
}

/** The state of a plan whose bindings are being sent. */
interface Sending {
  /** A Binding of the plan has been sent. */
  hasBegun: boolean;
  /** assignment that will not be bound -> why; already reported */
  readonly failures: Map<NodeAssignment, BindingFailure>;
  /** Members passed to a Bind plugin that has not called `mayBeSent` yet. Such a plugin may have sent the binding on its own. */
  readonly maybeSent: Set<NodeAssignment>;
  /** Node revision at which all members were known to fit; undefined if there is none. */
  revision: number | undefined;
  /** The quorum that the Bindings record; undefined for a pod alone. */
  quorum: number | undefined;
}

/**
 * Binds plans behind a barrier: no member is bound before every member has passed Permit and PreBind and still fits. Then all bindings run in
 * parallel; those of a large plan start over several turns of the event loop. Each Binding is checked again right before it is sent. Before
 * the first Binding that starts a gang, all members are checked. When the scheduler stops, a plan that has sent a Binding is finished unless
 * `bindSignal` aborts it; other plans are given up. Never throws: every outcome is reported.
 */
export class BindingCycle {
  readonly recalls: Recalls;
  readonly #options: BindingCycleOptions;
  readonly #waits: PluginWaits;
  /** plan -> its run */
  readonly #running = new Map<BindingPlan, Promise<void>>();
  /** group key -> the plan that is about to start it, until the plan sends a Binding or can no longer be given up */
  readonly #starting = new Map<string, BindingPlan>();
  /** Failed assignments that the cluster cache still counts as planned: it is updated only between attempts. */
  readonly #failedAssignments = new Set<NodeAssignment>();
  /** Running bindings, one promise per plan. */
  readonly #binds = new Set<Promise<unknown>>();

  constructor(options: BindingCycleOptions) {
    this.#options = options;
    const { clock, permitWaited, signal } = options;
    this.#waits = new PluginWaits({ clock, permitWaited, signal, whyHopeless: (plan) => this.#whyHopeless(plan) });
    const waits = this.#waits;
    this.recalls = new Recalls({ waits, ended: (plan) => this.#running.get(plan) });
  }

  get running(): number {
    return this.#running.size;
  }

  /** Plans with a member that waits on Permit. */
  get onPermit(): ReadonlySet<BindingPlan> {
    return this.#waits.onPermit;
  }

  /** Plans that are about to start their group. No other members of these groups are planned in the meantime. */
  get starting(): readonly BindingPlan[] {
    return [...this.#starting.values()].filter((plan) => hasMemberIn(plan, plan.gang));
  }

  /**
   * Returns true while a plan is about to start the group but may still be given up, because it has sent no Binding. Other members are not
   * planned in the meantime: two plans that count on each other's members would each have a barrier and a first Binding. Returns false
   * once no member of the plan is in the group any more: no other plan counts on its members, and its plugins may take long to return.
   */
  isStarting(gang: GangView | undefined): boolean {
    const plan = gang && this.#starting.get(gang.key);
    return plan !== undefined && hasMemberIn(plan, gang);
  }

  /** The group or one of its members has changed. Gives up waiting plans that can no longer bind any member. */
  reconcile(groupKey: string): void {
    this.#waits.reconcile(groupKey);
  }

  /** Returns the first member's problem if every member has one; undefined if at least one can be bound. */
  #whyHopeless(plan: BindingPlan): Status | undefined {
    let first: Status | undefined;
    for (const assignment of plan.assignments) {
      const problem = this.#options.stillHolds(plan, assignment, this.#failedAssignments);
      if (problem === undefined) return undefined;
      first ??= problem;
    }
    return first;
  }

  start(plan: BindingPlan): void {
    const run = this.#run(plan).finally(() => this.#running.delete(plan));
    this.#running.set(plan, run);
  }

  /** Resolves once no plan is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Resolves once no Binding is running. */
  async drained(): Promise<void> {
    while (this.#binds.size > 0) await Promise.all(this.#binds);
  }

  async #run(plan: BindingPlan): Promise<void> {
    if (plan.startsGang && plan.gang !== undefined) this.#starting.set(plan.gang.key, plan);
    // Changes that the attempt deferred run in this same turn of the event loop, before this method continues.
    const revision = this.#options.revision();
    if (plan.assignments.length > this.#options.startsPerTurn) await this.#options.nextTurn();
    const early = plan.assignments.filter(({ state, pod, nodeName }) =>
      plan.profile.needsPreBind(state, pod, nodeName),
    );
    const hasWaited = plan.waiting.length > 0 || early.length > 0;
    const sending: Sending = {
      hasBegun: false,
      failures: new Map(),
      maybeSent: new Set(),
      revision: hasWaited ? undefined : revision,
      quorum: undefined,
    };
    if (hasWaited) this.recalls.begin(plan);
    const rejected = await this.#waits.pass(plan, early);
    const decide = (): void => {
      const rejection = this.recalls.end(plan) ?? rejected ?? this.#stopped();
      if (rejection !== undefined) this.#giveUp(plan, sending, rejection);
      else this.#recheckAll(plan, sending, hasWaited);
      if (hasWaited) sending.revision = this.#options.revision();
    };
    // During an attempt, Filter would see half of the attempt's plan.
    if (hasWaited) await this.#options.betweenAttempts(decide);
    else decide();
    // The quorum may have changed since the plan was made.
    sending.quorum = quorumOf(plan);
    const annotations = this.#annotations(plan, sending.quorum);
    const remaining = plan.assignments.filter((assignment) => !sending.failures.has(assignment));
    const binds = this.#bindAll(plan, remaining, annotations, sending);
    this.#binds.add(binds);
    await binds;
    this.#binds.delete(binds);
    this.#options.report({ kind: 'finished', plan, failures: [...sending.failures.values()] });
  }

  /** Fails the assignments and reports them in the same call, so that no plan counts on them any more. */
  #fail(plan: BindingPlan, sending: Sending, failures: readonly BindingFailure[]): void {
    for (const failure of failures) {
      sending.failures.set(failure.assignment, failure);
      sending.maybeSent.delete(failure.assignment);
      this.#failedAssignments.add(failure.assignment);
    }
    // Ends before the report, so that members which waited for this plan can be planned.
    if (sending.failures.size + sending.maybeSent.size === plan.assignments.length) this.#endStarting(plan);
    const { report, betweenAttempts } = this.#options;
    report({ kind: 'failed', plan, failures });
    // The report may be deferred, too. This follows right after it.
    void betweenAttempts(() => {
      for (const { assignment } of failures) this.#failedAssignments.delete(assignment);
    });
  }

  /** Fails all members that have not failed yet, except those that may have been sent: their outcome is still unknown. */
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
   * Checks all members before any is bound. The gang may have changed, and if `isMoved` the nodes as well. Fails the members that do not
   * pass. If too few remain, fails the others with them.
   */
  #recheckAll(plan: BindingPlan, sending: Sending, isMoved: boolean): void {
    const open = plan.assignments.filter((assignment) => isOpen(assignment, sending));
    const problems = this.#problems(plan, open, isMoved, sending.revision);
    const failed = open.flatMap((assignment): readonly BindingFailure[] => {
      const status = problems.get(assignment);
      return status === undefined ? [] : [{ assignment, status }];
    });
    const [first] = failed;
    if (first === undefined) return;
    this.#fail(plan, sending, failed);
    const left = plan.assignments.find((assignment) => isOpen(assignment, sending));
    if (left === undefined || this.#options.stillHolds(plan, left, this.#failedAssignments) === undefined) return;
    this.#giveUp(plan, sending, { status: first.status, uid: first.assignment.pod.uid });
  }

  #problems(
    plan: BindingPlan,
    assignments: readonly NodeAssignment[],
    isMoved: boolean,
    since: number | undefined,
  ): ReadonlyMap<NodeAssignment, Status> {
    const { stillHolds, misfits } = this.#options;
    const problems = new Map<NodeAssignment, Status>();
    for (const assignment of assignments) {
      const status = stillHolds(plan, assignment, this.#failedAssignments);
      if (status !== undefined) problems.set(assignment, status);
    }
    if (!isMoved) return problems;
    const holding = assignments.filter((assignment) => !problems.has(assignment));
    return new Map([...problems, ...misfits(plan, holding, since)]);
  }

  #begin(plan: BindingPlan, sending: Sending): void {
    if (sending.hasBegun) return;
    sending.hasBegun = true;
    this.#endStarting(plan);
    if (plan.startsGang) this.#options.report({ kind: 'begun', plan });
  }

  #endStarting(plan: BindingPlan): void {
    const key = plan.gang?.key;
    if (key !== undefined && this.#starting.get(key) === plan) this.#starting.delete(key);
  }

  #stopped(): Rejection | undefined {
    return this.#options.signal.aborted ? { status: new Status('Error', 'the scheduler is stopping') } : undefined;
  }

  /**
   * Checks a Binding right before it is sent, and returns why it must not be. Before the first Binding that starts a group, all members are
   * checked: while no member is bound, giving up the plan has no cost.
   */
  #withdrawn(plan: BindingPlan, assignment: NodeAssignment, sending: Sending): Status | undefined {
    const isMoved = this.#options.revision() !== sending.revision;
    if (!sending.hasBegun && !sending.failures.has(assignment)) {
      const stopped = this.#stopped();
      if (stopped !== undefined) this.#giveUp(plan, sending, stopped);
      else if (plan.startsGang) this.#recheckAll(plan, sending, isMoved);
      const changed = changedQuorum(plan, sending);
      if (changed !== undefined && !sending.failures.has(assignment)) this.#giveUp(plan, sending, changed);
    }
    const failure = sending.failures.get(assignment);
    if (failure !== undefined) return failure.status;
    return this.#problems(plan, [assignment], isMoved, sending.revision).get(assignment);
  }

  #annotations({ groupSpec }: BindingPlan, quorum: number | undefined): Readonly<Record<string, string>> {
    if (groupSpec === undefined) return {};
    const annotations = { [planAnnotations.groupUid]: groupSpec.uid };
    if (quorum === undefined) return annotations;
    return {
      ...annotations,
      [planAnnotations.plan]: this.#options.planId(),
      [planAnnotations.quorum]: String(quorum),
    };
  }

  /** Binds these members of the plan, except those that fail before their turn. */
  async #bindAll(
    plan: BindingPlan,
    assignments: readonly NodeAssignment[],
    annotations: Readonly<Record<string, string>>,
    sending: Sending,
  ): Promise<void> {
    const { nextTurn, startsPerTurn } = this.#options;
    const isLarge = assignments.length > startsPerTurn;
    const binds: Promise<void>[] = [];
    for (let start = 0; start < assignments.length; start += startsPerTurn) {
      if (isLarge) await nextTurn();
      const inTurn = assignments
        .slice(start, start + startsPerTurn)
        .filter((assignment) => !sending.failures.has(assignment));
      if (isLarge && inTurn.length > 0) this.#checkTurn(plan, inTurn, sending);
      for (const assignment of inTurn) {
        if (!sending.failures.has(assignment)) binds.push(this.#bind(plan, assignment, annotations, sending));
      }
    }
    await Promise.all(binds);
  }

  /** Fails members whose turn comes some time after the barrier: a Bind plugin that sends its own request checks nothing. */
  #checkTurn(plan: BindingPlan, assignments: readonly NodeAssignment[], sending: Sending): void {
    const stopped = this.#stopped();
    if (stopped !== undefined && !sending.hasBegun && sending.maybeSent.size === 0)
      this.#giveUp(plan, sending, stopped);
    const open = assignments.filter((assignment) => !sending.failures.has(assignment));
    const problems = this.#problems(plan, open, false, undefined);
    const failures = [...problems].map(([assignment, status]): BindingFailure => ({ assignment, status }));
    if (failures.length > 0) this.#fail(plan, sending, failures);
  }

  async #bind(
    plan: BindingPlan,
    assignment: NodeAssignment,
    annotations: Readonly<Record<string, string>>,
    sending: Sending,
  ): Promise<void> {
    const status = await this.#send(plan, assignment, annotations, sending);
    // A Bind plugin that sends its own request does not call `mayBeSent`.
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
    const { bindOutside, bindSignal } = this.#options;
    const { namespace, name, uid } = pod;
    const mayBeSent = (): void => {
      const rejected = this.#withdrawn(plan, assignment, sending);
      if (rejected !== undefined) throw new WithdrawnError(rejected.message);
      this.#begin(plan, sending);
    };
    const outside =
      (await bindOutside?.(pod, { namespace, name, uid, nodeName, annotations, mayBeSent }, bindSignal)) ?? false;
    if (typeof outside === 'object') return outside;
    if (outside) return undefined;
    sending.maybeSent.add(assignment);
    setBindingTerms(state, {
      annotations,
      get mayBeSent() {
        sending.maybeSent.delete(assignment);
        return mayBeSent;
      },
    });
    return plan.profile.bind(state, pod, nodeName, bindSignal);
  }
}

/** Returns the latest quorum of the group object that the plan is for; undefined if the plan is for a pod alone. */
function quorumOf({ gang, groupSpec }: BindingPlan): number | undefined {
  return gang && (gang.spec?.uid === groupSpec?.uid ? gang.spec : groupSpec)?.minMember;
}

/**
 * Returns why a plan that starts a gang must be made again: the quorum has changed since the plan's Bindings were written. If they name a
 * lower quorum, they show too early that the gang has started.
 */
function changedQuorum(plan: BindingPlan, { quorum }: Sending): Rejection | undefined {
  const current = quorumOf(plan);
  if (!plan.startsGang || current === quorum) return undefined;
  const message = `PodGroup ${plan.gang!.key} now needs ${current} members instead of ${quorum}`;
  return { status: new Status('Unschedulable', message) };
}

/** Returns whether the gang still counts a member of the plan as planned. */
function hasMemberIn({ assignments }: BindingPlan, gang: GangView | undefined): boolean {
  return assignments.some(({ pod }) => gang?.stateOf(pod.uid) === 'planned');
}

/** Returns whether the assignment has neither failed nor may have been sent by a Bind plugin. */
function isOpen(assignment: NodeAssignment, { failures, maybeSent }: Sending): boolean {
  return !failures.has(assignment) && !maybeSent.has(assignment);
}
