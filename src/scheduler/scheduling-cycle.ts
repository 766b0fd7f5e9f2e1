import type { Pod } from '../api/pod.ts';
import type { Verdict } from '../api/verdict.ts';
import type { Clock } from '../base/clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Gang } from '../cluster/gang.ts';
import type { Transaction } from '../cluster/transaction.ts';
import { CycleState } from '../framework/cycle-state.ts';
import { describeDiagnosis } from '../framework/diagnosis.ts';
import type { Diagnosis } from '../framework/diagnosis.ts';
import type { Candidate } from '../framework/plugin.ts';
import type { Profile } from '../framework/profile.ts';
import { Status } from '../framework/status.ts';
import type { WaitingPod, WaitingPods } from '../framework/waiting-pods.ts';
import type { QueuedEntity } from '../queue/queued-entity.ts';
import type { Failure } from '../queue/scheduling-queue.ts';
import type { BindingPlan } from './binding-plan.ts';
import type { Placement, Plan, Planner } from './placement/planner.ts';

/** How one attempt ended. */
export type CycleResult =
  /** Nothing is left to place: a group whose quorum stands, a pod that is bound or gone. */
  | { readonly kind: 'settled' }
  /** PreEnqueue refuses it now. */
  | { readonly kind: 'notReady' }
  /** All that was needed is assumed; to be bound. */
  | { readonly kind: 'planned'; readonly plan: BindingPlan }
  /** Nothing is assumed; the verdict is for all `pods`. */
  | {
      readonly kind: 'refused';
      readonly pods: readonly Pod[];
      readonly verdict: Verdict;
      readonly failure: Failure;
    };

/** How far Permit went. */
type PermitOutcome =
  { readonly refused: undefined; readonly waiting: readonly WaitingPod[] } | { readonly refused: Status };

/**
 * One attempt to schedule one entity: a lone pod, or a gang as a whole. Synchronous, on one unmoving picture. It ends with
 * everything that is needed assumed, or with nothing: no room is held for an entity that cannot start.
 */
export class SchedulingCycle {
  readonly #cluster: Cluster;
  readonly #planner: Planner;
  readonly #waitingPods: WaitingPods;
  readonly #clock: Clock;

  constructor(options: {
    readonly cluster: Cluster;
    readonly planner: Planner;
    readonly waitingPods: WaitingPods;
    readonly clock: Clock;
  }) {
    this.#cluster = options.cluster;
    this.#planner = options.planner;
    this.#waitingPods = options.waitingPods;
    this.#clock = options.clock;
  }

  run(entity: QueuedEntity, profile: Profile): CycleResult {
    const startedAt = this.#clock.monotonic();
    const { candidate } = entity;
    if (profile.preEnqueue(candidate) !== undefined) return { kind: 'notReady' };
    const { members, needed, gang } = this.#demand(candidate);
    if (needed === 0 || members.length === 0) return { kind: 'settled' };

    const transaction = this.#cluster.begin();
    try {
      const groupState = gang === undefined ? undefined : new CycleState();
      const plan = this.#planner.plan(profile, members, needed, transaction, groupState);
      const { placements } = plan;
      if (placements.length < needed) {
        this.#undo(profile, placements, transaction);
        return this.#refused(profile, candidate, members, plan, needed);
      }
      const permit = this.#permit(profile, placements);
      if (permit.refused !== undefined) {
        this.#undo(profile, placements, transaction);
        return refusedBy(profile, members, permit.refused, candidate);
      }
      transaction.commit();
      const { waiting } = permit;
      return { kind: 'planned', plan: { profile, entity, gang, placements, waiting, startedAt } };
    } catch (error) {
      transaction.abandon();
      const text = error instanceof Error ? error.message : String(error);
      return refusedBy(profile, members, new Status('Error', `the attempt failed: ${text}`, '', error), candidate);
    }
  }

  #demand(candidate: Candidate): { members: readonly Pod[]; needed: number; gang: Gang | undefined } {
    if (candidate.kind === 'gang') {
      const { gang } = candidate;
      // In order of arrival, which the gang's own list of pending members loses when a plan is rolled back.
      const members = [...gang.members.values()].filter((member) => gang.pending.has(member.uid));
      return { members, needed: gang.missing, gang };
    }
    const pod = this.#cluster.pod(candidate.pod.uid);
    const isOpen = pod?.nodeName === '' && !pod.deleting && !this.#cluster.isAssumed(pod.uid);
    return { members: isOpen ? [pod] : [], needed: 1, gang: undefined };
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

  #refused(profile: Profile, candidate: Candidate, members: readonly Pod[], plan: Plan, needed: number): CycleResult {
    const diagnosis = plan.blocked ?? noDiagnosis(members[0]!);
    const postFilter = profile.postFilter(candidate, diagnosis);
    const isError = diagnosis.preFilter?.code === 'Error';
    const message = describeRefusal(candidate, diagnosis, plan.placements.length, needed);
    return {
      kind: 'refused',
      pods: members,
      verdict: {
        reason: isError ? 'SchedulerError' : 'Unschedulable',
        message: postFilter === undefined ? message : `${message} ${postFilter.message}`,
      },
      failure: failureOf(profile, candidate, plan.refusedBy, members, isError),
    };
  }
}

function refusedBy(profile: Profile, members: readonly Pod[], status: Status, candidate: Candidate): CycleResult {
  const isError = status.code === 'Error';
  const prefix = candidate.kind === 'gang' ? `PodGroup ${candidate.gang.key} cannot start: ` : '';
  return {
    kind: 'refused',
    pods: members,
    verdict: { reason: isError ? 'SchedulerError' : 'Unschedulable', message: `${prefix}${status.reason}.` },
    failure: failureOf(profile, candidate, status.plugin === '' ? [] : [status.plugin], members, isError),
  };
}

/** One sentence for every member: which of them finds no node, and why, counted over the nodes. */
function describeRefusal(candidate: Candidate, diagnosis: Diagnosis, placed: number, needed: number): string {
  if (candidate.kind === 'pod') return describeDiagnosis(diagnosis);
  const cannot = `PodGroup ${candidate.gang.key} cannot start`;
  if (diagnosis.preFilter !== undefined) return `${cannot}: ${diagnosis.preFilter.reason}.`;
  const after = placed === 0 ? '' : `with ${placed} of ${needed} members placed, `;
  return `${cannot}: ${after}${diagnosis.pod.name} finds no node: ${describeDiagnosis(diagnosis)}`;
}

/** A change of the group or its members may help a gang, whoever refused it: its policy is asked about events as well. */
function failureOf(
  profile: Profile,
  { kind }: Candidate,
  plugins: Iterable<string>,
  members: readonly Pod[],
  error: boolean,
): Failure {
  const refusedBy = new Set(plugins);
  if (kind === 'gang' && refusedBy.size > 0 && profile.gangPolicy !== undefined) refusedBy.add(profile.gangPolicy);
  return { refusedBy, refusedPods: oneOfEachKind(members), error };
}

/** Room for any member may be what the refused one lacks, so hints are asked about each kind. */
function oneOfEachKind(members: readonly Pod[]): readonly Pod[] {
  return [...new Map(members.map((pod) => [pod.template, pod])).values()];
}

function noDiagnosis(pod: Pod): Diagnosis {
  return {
    pod,
    nodeCount: 0,
    preFilter: undefined,
    nodeReasons: new Map(),
    plugins: new Set(),
    resolvable: false,
  };
}
