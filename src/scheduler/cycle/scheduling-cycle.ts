import type { Pod } from '../../api/pod.ts';
import type { Verdict, WaitsFor } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import { WorkBudget } from '../../base/work-budget.ts';
import { finish } from '../../base/yielding.ts';
import type { Yielding } from '../../base/yielding.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { Transaction } from '../../cluster/transaction.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { describeCause, failureIn, isResolvable } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import { resourceDemandOf } from '../../framework/resource-demand.ts';
import type { WaitingPod, WaitingPods } from '../../framework/waiting-pods.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { EquivalenceKeys } from '../../queue/equivalence/equivalence-keys.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { ExtenderResults, Extenders } from '../extenders/extenders.ts';
import type { NodeRejections } from '../recovery/node-rejections.ts';
import type { FeasibilityCheck } from './feasibility-check.ts';
import { demandOf } from '../placement/planning/demand.ts';
import type { Demand } from '../placement/planning/demand.ts';
import { intersectSubsets } from '../placement/cache/node-subset.ts';
import type { NodeSubset, NodeSubsetOf } from '../placement/cache/node-subset.ts';
import type { NodeAssignment, Plan, Planner, PlanRequest } from '../placement/planning/planner.ts';
import type { Preemptions } from '../preemption/preemptions.ts';
import type { CycleResult, Rejected } from './cycle-result.ts';
import {
  describeRejection,
  noDiagnosis,
  oneOfEachClass,
  rejectedBy,
  rejectedByExtenders,
  statusOf,
} from './rejection.ts';

const keepsRejecting = new Status('Unschedulable', 'node(s) could not have the pod bound');
const notAdmitted = new Status('Unschedulable', 'node(s) did not admit a pod like this one');
const neverFits = 'It would not fit even if all other pods were gone.';

/** What the second half of an attempt knows from the first. */
export interface Continuation {
  readonly answers: ExtenderResults;
  /** Clock.monotonic() when the attempt began. */
  readonly startedAt: number;
  /** How often extenders have been asked in it. */
  readonly rounds: number;
}

/** How often extenders are asked in one attempt, because members that are like none before have come meanwhile. */
const roundLimit = 3;

/** What PostFilter, whose work nobody counts, is reckoned to take: so many passes over the nodes. */
const postFilterLooks = 10;

/** How far Permit went. */
type PermitOutcome =
  { readonly rejected: undefined; readonly waiting: readonly WaitingPod[] } | { readonly rejected: Status };

export interface SchedulingCycleOptions {
  readonly cluster: Cluster;
  readonly planner: Planner;
  readonly feasibilityCheck: FeasibilityCheck;
  readonly preemptions: Preemptions;
  readonly waitingPods: WaitingPods;
  readonly clock: Clock;
  readonly keys: EquivalenceKeys;
  readonly rejections: Pick<NodeRejections, 'isEmpty' | 'avoidedBy' | 'barredFor'>;
  readonly queue: Pick<SchedulingQueue, 'classOf' | 'classToJoin' | 'hasSharedClasses' | 'isRuledOut'>;
  /** What the verdict of this group has to say besides. */
  readonly noteOf: (gang: GangView) => string | undefined;
  /** Absent: nobody outside has a say. */
  readonly extenders?: Extenders | undefined;
}

/**
 * One attempt to schedule one entity: a lone pod, or a gang as a whole. On one unmoving picture, in one piece or in steps. It ends with
 * everything that is needed assumed, or with nothing: no room is held for an entity that cannot start.
 *
 * Where extenders have a say an attempt has two halves. The first finds out that the plugins agree, and what to ask; the second
 * decides on the picture as it then is, and among the nodes that the extenders left.
 */
export class SchedulingCycle {
  readonly #options: SchedulingCycleOptions;

  constructor(options: SchedulingCycleOptions) {
    this.#options = options;
  }

  /** One attempt; with `continued`, the second half of one. */
  run(entity: QueuedEntity, profile: Profile, continued?: Continuation): CycleResult {
    return finish(this.steps(entity, profile, new WorkBudget(), continued));
  }

