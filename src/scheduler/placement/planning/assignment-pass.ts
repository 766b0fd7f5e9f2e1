import type { Pod } from '../../../api/pod.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { failureIn, unschedulablePluginsOf } from '../../../framework/diagnosis.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import { Status } from '../../../framework/status.ts';
import { sameNames } from '../cache/ranking.ts';
import type { Ranking } from '../cache/ranking.ts';
import { amongOf, batchOf } from './batch.ts';
import type { Batch } from './batch.ts';
import { complete, stopped } from './plan.ts';
import type { NodeAssignment, Plan, PlanRequest } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';
import { UnschedulablePluginSet } from './unschedulable-plugin-set.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';

/** The members of a batch that were not placed; `diagnosis` is of the first of them. */
interface Leftover {
  readonly pods: readonly Pod[];
  readonly diagnosis: Diagnosis;
  /** More placements may change that. */
  readonly mayChange: boolean;
  /** Not even taking other pods away may. */
  readonly never: boolean;
}

/** One way of placing the members: batch after batch in one order, round after round. */
export class AssignmentPass {
  /** In the order of placement; all are assumed and reserved. */
  readonly assignments: NodeAssignment[] = [];
  readonly #scope: PlanScope;
  readonly #request: PlanRequest;
  readonly #batches: Batch[];
  /** Plugins that rejected members, whether or not those were placed later. */
  readonly #rejectors = new UnschedulablePluginSet();
  /** How many members are placed, or may still be. */
  #candidates: number;

  /** Tries the batches in the order given, and replaces them in the list. */
  constructor(scope: PlanScope, batches: Batch[]) {
    this.#scope = scope;
    this.#request = scope.request;
    this.#batches = batches;
    this.#candidates = scope.request.members.length;
  }

