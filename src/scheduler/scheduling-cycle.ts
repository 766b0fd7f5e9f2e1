import type { Pod } from '../api/pod.ts';
import type { Verdict, WaitsFor } from '../api/verdict.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/message-of.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Transaction } from '../cluster/transaction.ts';
import { CycleState } from '../framework/cycle-state.ts';
import { describeDiagnosis, failureIn, isResolvable } from '../framework/diagnosis.ts';
import type { Diagnosis } from '../framework/diagnosis.ts';
import { outsiders } from '../framework/event-hints.ts';
import type { Candidate } from '../framework/candidate.ts';
import { PluginFailure } from '../framework/profile.ts';
import type { Profile } from '../framework/profile.ts';
import { Status } from '../framework/status.ts';
import type { WaitingPod, WaitingPods } from '../framework/waiting-pods.ts';
import type { QueuedEntity } from '../queue/queued-entity.ts';
import type { Failure } from '../queue/scheduling-queue.ts';
import type { BindingPlan } from './binding-plan.ts';
import type { ExtenderAnswers, Extenders, Question } from './extenders.ts';
import type { Outlook } from './outlook.ts';
import { demandOf } from './placement/demand.ts';
import type { Demand } from './placement/demand.ts';
import type { Narrowing } from './placement/narrowing.ts';
import type { Placement, Plan, Planner } from './placement/planner.ts';
import type { Preemption, Preemptions } from './preemptions.ts';

/** How one attempt ended. */
export type CycleResult =
  /** Nothing is left to place: a group whose quorum stands, a pod that is bound or gone. */
  | { readonly kind: 'settled' }
  /** PreEnqueue refuses it now. */
  | { readonly kind: 'notReady' }
  /** The plugins agree; extenders have to be asked before anything is assumed. */
  | { readonly kind: 'asking'; readonly questions: readonly Question[] }
  /** All that was needed is assumed; to be bound. */
  | { readonly kind: 'planned'; readonly plan: BindingPlan }
  /** Nothing is assumed; the verdict is for all `pods`. */
  | {
      readonly kind: 'refused';
      readonly pods: readonly Pod[];
      readonly verdict: Verdict;
      readonly failure: Failure;
      /** Room that PostFilter found a way to make. */
      readonly preemption: Preemption | undefined;
    };

const neverFits = 'It would not fit even if all other pods were gone.';

type Refused = Extract<CycleResult, { kind: 'refused' }>;

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

/** How far Permit went. */
type PermitOutcome =
  { readonly refused: undefined; readonly waiting: readonly WaitingPod[] } | { readonly refused: Status };

/**
 * One attempt to schedule one entity: a lone pod, or a gang as a whole. Synchronous, on one unmoving picture. It ends with
 * everything that is needed assumed, or with nothing: no room is held for an entity that cannot start.
 *
 * Where extenders have a say an attempt has two halves. The first finds out that the plugins agree, and what to ask; the second
 * decides on the picture as it then is, and among the nodes that the extenders left.
 */
export class SchedulingCycle {
  readonly #cluster: Cluster;
  readonly #planner: Planner;
  readonly #outlook: Outlook;
  readonly #preemptions: Preemptions;
  readonly #waitingPods: WaitingPods;
  readonly #clock: Clock;
  readonly #extenders: Extenders | undefined;

  constructor(options: {
    readonly cluster: Cluster;
    readonly planner: Planner;
    readonly outlook: Outlook;
    readonly preemptions: Preemptions;
    readonly waitingPods: WaitingPods;
    readonly clock: Clock;
    /** Absent: nobody outside has a say. */
    readonly extenders?: Extenders | undefined;
  }) {
    this.#cluster = options.cluster;
    this.#planner = options.planner;
    this.#outlook = options.outlook;
    this.#preemptions = options.preemptions;
    this.#waitingPods = options.waitingPods;
    this.#clock = options.clock;
    this.#extenders = options.extenders;
  }

