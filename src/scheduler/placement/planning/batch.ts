import type { Pod } from '../../../api/pod.ts';
import { hashText } from '../../../base/hash-text.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { PreFilterAnswer } from '../../../framework/profile.ts';
import type { Answering } from '../cache/kept-answers.ts';
import type { Kind } from './kinds.ts';
import type { KnownNodes } from '../cache/known-nodes.ts';
import type { PlanRequest } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';
import { Ranking } from '../cache/ranking.ts';

/** A member that all PreFilters have been asked about, with its own state and their answer. */
interface Candidate {
  readonly pod: Pod;
  readonly state: CycleState;
  readonly answer: PreFilterAnswer;
}

/** How far PreFilter lets members that are alike. */
interface Admission {
  /** One PreFilter speaks for all of them; what it made is kept up to date along the plan. Else it is asked about each. */
  readonly isUniform: boolean;
  /** What the ranking reads: of the kind, or of the first pod that is let through. */
  readonly state: CycleState;
  /** For the pod of the ranking; when there is none the first refusal. */
  readonly answer: PreFilterAnswer;
  readonly asked: Candidate;
}

/** A kind, how the plugins are asked about it, and what is known of it so far. */
export interface Group {
  readonly kind: Kind;
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
  /** Undefined while PreFilter refuses all of them. */
  readonly ranking: Ranking | undefined;
}

/** `pods`: those of the group that are not placed. `areAlike`: one PreFilter may speak for all of them. */
export function batchOf(
  { cluster, room, seed, request, work, indexes }: PlanScope,
  group: Group,
  pods: readonly Pod[] = group.kind.pods,
  areAlike = group.kind.isUniform,
): Batch {
  const { kind, answering, known } = group;
  const { profile, isGone, narrowingOf } = request;
  const admission = admit(request, pods, areAlike);
  const { state, answer, asked } = admission;
  const batch = { group, sample: pods[0]!, pods, ...admission };
  if (answer.status !== undefined) return { ...batch, ranking: undefined };
  const ranking = new Ranking(
    {
      profile,
      nodes: cluster.nodes,
      generations: () => cluster.generations,
      hasClaims: () => cluster.hasClaims,
      answering,
      within: indexes,
      narrowing: narrowingOf?.(asked.pod),
      spend: (steps) => work.spend(steps),
      hasNoClaim: (uid) => cluster.isAssumed(uid) || isGone?.(uid) === true,
      room,
      known,
      salt: hashText(`${seed} ${kind.text}`),
    },
    { pod: asked.pod, state, nodeNames: answer.nodeNames },
  );
  return { ...batch, ranking };
}

/** What PreFilter says of pods before any of them is placed: of the first that it lets through, or its first refusal. */
function admit({ profile, groupState }: PlanRequest, pods: readonly Pod[], areAlike: boolean): Admission {
  const kindState = new CycleState(groupState);
  const kind = areAlike ? profile.preFilters.shared(kindState, pods[0]!) : undefined;
  // What may change with every placement is asked about each of them, when it is its turn.
  const isUniform = kind !== undefined && !kind.mayChange;
  const first = pods[0]!;
  if (isUniform && kind.status !== undefined) {
    return { isUniform, state: kindState, answer: kind, asked: { pod: first, state: kindState, answer: kind } };
  }
  let refusal: PreFilterAnswer | undefined;
  let mayChange = false;
  for (const pod of pods) {
    const state = isUniform ? kindState.fork() : new CycleState(groupState);
    const answer = isUniform ? profile.preFilters.own(state, pod, amongOf(kind)) : profile.preFilter(state, pod);
    const asked = { pod, state, answer };
    if (answer.status === undefined) {
      return isUniform ? { isUniform, state: kindState, answer: kind, asked } : { isUniform, state, answer, asked };
    }
    if (answer.status.code === 'Error') return { isUniform, state, answer, asked };
    mayChange ||= answer.mayChange;
    refusal ??= answer;
  }
  const answer = { ...refusal!, mayChange };
  return { isUniform, state: kindState, answer, asked: { pod: first, state: kindState, answer } };
}

export function amongOf(answer: PreFilterAnswer): ReadonlySet<string> | undefined {
  return answer.status === undefined ? answer.nodeNames : undefined;
}