  /** Places the members of the batches in their order, round after round, until enough are placed or nobody is any more. */
  *run(): Yielding<Plan> {
    const { needed } = this.#request;
    const { assignments } = this;
    const batches = this.#batches;
    const { work } = this.#scope;
    /** Of the first batch that more placements cannot help. */
    let hopeless: Diagnosis | undefined;
    /** Of the first batch that this round did not place. */
    let blocked: Diagnosis | undefined;
    let neverPlaced = 0;
    let waiting: readonly number[] = [...batches.keys()];
    for (let progress = true; progress && waiting.length > 0 && assignments.length < needed;) {
      progress = false;
      blocked = undefined;
      const rejected: number[] = [];
      for (const position of waiting) {
        const before = assignments.length;
        const batch = batches[position]!;
        const left = yield* this.#placeBatch(batch);
        progress ||= assignments.length > before;
        if (assignments.length >= needed) return complete(assignments);
        if (left === undefined) continue;
        const { pods, diagnosis, mayChange, never } = left;
        if (failureIn(diagnosis) !== undefined) return stopped(assignments, diagnosis);
        blocked ??= diagnosis;
        this.#rejectors.add(diagnosis);
        batches[position] = { ...batch, pods };
        if (mayChange) {
          rejected.push(position);
          continue;
        }
        hopeless ??= diagnosis;
        this.#candidates -= pods.length;
        if (never) neverPlaced += pods.length;
        if (this.#candidates < needed) return yield* this.#incomplete(hopeless, neverPlaced);
      }
      // A kind that PreFilter rejected has no ranking yet.
      for (const position of rejected) {
        const { group, pods, ranking } = batches[position]!;
        if (ranking !== undefined) continue;
        batches[position] = batchOf(this.#scope, group, pods, false);
        work.budget.spend(workPerMember * pods.length);
        if (work.isDue) yield;
      }
      waiting = rejected;
    }
    return yield* this.#incomplete(hopeless ?? blocked, neverPlaced);
  }

  *#incomplete(blocked: Diagnosis | undefined, neverPlaced: number): Yielding<Plan> {
    const { members, needed } = this.#request;
    const { assignments } = this;
    const rejectors = this.#rejectors;
    const explained = blocked ?? this.#tooFew();
    yield* this.#addRejecting();
    if (explained !== undefined) rejectors.add(explained);
    const { unschedulablePlugins, pending } = rejectors;
    return {
      assignments,
      placed: assignments.length,
      blocked: explained,
      unschedulablePlugins,
      pending,
      never: members.length - neverPlaced < needed,
      isExhaustive: this.#areIndependent(),
    };
  }

  /** Those that reject the members as things stand. */
  *#addRejecting(): Yielding<void> {
    const batches = this.#batches;
    const rejectors = this.#rejectors;
    for (const { sample, ranking, answer } of batches) {
      if (ranking === undefined) {
        if (answer.status !== undefined) rejectors.add(unschedulablePluginsOf(answer.status));
        continue;
      }
      // Others have been placed since.
      if (batches.length > 1) ranking.look();
      rejectors.add(ranking.diagnose(sample));
      if (this.#scope.work.isDue) yield;
    }
  }

  /** Places what it can; undefined when no member is left. */
  *#placeBatch(batch: Batch): Yielding<Leftover | undefined> {
    const { profile, needed, groupState } = this.#request;
    const { work } = this.#scope;
    const { assignments } = this;
    const { pods, ranking, isUniform, answer: shared } = batch;
    if (ranking === undefined || shared.status !== undefined) {
      const { mayChange, status } = shared;
      return { pods, diagnosis: this.#rejection(pods[0]!, status!), mayChange, never: false };
    }
    const left: Pod[] = [];
    let diagnosis: Diagnosis | undefined;
    let mayChange = false;
    let isRejectedByNodes = false;
    let isBuilt = false;
    // What PreFilter said before others were placed.
    let isStale = this.#batches.length > 1 || assignments.length > 0;
    for (let i = 0; i < pods.length && assignments.length < needed; i++) {
      if (work.isDue) yield;
      const pod = pods[i]!;
      if (!mayChange && this.#candidates - left.length < needed) {
        left.push(...pods.slice(i));
        break;
      }
      let { state, answer } = batch.asked;
      // What has been asked about this very pod stands, and what its plugins have kept since is theirs at the points to come.
      if (isStale || pod !== batch.asked.pod) {
        state = isUniform ? batch.state.fork() : new CycleState(groupState);
        answer = isUniform ? profile.preFilters.own(state, pod, shared.nodeNames) : profile.preFilter(state, pod);
      }
      work.spend(workPerMember);
      if (answer.status !== undefined) {
        const rejection = this.#rejection(pod, answer.status);
        if (failureIn(rejection) !== undefined) return stoppedBy(rejection, pods.slice(i));
        diagnosis ??= rejection;
        this.#rejectors.add(rejection);
        mayChange ||= answer.mayChange;
        left.push(pod);
        continue;
      }
      const { nodeNames } = answer;
      const asked = { pod, state: isUniform ? batch.state : state, nodeNames };
      const isRight = isBuilt && !isStale && (isUniform ? ranking.isAmong(nodeNames) : ranking.serves(asked));
      if (!isRight) ranking.build(asked);
      isBuilt = true;
      isStale = false;
      const node = this.#reserveBest(ranking, state, pod);
      if (ranking.error !== undefined) return stoppedBy(ranking.diagnose(pod), pods.slice(i));
      if (node === undefined) {
        diagnosis ??= ranking.diagnose(pod);
        isRejectedByNodes = true;
        mayChange ||= ranking.dependsOnOthers || (nodeNames !== undefined && answer.mayChange);
        left.push(pod);
        if (!isUniform || !sameNames(nodeNames, amongOf(shared))) continue;
        // The next identical pod would fare no better.
        left.push(...pods.slice(i + 1));
        break;
      }
      assignments.push({ pod, nodeName: node.name, state });
      // For the next one alone: who comes later finds the node changed and looks at it then.
      if (i + 1 < pods.length && assignments.length < needed) ranking.placedOnBest();
      const failure = ranking.error ?? this.#follow(pod, node);
      if (failure !== undefined) return stoppedBy(this.#rejection(pod, failure), pods.slice(i));
      isStale = ranking.readsOthers;
    }
    const never = isRejectedByNodes && !mayChange && !isStale && ranking.isRejectedForGood;
    return diagnosis && { pods: left, diagnosis, mayChange, never };
  }

  /** Brings what PreFilter computed for each kind of member up to date with this placement. Returns a failure. */
  #follow(pod: Pod, node: NodeInfo): Status | undefined {
    const { profile } = this.#request;
    if (!profile.preFilters.followsAssignedPods) return undefined;
    for (const { isUniform, ranking, state, sample } of this.#batches) {
      if (!isUniform || ranking === undefined) continue;
      const failure = profile.preFilters.addPod(state, sample, pod, node);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  #reserveBest(ranking: Ranking, state: CycleState, pod: Pod): NodeInfo | undefined {
    const { profile } = this.#request;
    const { transaction } = this.#scope;
    for (let node = ranking.best(); node !== undefined; node = ranking.best()) {
      const savepoint = transaction.savepoint();
      transaction.assume(pod, node);
      const rejection = profile.reserve(state, pod, node);
      if (rejection === undefined) return node;
      profile.unreserve(state, pod, node.name);
      transaction.rollbackTo(savepoint);
      ranking.rejectBest(rejection);
    }
    return undefined;
  }

  /** All members are alike, and no plugin that judges them looks at where the others are, or at what nobody knows. */
  #areIndependent(): boolean {
    const [batch, ...more] = this.#batches;
    if (batch?.isUniform !== true || more.length > 0 || this.#request.profile.judgesUnsigned) return false;
    return batch.ranking?.dependsOnAssignedPods !== true;
  }

  #rejection(pod: Pod, status: Status): Diagnosis {
    return {
      pod,
      nodeCount: this.#scope.indexes?.length ?? this.#scope.cluster.nodes.length,
      rejection: { kind: 'pod', status },
      ...unschedulablePluginsOf(status),
    };
  }

  /** There are not as many members as are needed. */
  #tooFew(): Diagnosis | undefined {
    const { members, needed } = this.#request;
    const [pod] = members;
    if (pod === undefined || members.length >= needed) return undefined;
    const reason = `only ${members.length} of the ${needed} members that are needed can be placed`;
    return this.#rejection(pod, new Status('UnschedulableAndUnresolvable', reason));
  }
}

/** A plugin failed, which ends the plan. */
function stoppedBy(diagnosis: Diagnosis, pods: readonly Pod[]): Leftover {
  return { pods, diagnosis, mayChange: false, never: false };
}
