import type { Pod } from '../../api/pod.ts';
import type { Verdict, WaitsFor } from '../../api/verdict.ts';
import type { Clock } from '../../base/clock.ts';
import { Pace } from '../../base/pace.ts';
import { finish } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { GangView } from '../../cluster/gang.ts';
import type { Transaction } from '../../cluster/transaction.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { describeCause, failureIn, isResolvable } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Candidate } from '../../framework/candidate.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import { wishOf } from '../../framework/wish.ts';
import type { WaitingPod, WaitingPods } from '../../framework/waiting-pods.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import type { EquivalenceKeys } from '../../queue/equivalence/equivalence-keys.ts';
import type { SchedulingQueue } from '../../queue/scheduling-queue.ts';
import type { ExtenderAnswers, Extenders } from '../extenders/extenders.ts';
import type { NodeRefusals } from '../recovery/node-refusals.ts';
import type { Outlook } from './outlook.ts';
import { demandOf } from '../placement/planning/demand.ts';
import type { Demand } from '../placement/planning/demand.ts';
import { leftByBoth } from '../placement/cache/narrowing.ts';
import type { Narrowing, NarrowingOf } from '../placement/cache/narrowing.ts';
import type { Placement, Plan, Planner, PlanRequest } from '../placement/planning/planner.ts';
import type { Preemptions } from '../preemption/preemptions.ts';
import type { CycleResult, Refused } from './cycle-result.ts';
import { describeRefusal, noDiagnosis, oneOfEachKind, refusedBy, refusedByExtenders, statusOf } from './refusal.ts';

const keepsRefusing = new Status('Unschedulable', 'node(s) could not have the pod bound');
const notAdmitted = new Status('Unschedulable', 'node(s) did not admit a pod like this one');
const neverFits = 'It would not fit even if all other pods were gone.';

/** What the second half of an attempt knows from the first. */
export interface Continuation {
  readonly answers: ExtenderAnswers;
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
  { readonly refused: undefined; readonly waiting: readonly WaitingPod[] } | { readonly refused: Status };

export interface SchedulingCycleOptions {
  readonly cluster: Cluster;
  readonly planner: Planner;
  readonly outlook: Outlook;
  readonly preemptions: Preemptions;
  readonly waitingPods: WaitingPods;
  readonly clock: Clock;
  readonly keys: EquivalenceKeys;
  readonly refusals: Pick<NodeRefusals, 'isEmpty' | 'avoidedBy' | 'barredFor'>;
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
    return finish(this.steps(entity, profile, new Pace(), continued));
  }

