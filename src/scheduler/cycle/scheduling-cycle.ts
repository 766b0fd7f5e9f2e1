import type { Pod } from '../../api/pod.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import { WorkBudget } from '../../base/work-budget.ts';
import { finish } from '../../base/yielding.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang-view.ts';
import type { Transaction } from '../../cluster/transaction.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { failureIn } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { oneOfEachClass } from '../../framework/one-of-each-class.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import { resourceDemandOf } from '../../framework/resource-demand.ts';
import { workPerShortStep } from '../../framework/work-per-member.ts';
import type { WaitingPod, WaitingPods } from '../../framework/waiting-pods.ts';
import type { CapacityLines } from '../../queue/capacity-lines.ts';
import type { EntityKey, QueuedEntity } from '../../queue/queued-entity.ts';
import type { EquivalenceKeys } from '../../queue/equivalence/equivalence-keys.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { ExtenderResults, Extenders } from '../extenders/extenders.ts';
import type { NodeRejections } from '../recovery/node-rejections.ts';
import type { WaitCause } from './wait-cause.ts';
import type { WaitCauses } from './wait-causes.ts';
import { demandOf } from '../placement/planning/demand.ts';
import type { Demand } from '../placement/planning/demand.ts';
import { intersectSubsets } from '../placement/cache/node-subset.ts';
import type { NodeSubset, NodeSubsetOf } from '../placement/cache/node-subset.ts';
import type { NodeAssignment, Plan, Planner, PlanRequest } from '../placement/planning/planner.ts';
import { undoAssignments } from '../placement/planning/undo-assignments.ts';
import type { Turns } from '../backfill/turns.ts';
import { waitsForVictims } from '../preemption/preemptions.ts';
import type { Preemption, Preemptions } from '../preemption/preemptions.ts';
import type { CycleResult, Rejected } from './cycle-result.ts';
import { verdictOfRejection } from './rejection-verdict.ts';
import { noDiagnosis, rejectedBy, rejectedByExtenders, statusOf } from './rejection.ts';

const bindFailed = new Status('Unschedulable', {
  text: 'node(s) where binding the pod failed',
  code: 'BindFailed',
});
const notAdmitted = new Status('Unschedulable', {
  text: 'node(s) did not admit a pod like this one',
  code: 'NotAdmitted',
});

/** State that the second half of an attempt takes over from the first. */
export interface Continuation {
  readonly extenderResults: ExtenderResults;
  /** Clock.monotonic() at the start of the attempt. */
  readonly startedAt: number;
  /** How many rounds of extender calls the attempt has made. */
  readonly rounds: number;
}

/**
 * Maximum rounds of extender calls in one attempt. More than one is needed if members of a new pod class arrive in the meantime.
 */
const maxRounds = 3;

/** Assumed cost of PostFilter, whose work the budget does not count, in passes over the nodes. */
const postFilterPasses = 10;

/** The result of Permit. */
type PermitOutcome =
  { readonly rejected: undefined; readonly waiting: readonly WaitingPod[] } | { readonly rejected: Status };

export interface SchedulingCycleOptions {
  readonly cluster: Cluster;
  readonly planner: Planner;
  readonly waitCauses: WaitCauses;
  readonly preemptions: Preemptions;
  readonly waitingPods: WaitingPods;
  readonly clock: Clock;
  readonly keys: EquivalenceKeys;
  readonly rejections: Pick<NodeRejections, 'isEmpty' | 'avoidedBy' | 'barredFor' | 'barredNamespace'>;
  readonly queue: Pick<SchedulingQueue, 'classOf' | 'classToJoin' | 'hasSharedClasses' | 'isRuledOut'>;
  readonly lines: Pick<CapacityLines, 'isFirst'>;
  /** Returns what to add to the verdict of this group. */
  readonly noteOf: (gang: GangView) => string | undefined;
  /** Absent: no extenders. */
  readonly extenders?: Extenders | undefined;
  /** Absent: no profile reserves capacity until a predicted start. */
  readonly turns?: Turns | undefined;
}

/**
 * One attempt to schedule one entity: a single pod, or a gang as a whole. The attempt sees one frozen cluster state and runs at
 * once or in steps. It ends with all needed members assumed, or with none: an entity that cannot start keeps no capacity.
 *
 * With extenders, an attempt has two halves. The first checks that the plugins agree, and makes the requests to the extenders.
 * The second decides on the cluster state of that later moment, among the nodes that the extenders returned.
 */
export class SchedulingCycle {
  readonly #options: SchedulingCycleOptions;

  constructor(options: SchedulingCycleOptions) {
    this.#options = options;
  }