  /** One attempt; with `continued`, the second half of one. */
  run(entity: QueuedEntity, profile: Profile, continued?: Continuation): CycleResult {
    const startedAt = continued?.startedAt ?? this.#clock.monotonic();
    const { candidate } = entity;
    if (profile.preEnqueue(candidate) !== undefined) return { kind: 'notReady' };
    const demand = demandOf(this.#cluster, candidate);
    const { members, needed, gang } = demand;
    if (needed === 0 || members.length === 0) return { kind: 'settled' };

    const extenders = this.#extenders?.concern(members) === true ? this.#extenders : undefined;
    const answers = continued?.answers;
    const transaction = this.#cluster.begin();
    try {
      const groupState = gang === undefined ? undefined : new CycleState();
      const narrowingOf =
        extenders && answers && ((pod: Pod): Narrowing | undefined => extenders.narrowingOf(answers, profile, pod));
      const plan = this.#planner.plan({ profile, members, needed, groupState, narrowingOf }, transaction);
      const { placements } = plan;
      if (placements.length < needed) {
        this.#undo(profile, placements, transaction);
        if (narrowingOf === undefined) return this.#refused(profile, candidate, demand, plan);
        return extenders!.lack(answers!, profile, members) && continued!.rounds < roundLimit
          ? { kind: 'asking', questions: extenders!.questions(profile, demand) }
          : refusedByExtenders(candidate, demand, plan);
      }
      if (extenders !== undefined && narrowingOf === undefined) {
        this.#undo(profile, placements, transaction);
        return { kind: 'asking', questions: extenders.questions(profile, demand) };
      }
      const permit = this.#permit(profile, placements);
      if (permit.refused !== undefined) {
        this.#undo(profile, placements, transaction);
        return refusedBy(members, permit.refused, candidate);
      }
      transaction.commit();
      const { waiting } = permit;
      const startsGang = gang?.started === false;
      const groupSpec = (gang ?? this.#cluster.gang(members[0]!.podGroupKey ?? ''))?.spec;
      return {
        kind: 'planned',
        plan: { profile, entity, gang, groupSpec, startsGang, placements, waiting, startedAt },
      };
    } catch (error) {
      transaction.abandon();
      return refusedBy(members, statusOf(error), candidate);
    }
  }

  /** The attempt cannot go on, because of `status`. */
  giveUp({ candidate }: QueuedEntity, status: Status): CycleResult {
    const { members, needed } = demandOf(this.#cluster, candidate);
    return needed === 0 || members.length === 0 ? { kind: 'settled' } : refusedBy(members, status, candidate);
  }

  /** The gate before binding: all of them pass, or none does. */
  #permit(profile: Profile, placements: readonly Placement[]): PermitOutcome {
    const waiting: WaitingPod[] = [];
    for (const { state, pod, nodeName } of placements) {
      const answer = profile.permit(state, pod, nodeName);
      if (answer.status !== undefined) return { refused: answer.status };
      if (answer.waits.size > 0) waiting.push(this.#waitingPods.add(pod, nodeName, answer.waits));
    }
    const rejected = waiting.find((pod) => pod.settled?.status !== undefined);
    if (rejected !== undefined) return { refused: rejected.settled!.status! };
    return { refused: undefined, waiting: waiting.filter((pod) => pod.settled === undefined) };
  }

  #undo(profile: Profile, placements: readonly Placement[], transaction: Transaction): void {
    this.#planner.unreserve(profile, placements);
    for (const { pod } of placements) this.#waitingPods.get(pod.uid)?.reject('', 'the attempt was undone');
    transaction.rollback();
  }

  #refused(profile: Profile, candidate: Candidate, demand: Demand, plan: Plan): Refused {
    const { members, needed } = demand;
    const diagnosis = plan.blocked ?? noDiagnosis(members[0]!);
    const isError = failureIn(diagnosis) !== undefined;
    // Nobody has to go for pods to which an extender may then refuse the room.
    const mayMakeRoom = !isError && this.#extenders?.mayRefuse(members) !== true;
    const preemption = mayMakeRoom ? this.#preemptions.ask(profile, candidate, demand, diagnosis) : undefined;
    // With room that can be made for all of it nothing else needs to be found out.
    const isHelped = preemption !== undefined && preemption.nominations.length > 0;
    const waitsFor = isHelped ? 'capacity' : this.#waitsFor(profile, candidate, demand, plan, diagnosis);
    const sentences = [describeRefusal(candidate, diagnosis, plan.placements.length, needed)];
    if (waitsFor === 'never' && candidate.kind === 'gang') sentences.push(neverFits);
    if (preemption !== undefined) sentences.push(preemption.message);
    return {
      kind: 'refused',
      pods: members,
      verdict: { reason: isError ? 'SchedulerError' : 'Unschedulable', message: sentences.join(' '), waitsFor },
      failure: { refusedBy: plan.refusedBy, refusedPods: oneOfEachKind(members), error: isError },
      preemption,
    };
  }

  #waitsFor(profile: Profile, candidate: Candidate, demand: Demand, plan: Plan, diagnosis: Diagnosis): WaitsFor {
    if (failureIn(diagnosis) !== undefined) return 'error';
    if (plan.never) return 'never';
    const prospect =
      candidate.kind === 'gang'
        ? this.#outlook.of(profile, candidate, demand, diagnosis)
        : isResolvable(diagnosis)
          ? 'capacity'
          : 'unknown';
    // Others may go, and the extender still refuse what the plugins then agree to.
    return prospect === 'capacity' && this.#extenders?.mayRefuse(demand.members) === true ? 'unknown' : prospect;
  }
}