  /**
   * As `run`, with a pause whenever one is due. Until it has ended or was given up, after which nothing is reserved or assumed, nothing
   * else may change the picture.
   */
  *steps(entity: QueuedEntity, profile: Profile, pace: Pace, continued?: Continuation): Steps<CycleResult> {
    const { cluster, clock, keys, queue } = this.#options;
    const startedAt = continued?.startedAt ?? clock.monotonic();
    const { candidate } = entity;
    if (profile.preEnqueue(candidate) !== undefined) return { kind: 'notReady' };
    const demand = demandOf(cluster, candidate);
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
        key = yield* keys.of(profile, candidate, demand, pace);
      }
    } catch (error) {
      return refusedBy(members, statusOf(error), candidate);
    }
    const joined = key === undefined ? undefined : queue.classToJoin(entity, key, cluster.nodesRevision);
    if (joined !== undefined) return { kind: 'joined', joined, pods: members };
    const transaction = cluster.begin();
    try {
      const groupState = gang === undefined ? undefined : new CycleState();
      const narrowingOf =
        extenders && answers && ((pod: Pod): Narrowing | undefined => extenders.narrowingOf(answers, profile, pod));
      const request = { profile, members, needed, signed, groupState, narrowingOf };
      const plan = yield* this.#plan(request, transaction, pace);
      const { placements } = plan;
      if (placements.length < needed) {
        this.#undo(profile, placements, transaction);
        if (narrowingOf === undefined) {
          if (extenders === undefined) key ??= yield* keys.of(profile, candidate, demand, pace);
          return yield* this.#refused(profile, candidate, demand, plan, key, pace);
        }
        return extenders!.lack(answers!, profile, members) && continued!.rounds < roundLimit
          ? { kind: 'asking', questions: yield* extenders!.questions(profile, demand, pace) }
          : refusedByExtenders(candidate, demand, plan);
      }
      if (extenders !== undefined && narrowingOf === undefined) {
        this.#undo(profile, placements, transaction);
        return { kind: 'asking', questions: yield* extenders.questions(profile, demand, pace) };
      }
      const permit = this.#permit(profile, placements);
      if (permit.refused !== undefined) {
        this.#undo(profile, placements, transaction);
        return refusedBy(members, permit.refused, candidate);
      }
      transaction.commit();
      const { waiting } = permit;
      const startsGang = gang?.started === false;
      const groupSpec = (gang ?? cluster.gang(members[0]!.podGroupKey ?? ''))?.spec;
      return {
        kind: 'planned',
        plan: { profile, entity, gang, groupSpec, startsGang, placements, waiting, startedAt },
      };
    } catch (error) {
      transaction.abandon();
      return refusedBy(members, statusOf(error), candidate);
    } finally {
      // Where it is given up at a pause.
      transaction.abandon();
    }
  }

  /** First without the nodes that keep refusing some member: one choice of nodes serves all, so that they stay alike. */
  *#plan(request: PlanRequest, transaction: Transaction, pace: Pace): Steps<Plan> {
    const { cluster, planner, refusals } = this.#options;
    if (refusals.isEmpty) return yield* planner.steps(request, transaction, pace);
    const avoided = new Set(request.members.flatMap((pod) => refusals.avoidedBy(pod)));
    if (avoided.size > 0) {
      const narrowing = without(avoided, cluster, keepsRefusing);
      const savepoint = transaction.savepoint();
      const narrowingOf = leftByBoth(request.narrowingOf, () => narrowing);
      const plan = yield* planner.steps({ ...request, narrowingOf }, transaction, pace);
      if (plan.placements.length >= request.needed) return plan;
      planner.unreserve(request.profile, plan.placements);
      transaction.rollbackTo(savepoint);
    }
    const narrowingOf = leftByBoth(request.narrowingOf, this.#barring(request.members));
    return yield* planner.steps({ ...request, narrowingOf }, transaction, pace);
  }

  /** Keeps pods from nodes that have not admitted their like; undefined where there are none. */
  #barring(members: readonly Pod[]): NarrowingOf | undefined {
    /** shape -> where it may go */
    const narrowings = new Map<Pod['template'], Narrowing>();
    for (const pod of members) {
      const barred = this.#options.refusals.barredFor(pod);
      if (barred.size > 0 && !narrowings.has(pod.template)) {
        narrowings.set(pod.template, without(barred, this.#options.cluster, notAdmitted));
      }
    }
    return narrowings.size === 0 ? undefined : ({ template }) => narrowings.get(template);
  }

  /** The attempt cannot go on, because of `status`. */
  giveUp({ candidate }: QueuedEntity, status: Status): CycleResult {
    const { members, needed } = demandOf(this.#options.cluster, candidate);
    return needed === 0 || members.length === 0 ? { kind: 'settled' } : refusedBy(members, status, candidate);
  }

  /** The gate before binding: all of them pass, or none does. */
  #permit(profile: Profile, placements: readonly Placement[]): PermitOutcome {
    const waiting: WaitingPod[] = [];
    for (const { state, pod, nodeName } of placements) {
      const answer = profile.permit(state, pod, nodeName);
      if (answer.status !== undefined) return { refused: answer.status };
      if (answer.waits.size > 0) waiting.push(this.#options.waitingPods.add(pod, nodeName, answer.waits));
    }
    const rejected = waiting.find((pod) => pod.settled?.status !== undefined);
    if (rejected !== undefined) return { refused: rejected.settled!.status! };
    return { refused: undefined, waiting: waiting.filter((pod) => pod.settled === undefined) };
  }

  #undo(profile: Profile, placements: readonly Placement[], transaction: Transaction): void {
    this.#options.planner.unreserve(profile, placements);
    for (const { pod } of placements) this.#options.waitingPods.get(pod.uid)?.reject('', 'the attempt was undone');
    transaction.rollback();
  }

  *#refused(
    profile: Profile,
    candidate: Candidate,
    demand: Demand,
    plan: Plan,
    key: string | undefined,
    pace: Pace,
  ): Steps<Refused> {
    const { members, needed } = demand;
    const diagnosis = plan.blocked ?? noDiagnosis(members[0]!);
    const isError = failureIn(diagnosis) !== undefined;
    if (profile.hasPostFilter && pace.lacks(this.#options.cluster.nodes.length * postFilterLooks)) yield;
    // Nobody has to go for pods to which an extender may then refuse the room.
    const mayMakeRoom = !isError && this.#options.extenders?.mayRefuse(members) !== true;
    const preemption = mayMakeRoom ? this.#options.preemptions.ask(profile, candidate, demand, diagnosis) : undefined;
    // With room that can be made for all of it nothing else needs to be found out.
    const isHelped = preemption !== undefined && preemption.nominations.length > 0;
    const waitsFor = isHelped ? 'capacity' : yield* this.#waitsFor(profile, candidate, demand, plan, diagnosis, pace);
    const verdictOf = (of: Candidate, { pod }: { readonly pod: Pod }): Verdict => {
      const more: string[] = [];
      if (waitsFor === 'never' && of.kind === 'gang') more.push(neverFits);
      if (preemption !== undefined) more.push(preemption.message);
      const note = of.kind === 'gang' ? this.#options.noteOf(of.gang) : undefined;
      if (note !== undefined) more.push(note);
      return {
        reason: isError ? 'SchedulerError' : 'Unschedulable',
        message: [describeRefusal(of, { ...diagnosis, pod }, plan.placed, needed), ...more].join(' '),
        waitsFor,
        cause: [describeCause(diagnosis), ...more].join('. '),
      };
    };
    // What one plugin says of one pod may be about that pod alone.
    const isShared = key !== undefined && !isError && preemption === undefined && diagnosis.refusal.kind === 'nodes';
    const counterpart = isShared
      ? yield* this.#options.keys.counterpart(profile, demand, diagnosis.pod, pace)
      : undefined;
    const verdictFor =
      counterpart && ((of: Candidate, others: readonly Pod[]): Verdict => verdictOf(of, { pod: counterpart(others) }));
    return {
      kind: 'refused',
      pods: members,
      verdict: verdictOf(candidate, diagnosis),
      failure: {
        // What a node has not admitted no plugin knows of: any event is worth a try.
        refusedBy: plan.refusedBy.has(notAdmitted.plugin) ? new Set() : plan.refusedBy,
        pending: plan.pending,
        refusedPods: oneOfEachKind(members),
        wish: wishOf(members, needed),
        error: isError,
        key: isShared ? key : undefined,
      },
      preemption,
      verdictFor,
    };
  }

  *#waitsFor(
    profile: Profile,
    candidate: Candidate,
    demand: Demand,
    plan: Plan,
    diagnosis: Diagnosis,
    pace: Pace,
  ): Steps<WaitsFor> {
    if (failureIn(diagnosis) !== undefined) return 'error';
    if (plan.never) return 'never';
    const prospect =
      candidate.kind === 'gang'
        ? yield* this.#options.outlook.of(profile, candidate, demand, diagnosis, pace)
        : isResolvable(diagnosis)
          ? 'capacity'
          : 'unknown';
    // Others may go, and the extender still refuse what the plugins then agree to.
    return prospect === 'capacity' && this.#options.extenders?.mayRefuse(demand.members) === true
      ? 'unknown'
      : prospect;
  }
}

function without(avoided: ReadonlySet<string>, { nodes }: Cluster, why: Status): Narrowing {
  const allowed = new Map(nodes.filter(({ name }) => !avoided.has(name)).map(({ name }) => [name, 0]));
  return { allowed, refused: new Map([...avoided].map((name) => [name, why])) };
}