  /** Makes one attempt; with `continued`, the second half of one. */
  run(entity: QueuedEntity, profile: Profile, continued?: Continuation): CycleResult {
    return finish(this.steps(entity, profile, new WorkBudget(), continued));
  }

  /**
   * Like `run`, but yields whenever the work budget is due. Until it ends or is abandoned, after which no pod is reserved or
   * assumed, nothing else may change the cluster cache.
   */
  *steps(entity: QueuedEntity, profile: Profile, budget: WorkBudget, continued?: Continuation): Yielding<CycleResult> {
    const { cluster, clock, keys, queue, rejections } = this.#options;
    const startedAt = continued?.startedAt ?? clock.monotonic();
    const { schedulingEntity } = entity;
    if (profile.preEnqueue(schedulingEntity) !== undefined) return { kind: 'notReady' };
    const demand = demandOf(cluster, schedulingEntity);
    const { members, needed, gang, signed } = demand;
    if (needed === 0 || members.length === 0) return { kind: 'settled' };

    const extenders = this.#options.extenders?.concern(members) === true ? this.#options.extenders : undefined;
    const extenderResults = continued?.extenderResults;
    const isDue = this.#options.turns?.isDue(entity.key) === true;
    if (extenders === undefined && !isDue && queue.isRuledOut(entity)) {
      const key = queue.classOf(entity)?.key;
      return { kind: 'ruledOut', pods: members, failure: { ...entity.rejection, key, error: false, isStale: true } };
    }
    let key: string | undefined;
    try {
      // While there is no class to join, the key matters only if the entity is rejected.
      if (extenders === undefined && !isDue && queue.hasSharedClasses) {
        key = yield* keys.of(profile, schedulingEntity, demand, budget, rejections.barredNamespace(members));
      }
    } catch (error) {
      return rejectedBy(members, statusOf(error), schedulingEntity);
    }
    const joined = key === undefined ? undefined : queue.classToJoin(entity, key, cluster.nodesRevision);
    if (joined !== undefined) return { kind: 'joined', joined, pods: members };
    const transaction = cluster.begin();
    try {
      const groupState = gang === undefined ? undefined : new CycleState();
      const nodeSubsetOf =
        extenders &&
        extenderResults &&
        ((pod: Pod): NodeSubset | undefined => extenders.nodeSubsetOf(extenderResults, profile, pod));
      const ignoresReservationOf = this.#options.turns?.ignoredBy(entity, demand);
      const request: PlanRequest = {
        ...{ profile, members, needed, signed, groupState, nodeSubsetOf, ignoresReservationOf },
        shortages: 'first',
      };
      const plan = yield* this.#plan(entity.key, request, transaction, budget);
      const { assignments } = plan;
      if (assignments.length < needed) {
        transaction.rollback();
        if (nodeSubsetOf === undefined) {
          if (extenders === undefined) {
            key ??= yield* keys.of(profile, schedulingEntity, demand, budget, rejections.barredNamespace(members));
          }
          return yield* this.#rejected(profile, entity, demand, plan, key, budget);
        }
        return extenders!.areIncompleteFor(extenderResults!, profile, members) && continued!.rounds < maxRounds
          ? { kind: 'asking', requests: yield* extenders!.requests(profile, demand, budget) }
          : rejectedByExtenders(schedulingEntity, demand, plan);
      }
      if (extenders !== undefined && nodeSubsetOf === undefined) {
        yield* undoAssignments(profile, assignments, transaction, 0, budget);
        transaction.rollback();
        return { kind: 'asking', requests: yield* extenders.requests(profile, demand, budget) };
      }
      yield* this.#pauseBeforePermit(profile, assignments, budget);
      const permit = this.#permit(profile, assignments);
      if (permit.rejected !== undefined) {
        this.#rejectWaiting(assignments);
        yield* undoAssignments(profile, assignments, transaction, 0, budget);
        transaction.rollback();
        return rejectedBy(members, permit.rejected, schedulingEntity);
      }
      transaction.commit();
      const { waiting } = permit;
      const startsGang = gang?.started === false;
      const groupSpec = (gang ?? cluster.gang(members[0]!.podGroupKey ?? ''))?.spec;
      return {
        kind: 'planned',
        plan: {
          profile,
          entity,
          gang,
          groupSpec,
          startsGang,
          assignments,
          strategy: plan.strategy,
          waiting,
          startedAt,
        },
      };
    } catch (error) {
      transaction.abandon();
      return rejectedBy(members, statusOf(error), schedulingEntity);
    } finally {
      // Needed if the caller abandons the attempt at a yield.
      transaction.abandon();
    }
  }