  /**
   * As `run`, with a pause whenever one is due. Until it has ended or was given up, after which nothing is reserved or assumed, nothing
   * else may change the picture.
   */
  *steps(entity: QueuedEntity, profile: Profile, budget: WorkBudget, continued?: Continuation): Yielding<CycleResult> {
    const { cluster, clock, keys, queue } = this.#options;
    const startedAt = continued?.startedAt ?? clock.monotonic();
    const { schedulingEntity } = entity;
    if (profile.preEnqueue(schedulingEntity) !== undefined) return { kind: 'notReady' };
    const demand = demandOf(cluster, schedulingEntity);
    const { members, needed, gang, signed } = demand;
    if (needed === 0 || members.length === 0) return { kind: 'settled' };

    const extenders = this.#options.extenders?.concern(members) === true ? this.#options.extenders : undefined;
    const answers = continued?.answers;
    if (extenders === undefined && queue.isRuledOut(entity)) {
      const key = queue.classOf(entity)?.key;
      return { kind: 'ruledOut', pods: members, failure: { ...entity.rejection, key, error: false, isStale: true } };
    }
    let key: string | undefined;
    try {
      // While there is no class to join, the key matters only if the entity is rejected.
      if (extenders === undefined && queue.hasSharedClasses) {
        key = yield* keys.of(profile, schedulingEntity, demand, budget);
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
        extenders && answers && ((pod: Pod): NodeSubset | undefined => extenders.nodeSubsetOf(answers, profile, pod));
      const request = { profile, members, needed, signed, groupState, nodeSubsetOf };
      const plan = yield* this.#plan(request, transaction, budget);
      const { assignments } = plan;
      if (assignments.length < needed) {
        this.#undo(profile, assignments, transaction);
        if (nodeSubsetOf === undefined) {
          if (extenders === undefined) key ??= yield* keys.of(profile, schedulingEntity, demand, budget);
          return yield* this.#rejected(profile, schedulingEntity, demand, plan, key, budget);
        }
        return extenders!.lack(answers!, profile, members) && continued!.rounds < roundLimit
          ? { kind: 'asking', requests: yield* extenders!.requests(profile, demand, budget) }
          : rejectedByExtenders(schedulingEntity, demand, plan);
      }
      if (extenders !== undefined && nodeSubsetOf === undefined) {
        this.#undo(profile, assignments, transaction);
        return { kind: 'asking', requests: yield* extenders.requests(profile, demand, budget) };
      }
      const permit = this.#permit(profile, assignments);
      if (permit.rejected !== undefined) {
        this.#undo(profile, assignments, transaction);
        return rejectedBy(members, permit.rejected, schedulingEntity);
      }
      transaction.commit();
      const { waiting } = permit;
      const startsGang = gang?.started === false;
      const groupSpec = (gang ?? cluster.gang(members[0]!.podGroupKey ?? ''))?.spec;
      return {
        kind: 'planned',
        plan: { profile, entity, gang, groupSpec, startsGang, assignments, waiting, startedAt },
      };
    } catch (error) {
      transaction.abandon();
      return rejectedBy(members, statusOf(error), schedulingEntity);
    } finally {
      // Where it is given up at a pause.
      transaction.abandon();
    }
  }

  /** First without the nodes that keep rejecting some member: one choice of nodes serves all, so that they stay alike. */
  *#plan(request: PlanRequest, transaction: Transaction, budget: WorkBudget): Yielding<Plan> {
    const { cluster, planner, rejections } = this.#options;
    if (rejections.isEmpty) return yield* planner.steps(request, transaction, budget);
    const avoided = new Set(request.members.flatMap((pod) => rejections.avoidedBy(pod)));
    if (avoided.size > 0) {
      const nodeSubset = without(avoided, cluster, keepsRejecting);
      const savepoint = transaction.savepoint();
      const nodeSubsetOf = intersectSubsets(request.nodeSubsetOf, () => nodeSubset);
      const plan = yield* planner.steps({ ...request, nodeSubsetOf }, transaction, budget);
      if (plan.assignments.length >= request.needed) return plan;
      planner.unreserve(request.profile, plan.assignments);
      transaction.rollbackTo(savepoint);
    }
    const nodeSubsetOf = intersectSubsets(request.nodeSubsetOf, this.#barring(request.members));
    return yield* planner.steps({ ...request, nodeSubsetOf }, transaction, budget);
  }

  /** Keeps pods from nodes that have not admitted their like; undefined where there are none. */
  #barring(members: readonly Pod[]): NodeSubsetOf | undefined {
    /** shape -> where it may go */
    const nodeSubsets = new Map<Pod['template'], NodeSubset>();
    for (const pod of members) {
      const barred = this.#options.rejections.barredFor(pod);
      if (barred.size > 0 && !nodeSubsets.has(pod.template)) {
        nodeSubsets.set(pod.template, without(barred, this.#options.cluster, notAdmitted));
      }
    }
    return nodeSubsets.size === 0 ? undefined : ({ template }) => nodeSubsets.get(template);
  }

  /** The attempt cannot go on, because of `status`. */
  giveUp({ schedulingEntity }: QueuedEntity, status: Status): CycleResult {
    const { members, needed } = demandOf(this.#options.cluster, schedulingEntity);
    return needed === 0 || members.length === 0 ? { kind: 'settled' } : rejectedBy(members, status, schedulingEntity);
  }

  /** The gate before binding: all of them pass, or none does. */
  #permit(profile: Profile, assignments: readonly NodeAssignment[]): PermitOutcome {
    const waiting: WaitingPod[] = [];
    for (const { state, pod, nodeName } of assignments) {
      const answer = profile.permit(state, pod, nodeName);
      if (answer.status !== undefined) return { rejected: answer.status };
      if (answer.waits.size > 0) waiting.push(this.#options.waitingPods.add(pod, nodeName, answer.waits));
    }
    const rejected = waiting.find((pod) => pod.settled?.status !== undefined);
    if (rejected !== undefined) return { rejected: rejected.settled!.status! };
    return { rejected: undefined, waiting: waiting.filter((pod) => pod.settled === undefined) };
  }

  #undo(profile: Profile, assignments: readonly NodeAssignment[], transaction: Transaction): void {
    this.#options.planner.unreserve(profile, assignments);
    for (const { pod } of assignments) this.#options.waitingPods.get(pod.uid)?.reject('', 'the attempt was undone');
    transaction.rollback();
  }

  *#rejected(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    demand: Demand,
    plan: Plan,
    key: string | undefined,
    budget: WorkBudget,
  ): Yielding<Rejected> {
    const { members, needed } = demand;
    const diagnosis = plan.blocked ?? noDiagnosis(members[0]!);
    const isError = failureIn(diagnosis) !== undefined;
    if (profile.hasPostFilter && budget.lacks(this.#options.cluster.nodes.length * postFilterLooks)) yield;
    // Nobody has to go for pods to which an extender may then reject the room.
    const mayMakeCapacity = !isError && this.#options.extenders?.mayReject(members) !== true;
    const preemption = mayMakeCapacity
      ? this.#options.preemptions.ask(profile, schedulingEntity, demand, diagnosis)
      : undefined;
    // With room that can be made for all of it nothing else needs to be found out.
    const isHelped = preemption !== undefined && preemption.nominations.length > 0;
    const waitsFor = isHelped
      ? 'capacity'
      : yield* this.#waitsFor(profile, schedulingEntity, demand, plan, diagnosis, budget);
    const verdictOf = (of: SchedulingEntity, { pod }: { readonly pod: Pod }): Verdict => {
      const more: string[] = [];
      if (waitsFor === 'never' && of.kind === 'gang') more.push(neverFits);
      if (preemption !== undefined) more.push(preemption.message);
      const note = of.kind === 'gang' ? this.#options.noteOf(of.gang) : undefined;
      if (note !== undefined) more.push(note);
      return {
        reason: isError ? 'SchedulerError' : 'Unschedulable',
        message: [describeRejection(of, { ...diagnosis, pod }, plan.placed, needed), ...more].join(' '),
        waitsFor,
        cause: [describeCause(diagnosis), ...more].join('. '),
      };
    };
    // What one plugin says of one pod may be about that pod alone.
    const isShared = key !== undefined && !isError && preemption === undefined && diagnosis.rejection.kind === 'nodes';
    const counterpart = isShared
      ? yield* this.#options.keys.counterpart(profile, demand, diagnosis.pod, budget)
      : undefined;
    const verdictFor =
      counterpart &&
      ((of: SchedulingEntity, others: readonly Pod[]): Verdict => verdictOf(of, { pod: counterpart(others) }));
    return {
      kind: 'rejected',
      pods: members,
      verdict: verdictOf(schedulingEntity, diagnosis),
      failure: {
        // What a node has not admitted no plugin knows of: any event is worth a try.
        unschedulablePlugins: plan.unschedulablePlugins.has(notAdmitted.plugin) ? new Set() : plan.unschedulablePlugins,
        pending: plan.pending,
        rejectedPods: oneOfEachClass(members),
        demand: resourceDemandOf(members, needed),
        error: isError,
        key: isShared ? key : undefined,
      },
      preemption,
      verdictFor,
    };
  }

  *#waitsFor(
    profile: Profile,
    schedulingEntity: SchedulingEntity,
    demand: Demand,
    plan: Plan,
    diagnosis: Diagnosis,
    budget: WorkBudget,
  ): Yielding<WaitsFor> {
    if (failureIn(diagnosis) !== undefined) return 'error';
    if (plan.never) return 'never';
    const feasibility =
      schedulingEntity.kind === 'gang'
        ? yield* this.#options.feasibilityCheck.of(profile, schedulingEntity, demand, diagnosis, budget)
        : isResolvable(diagnosis)
          ? 'capacity'
          : 'unknown';
    // Others may go, and the extender still reject what the plugins then agree to.
    return feasibility === 'capacity' && this.#options.extenders?.mayReject(demand.members) === true
      ? 'unknown'
      : feasibility;
  }
}

function without(avoided: ReadonlySet<string>, { nodes }: Cluster, why: Status): NodeSubset {
  const allowed = new Map(nodes.filter(({ name }) => !avoided.has(name)).map(({ name }) => [name, 0]));
  return { allowed, rejected: new Map([...avoided].map((name) => [name, why])) };
}