/**
 * The plugins agreed, and what extenders left is not enough. What they would say if other pods were gone is not known: nobody is
 * made to go for it, and any event is worth a try, as in kube-scheduler.
 */
function refusedByExtenders(candidate: Candidate, { members, needed }: Demand, plan: Plan): Refused {
  const diagnosis = plan.blocked ?? noDiagnosis(members[0]!);
  const isError = failureIn(diagnosis) !== undefined;
  const message = describeRefusal(candidate, diagnosis, plan.placements.length, needed);
  return {
    kind: 'refused',
    pods: members,
    verdict: {
      reason: isError ? 'SchedulerError' : 'Unschedulable',
      message,
      waitsFor: isError ? 'error' : 'unknown',
    },
    failure: { refusedBy: new Set([outsiders]), refusedPods: oneOfEachKind(members), error: isError },
    preemption: undefined,
  };
}

function statusOf(error: unknown): Status {
  if (error instanceof PluginFailure) return error.status;
  return new Status('Error', `the attempt failed: ${messageOf(error)}`, '', error);
}

function refusedBy(members: readonly Pod[], status: Status, candidate: Candidate): Refused {
  const isError = status.code === 'Error';
  const prefix = candidate.kind === 'gang' ? `PodGroup ${candidate.gang.key} cannot start: ` : '';
  return {
    kind: 'refused',
    pods: members,
    verdict: {
      reason: isError ? 'SchedulerError' : 'Unschedulable',
      message: `${prefix}${status.message}.`,
      waitsFor: isError ? 'error' : 'permit',
    },
    failure: {
      refusedBy: new Set(status.plugin === '' ? [] : [status.plugin]),
      refusedPods: oneOfEachKind(members),
      error: isError,
    },
    preemption: undefined,
  };
}

/** One sentence for every member: which of them finds no node, and why, counted over the nodes. */
function describeRefusal(candidate: Candidate, diagnosis: Diagnosis, placed: number, needed: number): string {
  if (candidate.kind === 'pod') return describeDiagnosis(diagnosis);
  const cannot = `PodGroup ${candidate.gang.key} cannot start`;
  if (diagnosis.refusal.kind === 'pod') return `${cannot}: ${diagnosis.refusal.status.message}.`;
  const after = placed === 0 ? '' : `with ${placed} of ${needed} members placed, `;
  return `${cannot}: ${after}${diagnosis.pod.name} finds no node: ${describeDiagnosis(diagnosis)}`;
}

/** Room for any member may be what the refused one lacks, so hints are asked about each kind. */
function oneOfEachKind(members: readonly Pod[]): readonly Pod[] {
  return [...new Map(members.map((pod) => [pod.template, pod])).values()];
}

function noDiagnosis(pod: Pod): Diagnosis {
  return {
    pod,
    nodeCount: 0,
    refusal: { kind: 'nodes', reasons: new Map(), resolvable: false },
    plugins: new Set(),
  };
}
