import type { Pod } from '../../../api/pod.ts';
import type { ReservedNode } from '../../../cluster/node-reservations.ts';
import { hashText } from '../../../base/hash-text.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { PreFilterResult } from '../../../framework/profile.ts';
import type { PluginSplit } from '../cache/cached-results.ts';
import type { PodClass } from './pod-classes.ts';
import type { PlanRequest } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';
import { Ranking } from '../cache/ranking.ts';

/** A member that all PreFilter plugins have checked, with its own state and their result. */
export interface AdmittedMember {
  readonly pod: Pod;
  readonly state: CycleState;
  readonly answer: PreFilterResult;
}

/** The PreFilter result for identical members. */
interface Admission {
  /**
   * One PreFilter call covers all of them, and its state follows the plan. Otherwise PreFilter runs for each member.
   */
  readonly isUniform: boolean;
  /** The state that the ranking reads: of the pod class, or of the first pod that PreFilter admits. */
  readonly state: CycleState;
  /** The result for the ranking's pod; if PreFilter admits no pod, the first rejection. */
  readonly answer: PreFilterResult;
  readonly admitted: AdmittedMember;
}

/** A pod class, and how the plugins are split for it. */
export interface ClassContext {
  readonly podClass: PodClass;
  readonly split: PluginSplit;
}

/** Members of one pod class during one plan. */
export interface Batch extends Admission {
  readonly context: ClassContext;
  /** One of them. */
  readonly sample: Pod;
  /** The members without a node. */
  readonly pods: readonly Pod[];
  /** Undefined while PreFilter rejects all of them. */
  readonly ranking: Ranking | undefined;
}

/**
 * Returns the batch. `pods`: the members of the class without a node. `areAlike`: one PreFilter call may cover all of them.
 */
export function batchOf(
  scope: PlanScope,
  context: ClassContext,
  pods: readonly Pod[] = context.podClass.pods,
  areAlike = context.podClass.isUniform,
): Batch {
  const { podClass, split } = context;
  const { cluster, buffers, seed, request, work, indexes } = scope;
  const { profile, nodeSubsetOf } = request;
  const admission = admit(request, pods, areAlike);
  const { state, answer, admitted } = admission;
  const batch = { context, sample: pods[0]!, pods, ...admission };
  if (answer.status !== undefined) return { ...batch, ranking: undefined };
  const ranking = new Ranking(
    {
      profile,
      nodes: cluster.nodes,
      generations: () => cluster.generations,
      reservedFor: reservedFor(scope),
      split,
      within: indexes,
      nodeSubset: nodeSubsetOf?.(admitted.pod),
      spend: (steps) => work.spend(steps),
      hasNoReservation: (uid) => hasNoReservation(scope, uid),
      buffers,
      salt: cluster.ties?.pods[pods[0]!.uid]?.salt ?? hashText(`${seed} ${podClass.text}`),
    },
    { pod: admitted.pod, state, nodeNames: answer.nodeNames },
  );
  return { ...batch, ranking };
}

/**
 * Runs PreFilter before any of the pods is placed. Returns the result for the first pod that it admits, or its first rejection.
 */
function admit({ profile, groupState }: PlanRequest, pods: readonly Pod[], areAlike: boolean): Admission {
  const classState = new CycleState(groupState);
  const shared = areAlike ? profile.preFilters.shared(classState, pods[0]!) : undefined;
  // If the result may change with every placement, PreFilter runs for each pod when its turn comes.
  const isUniform = shared !== undefined && !shared.mayChange;
  const first = pods[0]!;
  if (isUniform && shared.status !== undefined) {
    return {
      isUniform,
      state: classState,
      answer: shared,
      admitted: { pod: first, state: classState, answer: shared },
    };
  }
  let rejection: PreFilterResult | undefined;
  let mayChange = false;
  for (const pod of pods) {
    const state = isUniform ? classState.fork() : new CycleState(groupState);
    const answer = isUniform ? profile.preFilters.own(state, pod, amongOf(shared)) : profile.preFilter(state, pod);
    const admitted = { pod, state, answer };
    if (answer.status === undefined) {
      return isUniform
        ? { isUniform, state: classState, answer: shared, admitted }
        : { isUniform, state, answer, admitted };
    }
    if (answer.status.code === 'Error') return { isUniform, state, answer, admitted };
    mayChange ||= answer.mayChange;
    rejection ??= answer;
  }
  const answer = { ...rejection!, mayChange };
  return { isUniform, state: classState, answer, admitted: { pod: first, state: classState, answer } };
}

/** Returns whether a reservation no longer counts, because its owner is on a node already, or the request ignores it. */
export function hasNoReservation({ cluster, request }: PlanScope, uid: string): boolean {
  return cluster.isAssumed(uid) || request.ignoresReservationOf?.(uid) === true;
}

/** Returns a function that lists the nodes with reservations that count and that a pod must respect; the same list until it has to change. */
export function reservedFor({
  cluster,
  request: { ignoresReservationOf: isIgnored },
}: PlanScope): (pod: Pod) => readonly ReservedNode[] {
  if (isIgnored === undefined) return (pod) => cluster.reservedFor(pod);
  let all: readonly ReservedNode[] | undefined;
  let counted: readonly ReservedNode[] = [];
  return (pod) => {
    const latest = cluster.reservedFor(pod);
    if (latest === all) return counted;
    all = latest;
    const left = latest.map(({ node, owners }) => ({ node, owners: owners.filter(({ uid }) => !isIgnored(uid)) }));
    return (counted = left.filter(({ owners }) => owners.length > 0));
  };
}

export function amongOf(answer: PreFilterResult): ReadonlySet<string> | undefined {
  return answer.status === undefined ? answer.nodeNames : undefined;
}
