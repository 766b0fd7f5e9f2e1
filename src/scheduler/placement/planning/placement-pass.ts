import type { Pod } from '../../../api/pod.ts';
import type { Steps } from '../../../base/steps.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { failureIn, refusersOf } from '../../../framework/diagnosis.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import { Status } from '../../../framework/status.ts';
import { sameNames } from '../cache/ranking.ts';
import type { Ranking } from '../cache/ranking.ts';
import { amongOf, batchOf } from './batch.ts';
import type { Batch } from './batch.ts';
import { complete, stopped } from './plan.ts';
import type { Placement, Plan, PlanRequest } from './plan.ts';
import type { PlanScope } from './plan-scope.ts';
import { Refusers } from './refusers.ts';
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
export class PlacementPass {
  /** In the order of placement; all are assumed and reserved. */
  readonly placements: Placement[] = [];
  readonly #scope: PlanScope;
  readonly #request: PlanRequest;
  readonly #batches: Batch[];
  /** Plugins that refused members, whether or not those were placed later. */
  readonly #refusers = new Refusers();
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
  *run(): Steps<Plan> {
    const { needed } = this.#request;
    const { placements } = this;
    const batches = this.#batches;
    const { work } = this.#scope;
    /** Of the first batch that more placements cannot help. */
    let hopeless: Diagnosis | undefined;
    /** Of the first batch that this round did not place. */
    let blocked: Diagnosis | undefined;
    let neverPlaced = 0;
    let waiting: readonly number[] = [...batches.keys()];
    for (let progress = true; progress && waiting.length > 0 && placements.length < needed;) {
      progress = false;
      blocked = undefined;
      const refused: number[] = [];
      for (const position of waiting) {
        const before = placements.length;
        const batch = batches[position]!;
        const left = yield* this.#placeBatch(batch);
        progress ||= placements.length > before;
        if (placements.length >= needed) return complete(placements);
        if (left === undefined) continue;
        const { pods, diagnosis, mayChange, never } = left;
        if (failureIn(diagnosis) !== undefined) return stopped(placements, diagnosis);
        blocked ??= diagnosis;
        this.#refusers.add(diagnosis);
        batches[position] = { ...batch, pods };
        if (mayChange) {
          refused.push(position);
          continue;
        }
        hopeless ??= diagnosis;
        this.#candidates -= pods.length;
        if (never) neverPlaced += pods.length;
        if (this.#candidates < needed) return yield* this.#incomplete(hopeless, neverPlaced);
      }
      // A kind that PreFilter refused has no ranking yet.
      for (const position of refused) {
        const { group, pods, ranking } = batches[position]!;
        if (ranking !== undefined) continue;
        batches[position] = batchOf(this.#scope, group, pods, false);
        work.pace.spend(workPerMember * pods.length);
        if (work.isDue) yield;
      }
      waiting = refused;
    }
    return yield* this.#incomplete(hopeless ?? blocked, neverPlaced);
  }

  *#incomplete(blocked: Diagnosis | undefined, neverPlaced: number): Steps<Plan> {
    const { members, needed } = this.#request;
    const { placements } = this;
    const refusers = this.#refusers;
    const explained = blocked ?? this.#tooFew();
    yield* this.#addRefusing();
    if (explained !== undefined) refusers.add(explained);
    const { refusedBy, pending } = refusers;
    return {
      placements,
      placed: placements.length,
      blocked: explained,
      refusedBy,
      pending,
      never: members.length - neverPlaced < needed,
      isExhaustive: this.#areIndependent(),
    };
  }

  /** Those that refuse the members as things stand. */
  *#addRefusing(): Steps<void> {
    const batches = this.#batches;
    const refusers = this.#refusers;
    for (const { sample, ranking, answer } of batches) {
      if (ranking === undefined) {
        if (answer.status !== undefined) refusers.add(refusersOf(answer.status));
        continue;
      }
      // Others have been placed since.
      if (batches.length > 1) ranking.look();
      refusers.add(ranking.diagnose(sample));
      if (this.#scope.work.isDue) yield;
    }
  }

  /** Places what it can; undefined when no member is left. */
  *#placeBatch(batch: Batch): Steps<Leftover | undefined> {
    const { profile, needed, groupState } = this.#request;
    const { work } = this.#scope;
    const { placements } = this;
    const { pods, ranking, isUniform, answer: shared } = batch;
    if (ranking === undefined || shared.status !== undefined) {
      const { mayChange, status } = shared;
      return { pods, diagnosis: this.#refusal(pods[0]!, status!), mayChange, never: false };
    }
    const left: Pod[] = [];
    let diagnosis: Diagnosis | undefined;
    let mayChange = false;
    let isRefusedByNodes = false;
    let isBuilt = false;
    // What PreFilter said before others were placed.
    let isStale = this.#batches.length > 1 || placements.length > 0;
    for (let i = 0; i < pods.length && placements.length < needed; i++) {
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
        const refusal = this.#refusal(pod, answer.status);
        if (failureIn(refusal) !== undefined) return stoppedBy(refusal, pods.slice(i));
        diagnosis ??= refusal;
        this.#refusers.add(refusal);
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
        isRefusedByNodes = true;
        mayChange ||= ranking.dependsOnOthers || (nodeNames !== undefined && answer.mayChange);
        left.push(pod);
        if (!isUniform || !sameNames(nodeNames, amongOf(shared))) continue;
        // The next identical pod would fare no better.
        left.push(...pods.slice(i + 1));
        break;
      }
      placements.push({ pod, nodeName: node.name, state });
      // For the next one alone: who comes later finds the node changed and looks at it then.
      if (i + 1 < pods.length && placements.length < needed) ranking.placedOnBest();
      const failure = ranking.error ?? this.#follow(pod, node);
      if (failure !== undefined) return stoppedBy(this.#refusal(pod, failure), pods.slice(i));
      isStale = ranking.readsOthers;
    }
    const never = isRefusedByNodes && !mayChange && !isStale && ranking.isRefusedForGood;
    return diagnosis && { pods: left, diagnosis, mayChange, never };
  }

  /** Brings what PreFilter computed for each kind of member up to date with this placement. Returns a failure. */
  #follow(pod: Pod, node: NodeInfo): Status | undefined {
    const { profile } = this.#request;
    if (!profile.preFilters.followsPlacements) return undefined;
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
      const refusal = profile.reserve(state, pod, node);
      if (refusal === undefined) return node;
      profile.unreserve(state, pod, node.name);
      transaction.rollbackTo(savepoint);
      ranking.refuseBest(refusal);
    }
    return undefined;
  }

  /** All members are alike, and no plugin that judges them looks at where the others are, or at what nobody knows. */
  #areIndependent(): boolean {
    const [batch, ...more] = this.#batches;
    if (batch?.isUniform !== true || more.length > 0 || this.#request.profile.judgesUnsigned) return false;
    return batch.ranking?.dependsOnPlacements !== true;
  }

  #refusal(pod: Pod, status: Status): Diagnosis {
    return {
      pod,
      nodeCount: this.#scope.indexes?.length ?? this.#scope.cluster.nodes.length,
      refusal: { kind: 'pod', status },
      ...refusersOf(status),
    };
  }

  /** There are not as many members as are needed. */
  #tooFew(): Diagnosis | undefined {
    const { members, needed } = this.#request;
    const [pod] = members;
    if (pod === undefined || members.length >= needed) return undefined;
    const reason = `only ${members.length} of the ${needed} members that are needed can be placed`;
    return this.#refusal(pod, new Status('UnschedulableAndUnresolvable', reason));
  }
}

/** A plugin failed, which ends the plan. */
function stoppedBy(diagnosis: Diagnosis, pods: readonly Pod[]): Leftover {
  return { pods, diagnosis, mayChange: false, never: false };
}
