import type { Pod } from '../../../api/pod.ts';
import type { Yielding } from '../../../base/yielding.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { failureIn, unschedulablePluginsOf } from '../../../framework/diagnosis.ts';
import type { CapacityShortage } from '../../../framework/capacity-shortage.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import type { PreFilterResult } from '../../../framework/profile.ts';
import { Status } from '../../../framework/status.ts';
import { CapacityOnly } from '../cache/capacity-only.ts';
import { sameNames } from '../cache/ranking.ts';
import type { Ranking } from '../cache/ranking.ts';
import { amongOf, batchOf, reservedFor } from './batch.ts';
import type { Batch } from './batch.ts';
import { shortagesOf } from './capacity-shortage.ts';
import { completePlan, stoppedPlan } from './plan.ts';
import type { NodeAssignment, Plan, PlanRequest } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';
import { UnschedulablePluginSet } from './unschedulable-plugin-set.ts';
import { workPerMember } from '../../../framework/work-per-member.ts';

/** How many batches follow a placement at the cost of one node check. */
const batchesPerCheck = 8;

/** The members of a batch without a node; `diagnosis` is that of the first. */
interface Leftover {
  readonly pods: readonly Pod[];
  readonly diagnosis: Diagnosis;
  /** More placements may change the rejection. */
  readonly mayChange: boolean;
  /** Not even removing other pods changes the rejection. */
  readonly never: boolean;
}

/** Members of one batch for one node. */
export interface ChosenNode {
  /** Position among the batches. */
  readonly batch: number;
  readonly node: NodeInfo;
  readonly count: number;
}

/** One attempt to place the members: batch by batch in one order, round by round. */
export class AssignmentPass {
  /** In the order of placement; all members are assumed and reserved. */
  readonly assignments: NodeAssignment[] = [];
  /** The chosen nodes that the plugins rejected, with the number of members that they accepted there before. */
  readonly rejected: ChosenNode[] = [];
  readonly #scope: PlanScope;
  readonly #request: PlanRequest;
  readonly #batches: Batch[];
  readonly #strategy: string;
  /** Plugins that rejected members, whether or not the members were placed later. */
  readonly #rejectors = new UnschedulablePluginSet();
  /** How many members are placed or may still be placed. */
  #candidates: number;

  /** Tries the batches in the given order. Replaces entries of the list. `strategy`: name of the strategy. */
  constructor(scope: PlanScope, batches: Batch[], strategy: string) {
    this.#scope = scope;
    this.#request = scope.request;
    this.#batches = batches;
    this.#strategy = strategy;
    this.#candidates = scope.request.members.length;
  }