  /**
   * Plans first without the nodes where binding some member keeps failing. All members get the same node subset, so that they
   * stay identical. An entity that waits for its victims does not fall back on these nodes.
   */
  *#plan(key: EntityKey, request: PlanRequest, transaction: Transaction, budget: WorkBudget): Yielding<Plan> {
    const { planner, rejections } = this.#options;
    if (rejections.isEmpty) return yield* planner.steps(request, transaction, budget);
    let plan: Plan | undefined;
    for (const nodes of this.nodesToTry(key, request.members)) {
      const nodeSubsetOf = intersectSubsets(request.nodeSubsetOf, nodes);
      plan = yield* planner.steps({ ...request, nodeSubsetOf }, transaction, budget);
      if (plan.assignments.length >= request.needed) break;
    }
    return plan!;
  }

  /** Returns the nodes for each plan that an attempt makes until one is complete; undefined: all nodes. The last plan decides. */
  nodesToTry(key: EntityKey, members: readonly Pod[]): readonly (NodeSubsetOf | undefined)[] {
    const usable = this.usableNodes(members);
    const isLast = usable === undefined || this.#options.preemptions.isWaiting(key);
    return isLast ? [usable] : [usable, this.#barring(members)];
  }

  /** Returns the nodes where no member has failed to be bound, and that have not failed to admit a similar pod; undefined: all nodes. */
  usableNodes(members: readonly Pod[]): NodeSubsetOf | undefined {
    const { cluster, rejections } = this.#options;
    if (rejections.isEmpty) return undefined;
    const avoided = members.flatMap((pod) => rejections.avoidedBy(pod));
    if (avoided.length === 0) return undefined;
    const barred = new Set(members.flatMap((pod) => [...rejections.barredFor(pod)]));
    const reasons = avoided.map((name) => [name, barred.has(name) ? notAdmitted : bindFailed] as const);
    const nodeSubset = without(new Map(reasons), cluster);
    return () => nodeSubset;
  }

  /** Returns the nodes that have not failed to admit a similar pod; undefined if no node has. */
  #barring(members: readonly Pod[]): NodeSubsetOf | undefined {
    /** pod template -> allowed nodes */
    const nodeSubsets = new Map<Pod['template'], NodeSubset>();
    for (const pod of members) {
      const barred = this.#options.rejections.barredFor(pod);
      if (barred.size > 0 && !nodeSubsets.has(pod.template)) {
        const reasons = new Map([...barred].map((name) => [name, notAdmitted]));
        nodeSubsets.set(pod.template, without(reasons, this.#options.cluster));
      }
    }
    return nodeSubsets.size === 0 ? undefined : ({ template }) => nodeSubsets.get(template);
  }

  /** Returns the result of an attempt that cannot continue because of `status`. */
  giveUp({ schedulingEntity }: QueuedEntity, status: Status): CycleResult {
    const { members, needed } = demandOf(this.#options.cluster, schedulingEntity);
    return needed === 0 || members.length === 0 ? { kind: 'settled' } : rejectedBy(members, status, schedulingEntity);
  }

  /** Runs Permit, the gate before binding: all members pass, or none does. */
  #permit(profile: Profile, assignments: readonly NodeAssignment[]): PermitOutcome {
    const waiting: WaitingPod[] = [];
    for (const { state, pod, nodeName } of assignments) {
      const outcome = profile.permit(state, pod, nodeName);
      if (outcome.status !== undefined) return { rejected: outcome.status };
      if (outcome.waits.size > 0) waiting.push(this.#options.waitingPods.add(pod, nodeName, outcome.waits));
    }
    const rejected = waiting.find((pod) => pod.settled?.status !== undefined);
    if (rejected !== undefined) return { rejected: rejected.settled!.status! };
    const unsettled = waiting.filter((pod) => pod.settled === undefined);
    for (const pod of unsettled) this.#options.waitingPods.startTimeout(pod);
    return { rejected: undefined, waiting: unsettled };
  }

  /** Permit and the commit are one step, because no code may see only some of the members wait. */
  *#pauseBeforePermit(profile: Profile, assignments: readonly NodeAssignment[], budget: WorkBudget): Yielding<void> {
    if (!budget.lacks(assignments.length * workPerShortStep)) return;
    let isAbandoned = true;
    try {
      yield;
      isAbandoned = false;
    } finally {
      if (isAbandoned) this.#options.planner.unreserve(profile, assignments);
    }
  }

  #rejectWaiting(assignments: readonly NodeAssignment[]): void {
    for (const { pod } of assignments)
      this.#options.waitingPods.get(pod.uid)?.reject('', 'the attempt was rolled back');
  }

  *#rejected(
    profile: Profile,
    entity: QueuedEntity,
    demand: Demand,
    plan: Plan,
    key: string | undefined,
    budget: WorkBudget,
  ): Yielding<Rejected> {
    const { turns, waitCauses } = this.#options;
    const { schedulingEntity } = entity;
    const { members, needed } = demand;
    const diagnosis = plan.blocked ?? noDiagnosis(members[0]!);
    const isError = failureIn(diagnosis) !== undefined;
    const nodeCount = this.#options.cluster.nodes.length;
    if (profile.postFilters.length > 0 && budget.lacks(nodeCount * postFilterPasses)) yield;
    // Do not preempt for pods if an extender may then reject the freed nodes.
    const nodeSubsetOf = this.usableNodes(members);
    const mayPreempt = !isError && nodeCount > 0 && this.#options.extenders?.mayReject(members) !== true;
    const preemption = mayPreempt
      ? yield* this.#options.preemptions.ask({ profile, schedulingEntity, demand, diagnosis, nodeSubsetOf }, budget)
      : undefined;
    // If preemption frees enough capacity for all members, no further check is needed.
    const willFit = waitsForVictims(preemption);
    const lastNodes = willFit ? undefined : this.nodesToTry(entity.key, members).at(-1);
    const waitCause: WaitCause = willFit
      ? { waitsFor: 'capacity' }
      : yield* waitCauses.of({ profile, schedulingEntity, demand, plan, diagnosis, nodeSubsetOf: lastNodes }, budget);
    const { waitsFor } = waitCause;
    const mayHaveTurn = !willFit && turns?.mayHaveTurn(entity.key, waitsFor) === true;
    const predicted =
      mayHaveTurn && turns.mayPredict(entity, profile)
        ? { turn: yield* turns.predict({ entity, profile, demand, nodeSubsetOf }, budget) }
        : undefined;
    const future = mayHaveTurn ? (predicted === undefined ? turns.of(entity.key) : predicted.turn)?.future : undefined;
    const [shortage] = diagnosis.shortages ?? [];
    const isFirst =
      shortage !== undefined && waitsFor === 'capacity' && this.#options.lines.isFirst(entity, shortage.resource);
    const { placed } = plan;
    const { clock, noteOf } = this.#options;
    const findings = {
      ...{ schedulingEntity, diagnosis, placed, needed },
      ...{ waitCause, preemption, future, isFirst, clock, noteOf },
    };
    const membersWork = members.length * workPerShortStep;
    if (budget.lacks(membersWork)) yield;
    const isShared =
      key !== undefined &&
      !isError &&
      future === undefined &&
      preemption?.isShared !== false &&
      holdsForClass(profile, schedulingEntity, diagnosis);
    const counterpart = isShared
      ? yield* this.#options.keys.counterpart(profile, demand, diagnosis.pod, budget)
      : undefined;
    const verdictFor =
      counterpart &&
      ((of: SchedulingEntity, others: readonly Pod[]): Verdict =>
        verdictOfRejection(findings, of, { pod: counterpart(others) }));
    // The caller then reports the verdict of every member.
    if (budget.lacks(membersWork)) yield;
    return {
      kind: 'rejected',
      pods: members,
      verdict: verdictOfRejection(findings, schedulingEntity, diagnosis),
      failure: {
        unschedulablePlugins: unschedulablePluginsOf(plan, preemption),
        pending: plan.pending,
        rejectedPods: oneOfEachClass(members),
        demand: resourceDemandOf(members, needed),
        waitsForTurn: waitsFor === 'turn',
        error: isError,
        key: isShared ? key : undefined,
      },
      preemption,
      predicted,
      verdictFor,
    };
  }
}

/** A plugin may reject a pod as a whole for reasons of that pod alone. The gang policy rejects the gang. */
function holdsForClass({ gangPolicy }: Profile, { kind }: SchedulingEntity, { rejection }: Diagnosis): boolean {
  return rejection.kind === 'nodes' || (kind === 'gang' && rejection.status.plugin === gangPolicy);
}

/** Returns the plugins whose events may help the entity; empty: any event may. */
function unschedulablePluginsOf(
  { unschedulablePlugins }: Plan,
  preemption: Preemption | undefined,
): ReadonlySet<string> {
  // No plugin knows why a node does not admit a pod.
  if (unschedulablePlugins.has(notAdmitted.plugin)) return new Set();
  const { unschedulablePlugins: others = [] } = preemption ?? {};
  return others.length === 0 || unschedulablePlugins.size === 0
    ? unschedulablePlugins
    : new Set([...unschedulablePlugins, ...others]);
}

/** Returns all nodes but these. `rejected`: node name -> why */
function without(rejected: ReadonlyMap<string, Status>, { nodes }: Cluster): NodeSubset {
  const allowed = new Map(nodes.filter(({ name }) => !rejected.has(name)).map(({ name }) => [name, 0]));
  return { allowed, rejected };
}
