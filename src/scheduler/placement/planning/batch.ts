import type { Pod } from '../../../api/pod.ts';
import { hashText } from '../../../base/hash-text.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { PreFilterResult } from '../../../framework/profile.ts';
import type { Answering } from '../cache/cached-results.ts';
import type { PodClass } from './pod-classes.ts';
import type { KnownNodes } from '../cache/known-nodes.ts';
import type { PlanRequest } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';
import { Ranking } from '../cache/ranking.ts';

/** A member that all PreFilters have been asked about, with its own state and their answer. */
interface AdmittedMember {
  readonly pod: Pod;
  readonly state: CycleState;
  readonly answer: PreFilterResult;
}

/** How far PreFilter lets members that are alike. */
interface Admission {
  /** One PreFilter speaks for all of them; what it made is kept up to date along the plan. Else it is asked about each. */
  readonly isUniform: boolean;
  /** What the ranking reads: of the kind, or of the first pod that is let through. */
  readonly state: CycleState;
  /** For the pod of the ranking; when there is none the first rejection. */
  readonly answer: PreFilterResult;
  readonly asked: AdmittedMember;
}

/** A kind, how the plugins are asked about it, and what is known of it so far. */
export interface Group {
  readonly kind: PodClass;
  readonly answering: Answering;
  readonly known: KnownNodes;
}

/** Members of one kind, along one plan. */
export interface Batch extends Admission {
  readonly group: Group;
  /** One of them. */
  readonly sample: Pod;
  /** Those that are not placed. */
  readonly pods: readonly Pod[];
  /** Undefined while PreFilter rejects all of them. */
  readonly ranking: Ranking | undefined;
}

/** `pods`: those of the group that are not placed. `areAlike`: one PreFilter may speak for all of them. */
export function batchOf(
  { cluster, buffers, seed, request, work, indexes }: PlanScope,
  group: Group,
  pods: readonly Pod[] = group.kind.pods,
  areAlike = group.kind.isUniform,
): Batch {
  const { kind, answering, known } = group;
  const { profile, isGone, nodeSubsetOf } = request;
  const admission = admit(request, pods, areAlike);
  const { state, answer, asked } = admission;
  const batch = { group, sample: pods[0]!, pods, ...admission };
  if (answer.status !== undefined) return { ...batch, ranking: undefined };
  const ranking = new Ranking(
    {
      profile,
      nodes: cluster.nodes,
      generations: () => cluster.generations,
      hasReservations: () => cluster.hasReservations,
      answering,
      within: indexes,
      nodeSubset: nodeSubsetOf?.(asked.pod),
      spend: (steps) => work.spend(steps),
      hasNoReservation: (uid) => cluster.isAssumed(uid) || isGone?.(uid) === true,
      buffers,
      known,
      salt: hashText(`${seed} ${kind.text}`),
    },
    { pod: asked.pod, state, nodeNames: answer.nodeNames },
  );
  return { ...batch, ranking };
}

/** What PreFilter says of pods before any of them is placed: of the first that it lets through, or its first rejection. */
function admit({ profile, groupState }: PlanRequest, pods: readonly Pod[], areAlike: boolean): Admission {
  const classState = new CycleState(groupState);
  const kind = areAlike ? profile.preFilters.shared(classState, pods[0]!) : undefined;
  // What may change with every placement is asked about each of them, when it is its turn.
  const isUniform = kind !== undefined && !kind.mayChange;
  const first = pods[0]!;
  if (isUniform && kind.status !== undefined) {
    return { isUniform, state: classState, answer: kind, asked: { pod: first, state: classState, answer: kind } };
  }
  let rejection: PreFilterResult | undefined;
  let mayChange = false;
  for (const pod of pods) {
    const state = isUniform ? classState.fork() : new CycleState(groupState);
    const answer = isUniform ? profile.preFilters.own(state, pod, amongOf(kind)) : profile.preFilter(state, pod);
    const asked = { pod, state, answer };
    if (answer.status === undefined) {
      return isUniform ? { isUniform, state: classState, answer: kind, asked } : { isUniform, state, answer, asked };
    }
    if (answer.status.code === 'Error') return { isUniform, state, answer, asked };
    mayChange ||= answer.mayChange;
    rejection ??= answer;
  }
  const answer = { ...rejection!, mayChange };
  return { isUniform, state: classState, answer, asked: { pod: first, state: classState, answer } };
}

export function amongOf(answer: PreFilterResult): ReadonlySet<string> | undefined {
  return answer.status === undefined ? answer.nodeNames : undefined;
}