  /**
   * Places the batches' members in order, round after round, until enough are placed or a round places none. `chosen`: nodes for some of
   * them, which are placed first.
   */
  *run(chosen: readonly ChosenNode[]): Yielding<Plan> {
    const { needed } = this.#request;
    const { assignments } = this;
    const batches = this.#batches;
    const { work } = this.#scope;
    /** Diagnosis of the first batch that more placements cannot help. */
    let hopeless: Diagnosis | undefined;
    /** Diagnosis of the first batch that this round did not place. */
    let blocked: Diagnosis | undefined;
    let neverPlaced = 0;
    const failure = yield* this.#placeOnChosen(chosen);
    if (failure !== undefined) return stoppedPlan(this.#strategy, assignments, failure);
    if (assignments.length >= needed) return completePlan(this.#strategy, assignments);
    let waiting: readonly number[] = [...batches.keys()].filter((position) => batches[position]!.pods.length > 0);
    for (let progress = true; progress && waiting.length > 0 && assignments.length < needed;) {
      progress = false;
      blocked = undefined;
      const rejected: number[] = [];
      for (const position of waiting) {
        const before = assignments.length;
        const batch = batches[position]!;
        const left = yield* this.#placeBatch(batch);
        progress ||= assignments.length > before;
        if (assignments.length >= needed) return completePlan(this.#strategy, assignments);
        if (left === undefined) continue;
        const { pods, diagnosis, mayChange, never } = left;
        if (failureIn(diagnosis) !== undefined) return stoppedPlan(this.#strategy, assignments, diagnosis);
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
      // A pod class that PreFilter rejected has no ranking yet.
      for (const position of rejected) {
        const { context, pods, ranking } = batches[position]!;
        if (ranking !== undefined) continue;
        batches[position] = batchOf(this.#scope, context, pods, false);
        work.budget.spend(workPerMember * pods.length);
        if (work.isDue) yield;
      }
      waiting = rejected;
    }
    return yield* this.#incomplete(hopeless ?? blocked, neverPlaced);
  }

  /** Places members on the nodes that were chosen for them, if the plugins agree. Returns the failure of a plugin. */
  *#placeOnChosen(chosen: readonly ChosenNode[]): Yielding<Diagnosis | undefined> {
    const { needed } = this.#request;
    const { work } = this.#scope;
    const { assignments } = this;
    /** batch -> number of its members that are placed */
    const placed = this.#batches.map(() => 0);
    for (const choice of chosen) {
      const batch = this.#batches[choice.batch]!;
      for (let i = 0; i < choice.count && assignments.length < needed; i++) {
        if (work.isDue) yield;
        work.spend(workPerMember);
        const result = this.#placeOn(choice.node, batch.pods[placed[choice.batch]!]!, batch);
        if (result === undefined) placed[choice.batch]!++;
        else if (failureIn(result) !== undefined) return result;
        else {
          this.rejected.push({ ...choice, count: i });
          break;
        }
      }
    }
    for (const [i, batch] of this.#batches.entries())
      if (placed[i]! > 0) this.#batches[i] = { ...batch, pods: batch.pods.slice(placed[i]) };
    return undefined;
  }

  /** Places the pod on this node. Returns the rejection, after which nothing has changed. */
  #placeOn(node: NodeInfo, pod: Pod, batch: Batch): Diagnosis | undefined {
    const { ranking } = batch;
    // PreFilter may have changed its mind since the node was chosen.
    if (ranking === undefined) return this.#rejection(pod, batch.answer.status!);
    const state = this.#stateFor(batch);
    const answer = this.#preFilter(state, pod, batch);
    if (answer.status !== undefined) return this.#rejection(pod, answer.status);
    const { nodeNames } = answer;
    const target = { pod, state: batch.isUniform ? batch.state : state, nodeNames };
    const rejection = ranking.rejectionOn(node, target) ?? this.#reserve(node, state, pod);
    if (rejection !== undefined) return this.#rejection(pod, rejection);
    this.assignments.push({ pod, nodeName: node.name, state });
    const failure = this.#follow(pod, node);
    return failure && this.#rejection(pod, failure);
  }

  /** Returns a new state for a member of the batch. */
  #stateFor({ isUniform, state }: Batch): CycleState {
    return isUniform ? state.fork() : new CycleState(this.#request.groupState);
  }

  /** Runs PreFilter for a member after others have been placed. */
  #preFilter(state: CycleState, pod: Pod, { isUniform, answer }: Batch): PreFilterResult {
    const { profile } = this.#request;
    return isUniform ? profile.preFilters.own(state, pod, amongOf(answer)) : profile.preFilter(state, pod);
  }

  *#incomplete(blocked: Diagnosis | undefined, neverPlaced: number): Yielding<Plan> {
    const { members, needed } = this.#request;
    const { assignments } = this;
    const rejectors = this.#rejectors;
    const explained = blocked ?? this.#tooFew();
    const shortages = yield* this.#addRejecting(explained);
    if (explained !== undefined) rejectors.add(explained);
    const { unschedulablePlugins, pending } = rejectors;
    return {
      strategy: this.#strategy,
      assignments,
      placed: assignments.length,
      blocked: explained && shortages.length > 0 ? { ...explained, shortages } : explained,
      unschedulablePlugins,
      pending,
      never: members.length - neverPlaced < needed,
      isExhaustive: this.#areIndependent(),
    };
  }

  /** Adds the plugins that reject the members in the current state. Returns what is missing for the explained pod, if a plan must say so. */
  *#addRejecting(explained: Diagnosis | undefined): Yielding<readonly CapacityShortage[]> {
    const batches = this.#batches;
    const rejectors = this.#rejectors;
    const explainedBatch =
      this.#request.shortages !== undefined && explained?.rejection.kind === 'nodes'
        ? batches.find(({ pods }) => pods.includes(explained.pod))
        : undefined;
    let shortages: readonly CapacityShortage[] = [];
    for (const batch of batches) {
      const { sample, ranking, answer } = batch;
      if (ranking === undefined) {
        if (answer.status !== undefined) rejectors.add(unschedulablePluginsOf(answer.status));
        continue;
      }
      // Other batches have placed members since.
      if (batches.length > 1) ranking.look();
      const nodes = batch === explainedBatch ? new CapacityOnly(this.#scope.cluster.nodes.length) : undefined;
      const diagnosis = ranking.diagnose(sample, nodes);
      rejectors.add(diagnosis);
      if (nodes !== undefined) shortages = this.#shortagesOf(batch, diagnosis, nodes);
      if (this.#scope.work.isDue) yield;
    }
    return shortages;
  }

  #shortagesOf({ pods, sample }: Batch, { rejection }: Diagnosis, nodes: CapacityOnly): readonly CapacityShortage[] {
    const { cluster, request } = this.#scope;
    if (rejection.kind !== 'nodes' || request.shortages === undefined) return [];
    const { assignments } = this;
    const remaining = request.needed - assignments.length;
    const others = this.#batches.reduce((sum, batch) => sum + batch.pods.length, 0) - pods.length;
    const unplaced = {
      ...{ pod: sample, nodes, assignments, rejections: rejection.rejections },
      count: Math.min(pods.length, Math.max(1, remaining - others)),
      isPartial: others > 0,
      reserved: reservedFor(this.#scope)(sample),
    };
    return shortagesOf(cluster, unplaced, request.shortages);
  }

  /** Places as many members as possible. Returns the rest; undefined if all are placed. */
  *#placeBatch(batch: Batch): Yielding<Leftover | undefined> {
    const { needed } = this.#request;
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
    // PreFilter results from before other placements are outdated.
    let isStale = this.#batches.length > 1 || assignments.length > 0;
    for (let i = 0; i < pods.length && assignments.length < needed; i++) {
      if (work.isDue) yield;
      const pod = pods[i]!;
      if (!mayChange && this.#candidates - left.length < needed) {
        left.push(...pods.slice(i));
        break;
      }
      let { state, answer } = batch.admitted;
      // The result for this very pod is valid, and its plugins need the state that they kept in it at the later extension points.
      if (isStale || pod !== batch.admitted.pod) {
        state = this.#stateFor(batch);
        answer = this.#preFilter(state, pod, batch);
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
      const target = { pod, state: isUniform ? batch.state : state, nodeNames };
      const isRight = isBuilt && !isStale && (isUniform ? ranking.isAmong(nodeNames) : ranking.serves(target));
      if (!isRight) ranking.build(target);
      isBuilt = true;
      isStale = false;
      const node = this.#reserveBest(ranking, state, pod);
      if (ranking.error !== undefined) return stoppedBy(ranking.diagnose(pod), pods.slice(i));
      if (node === undefined) {
        diagnosis ??= { ...ranking.diagnose(pod), placedBefore: assignments.length };
        isRejectedByNodes = true;
        mayChange ||= ranking.dependsOnOthers || (nodeNames !== undefined && answer.mayChange);
        left.push(pod);
        if (!isUniform || !sameNames(nodeNames, amongOf(shared))) continue;
        // The next identical pod would get the same result.
        left.push(...pods.slice(i + 1));
        break;
      }
      assignments.push({ pod, nodeName: node.name, state });
      // Only the next member of the batch needs this; later batches see that the node changed.
      if (i + 1 < pods.length && assignments.length < needed) ranking.placedOnBest();
      const failure = ranking.error ?? this.#follow(pod, node);
      if (failure !== undefined) return stoppedBy(this.#rejection(pod, failure), pods.slice(i));
      isStale = ranking.readsOthers;
    }
    const never = isRejectedByNodes && !mayChange && !isStale && ranking.isRejectedForGood;
    return diagnosis && { pods: left, diagnosis, mayChange, never };
  }

  /** Updates what PreFilter computed for each batch after this placement. Returns a failure. */
  #follow(pod: Pod, node: NodeInfo): Status | undefined {
    const { profile } = this.#request;
    if (!profile.preFilters.followsAssignedPods) return undefined;
    this.#scope.work.budget.spend(this.#batches.length / batchesPerCheck);
    for (const { isUniform, ranking, state, sample } of this.#batches) {
      if (!isUniform || ranking === undefined) continue;
      const failure = profile.preFilters.addPod(state, sample, pod, node);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  #reserveBest(ranking: Ranking, state: CycleState, pod: Pod): NodeInfo | undefined {
    for (let node = ranking.best(); node !== undefined; node = ranking.best()) {
      const rejection = this.#reserve(node, state, pod);
      if (rejection === undefined) return node;
      ranking.rejectBest(rejection);
    }
    return undefined;
  }

  /** Assumes the pod on the node and runs Reserve. Returns the rejection, after which nothing has changed. */
  #reserve(node: NodeInfo, state: CycleState, pod: Pod): Status | undefined {
    const { profile } = this.#request;
    const { transaction } = this.#scope;
    const savepoint = transaction.savepoint();
    transaction.assume(pod, node);
    const rejection = profile.reserve(state, pod, node);
    if (rejection === undefined) return undefined;
    profile.unreserve(state, pod, node.name);
    transaction.rollbackTo(savepoint);
    return rejection;
  }

  /**
   * Whether all members are identical, and no plugin that judges them depends on where the others are or on unsigned data.
   */
  #areIndependent(): boolean {
    const [batch, ...more] = this.#batches;
    if (batch?.isUniform !== true || more.length > 0 || this.#request.profile.judgesUnsigned) return false;
    return batch.ranking?.dependsOnAssignedPods !== true;
  }

  #rejection(pod: Pod, status: Status): Diagnosis {
    return {
      pod,
      nodeCount: this.#scope.indexes?.length ?? this.#scope.cluster.nodes.length,
      placedBefore: this.assignments.length,
      rejection: { kind: 'pod', status },
      ...unschedulablePluginsOf(status),
    };
  }

  /** Returns the diagnosis if there are fewer members than needed. */
  #tooFew(): Diagnosis | undefined {
    const { members, needed } = this.#request;
    const [pod] = members;
    if (pod === undefined || members.length >= needed) return undefined;
    const reason = `only ${members.length} of the ${needed} needed members can be placed`;
    return this.#rejection(pod, new Status('UnschedulableAndUnresolvable', reason));
  }
}

/** Returns the leftover after a plugin failure, which ends the plan. */
function stoppedBy(diagnosis: Diagnosis, pods: readonly Pod[]): Leftover {
  return { pods, diagnosis, mayChange: false, never: false };
}
