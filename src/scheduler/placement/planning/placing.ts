import type { Pod } from '../../../api/pod.ts';
import { hashText } from '../../../base/hash-text.ts';
import type { Pace } from '../../../base/pace.ts';
import type { Steps } from '../../../base/steps.ts';
import type { Cluster } from '../../../cluster/cluster.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Savepoint, Transaction } from '../../../cluster/transaction.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { failureIn, refusersOf } from '../../../framework/diagnosis.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import { Status } from '../../../framework/status.ts';
import { admit, amongOf } from './batch.ts';
import type { Batch, Group } from './batch.ts';
import { compareSizes, countedTogether, countNodes } from './hardness.ts';
import type { KeptAnswers } from '../cache/kept-answers.ts';
import { kindsOf } from './kinds.ts';
import { KnownNodes } from '../cache/known-nodes.ts';
import { complete } from './plan.ts';
import type { Placement, Plan, PlanRequest } from './plan.ts';
import { Ranking, sameNames } from '../cache/ranking.ts';
import type { RankingRoom } from '../cache/ranking-room.ts';
import { Refusers } from './refusers.ts';
import { roomiestDomains } from './roomiest-domains.ts';
import { workPerMember } from './work-per-member.ts';

/** What plans of one planner have in common. */
export interface PlacingContext {
  readonly cluster: Cluster;
  readonly room: RankingRoom;
  /** Of the profile. */
  readonly answers: KeptAnswers;
  /** Where the order among equal nodes begins. */
  readonly seed: number;
  /** Of whoever this is done for. It counts looks at nodes, and plugins that are asked about one. */
  readonly pace: Pace;
}

/** The members of a batch that were not placed; `diagnosis` is of the first of them. */
interface Leftover {
  readonly pods: readonly Pod[];
  readonly diagnosis: Diagnosis;
  /** More placements may change that. */
  readonly mayChange: boolean;
  /** Not even taking other pods away may. */
  readonly never: boolean;
}

/** One way of placing members: in one order of their kinds. */
interface Attempt {
  /** In that order. */
  readonly batches: Batch[];
  readonly placements: Placement[];
  /** Plugins that turned members away, whatever became of those later. */
  readonly refusers: Refusers;
  /** Members that are placed or may still be. */
  candidates: number;
}

/** The making of one plan, step by step; see `Planner.plan` for what it does. */
export class Placing {
  readonly #context: PlacingContext;
  readonly #request: PlanRequest;
  readonly #transaction: Transaction;
  /** Indexes of the only nodes to look at, in order; undefined: all. */
  #indexes: readonly number[] | undefined;
  #placements: readonly Placement[] = [];
  /** How often plugins had been asked about a node when that was last counted. */
  #calls: number;

  constructor(context: PlacingContext, request: PlanRequest, transaction: Transaction) {
    this.#context = context;
    this.#request = request;
    this.#transaction = transaction;
    this.#indexes = request.within && indexesOf(context.cluster, request.within);
    this.#calls = request.profile.nodeCalls;
  }

  /** A step is a pass over the nodes or less. When it throws or is given up nothing is reserved any more. */
  *run(): Steps<Plan> {
    let stands = false;
    try {
      const plan = yield* this.#plan();
      stands = true;
      return plan;
    } finally {
      if (!stands) this.#unreserve();
    }
  }

  /** Undoes Reserve for all that are placed, in reverse order. */
  #unreserve(): void {
    const { profile } = this.#request;
    for (const { state, pod, nodeName } of this.#placements.toReversed()) profile.unreserve(state, pod, nodeName);
    this.#placements = [];
  }

  *#plan(): Steps<Plan> {
    const { members, needed } = this.#request;
    const before: Savepoint = this.#transaction.savepoint();
    const groups = yield* this.#groups();
    const hardestFirst = yield* this.#inOrder(groups);
    const first = yield* this.#place(hardestFirst);
    const { blocked, placed, never } = first;
    const isFinal = blocked === undefined || failureIn(blocked) !== undefined || never;
    if (isFinal || placed === 0) return first;
    let { refusedBy, pending } = first;
    // The hardest may have taken room in which easier ones would have been enough.
    if (members.length > needed && groups.length >= 2) {
      this.#startOver(before);
      const easiestFirst = hardestFirst.toReversed().map(({ group }) => group);
      const again = yield* this.#place(yield* this.#batchesOf(easiestFirst));
      if (again.blocked === undefined) return again;
      refusedBy = new Set([...refusedBy, ...again.refusedBy]);
      pending = new Set([...pending, ...again.pending]);
    }
    const within = yield* this.#placeWithinDomains(before);
    return within ?? { ...first, placements: this.#placements, refusedBy, pending };
  }

  /** The first may have taken a node beside which there is no room for those that have to be near it. */
  *#placeWithinDomains(before: Savepoint): Steps<Plan | undefined> {
    const { members, needed, profile } = this.#request;
    const { cluster, pace } = this.#context;
    const domains = profile.domainsFor(members);
    if (domains.length === 0) return undefined;
    const allowed = this.#indexes;
    const isAllowed = allowed && new Set(allowed);
    const open = isAllowed ? domains.map((indexes) => indexes.filter((index) => isAllowed.has(index))) : domains;
    // Nodes are divided up by each topology, and their room is summed.
    pace.spend(domains.reduce((sum, { length }) => sum + length, 0));
    if (this.#isDue) yield;
    // What has been tried takes no room from what is.
    this.#startOver(before);
    try {
      for (const indexes of roomiestDomains(cluster, open, members, needed)) {
        this.#startOver(before);
        this.#indexes = indexes;
        const plan = yield* this.#place(yield* this.#inOrder(yield* this.#groups()));
        if (plan.blocked === undefined || failureIn(plan.blocked) !== undefined) return plan;
      }
    } finally {
      this.#indexes = allowed;
    }
    return undefined;
  }

  #startOver(before: Savepoint): void {
    this.#unreserve();
    this.#transaction.rollbackTo(before);
  }

  *#groups(): Steps<Group[]> {
    const { cluster, answers, pace } = this.#context;
    const kinds = yield* kindsOf(cluster, this.#request, pace);
    const answering = answers.of(kinds.map(({ signatures }) => signatures));
    return kinds.map((kind, i) => ({ kind, answering: answering[i]!, known: new KnownNodes() }));
  }

  /** Hardest first: those that fit on the fewest nodes; among equals the larger request. */
  *#inOrder(groups: readonly Group[]): Steps<Batch[]> {
    const batches = yield* this.#batchesOf(groups);
    if (batches.length === 1) return batches;
    /** batch -> how many nodes it fits on */
    const counts = new Map<Batch, number>();
    for (let i = 0; i < batches.length; i += countedTogether) {
      const some = batches.slice(i, i + countedTogether);
      const sizes = countNodes(this.#context.cluster, this.#indexes, some);
      some.forEach((batch, j) => counts.set(batch, sizes[j]!));
      if (this.#isDue) yield;
    }
    return batches.sort((a, b) => counts.get(a)! - counts.get(b)! || compareSizes(a, b));
  }

  *#batchesOf(groups: readonly Group[]): Steps<Batch[]> {
    const batches: Batch[] = [];
    for (const group of groups) {
      batches.push(this.#batchOf(group));
      this.#context.pace.spend(workPerMember);
      if (this.#isDue) yield;
    }
    return batches;
  }

  #batchOf(group: Group, pods: readonly Pod[] = group.kind.pods, areAlike = group.kind.isUniform): Batch {
    const { kind, answering, known } = group;
    const { profile, isGone, narrowingOf } = this.#request;
    const { cluster, room, seed } = this.#context;
    const admission = admit(this.#request, pods, areAlike);
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
        within: this.#indexes,
        narrowing: narrowingOf?.(asked.pod),
        spend: (steps) => this.#spend(steps),
        hasNoClaim: (uid) => cluster.isAssumed(uid) || isGone?.(uid) === true,
        room,
        known,
        salt: hashText(`${seed} ${kind.text}`),
      },
      { pod: asked.pod, state, nodeNames: answer.nodeNames },
    );
    return { ...batch, ranking };
  }

  /** Places the members of the batches in their order, round after round, until enough are placed or nobody is any more. */
  *#place(batches: Batch[]): Steps<Plan> {
    const { members, needed } = this.#request;
    const placements: Placement[] = [];
    this.#placements = placements;
    const attempt: Attempt = { batches, placements, refusers: new Refusers(), candidates: members.length };
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
        const left = yield* this.#placeBatch(attempt, batch);
        progress ||= placements.length > before;
        if (placements.length >= needed) return complete(placements);
        if (left === undefined) continue;
        const { pods, diagnosis, mayChange, never } = left;
        if (failureIn(diagnosis) !== undefined) return stopped(placements, diagnosis);
        blocked ??= diagnosis;
        attempt.refusers.add(diagnosis);
        batches[position] = { ...batch, pods };
        if (mayChange) {
          refused.push(position);
          continue;
        }
        hopeless ??= diagnosis;
        attempt.candidates -= pods.length;
        if (never) neverPlaced += pods.length;
        if (attempt.candidates < needed) return yield* this.#incomplete(attempt, hopeless, neverPlaced);
      }
      // A kind that PreFilter refused has no ranking yet.
      for (const position of refused) {
        const { group, pods, ranking } = batches[position]!;
        if (ranking !== undefined) continue;
        batches[position] = this.#batchOf(group, pods, false);
        this.#context.pace.spend(workPerMember * pods.length);
        if (this.#isDue) yield;
      }
      waiting = refused;
    }
    return yield* this.#incomplete(attempt, hopeless ?? blocked, neverPlaced);
  }

  *#incomplete(attempt: Attempt, blocked: Diagnosis | undefined, neverPlaced: number): Steps<Plan> {
    const { members, needed } = this.#request;
    const { placements, batches, refusers } = attempt;
    const explained = blocked ?? this.#tooFew();
    yield* this.#addRefusing(refusers, batches);
    if (explained !== undefined) refusers.add(explained);
    const { refusedBy, pending } = refusers;
    return {
      placements,
      placed: placements.length,
      blocked: explained,
      refusedBy,
      pending,
      never: members.length - neverPlaced < needed,
      isExhaustive: this.#areIndependent(batches),
    };
  }

  /** Those that refuse the members as things stand. */
  *#addRefusing(refusers: Refusers, batches: readonly Batch[]): Steps<void> {
    for (const { sample, ranking, answer } of batches) {
      if (ranking === undefined) {
        if (answer.status !== undefined) refusers.add(refusersOf(answer.status));
        continue;
      }
      // Others have been placed since.
      if (batches.length > 1) ranking.look();
      refusers.add(ranking.diagnose(sample));
      if (this.#isDue) yield;
    }
  }

  /** Places what it can; undefined when no member is left. */
  *#placeBatch(attempt: Attempt, batch: Batch): Steps<Leftover | undefined> {
    const { profile, needed, groupState } = this.#request;
    const { placements, batches, refusers } = attempt;
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
    let isStale = batches.length > 1 || placements.length > 0;
    for (let i = 0; i < pods.length && placements.length < needed; i++) {
      if (this.#isDue) yield;
      const pod = pods[i]!;
      if (!mayChange && attempt.candidates - left.length < needed) {
        left.push(...pods.slice(i));
        break;
      }
      let { state, answer } = batch.asked;
      // What has been asked about this very pod stands, and what its plugins have kept since is theirs at the points to come.
      if (isStale || pod !== batch.asked.pod) {
        state = isUniform ? batch.state.fork() : new CycleState(groupState);
        answer = isUniform ? profile.preFilterEach(state, pod, shared.nodeNames) : profile.preFilter(state, pod);
      }
      this.#spend(workPerMember);
      if (answer.status !== undefined) {
        const refusal = this.#refusal(pod, answer.status);
        if (failureIn(refusal) !== undefined) return stoppedBy(refusal, pods.slice(i));
        diagnosis ??= refusal;
        refusers.add(refusal);
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
      const failure = ranking.error ?? this.#follow(batches, pod, node);
      if (failure !== undefined) return stoppedBy(this.#refusal(pod, failure), pods.slice(i));
      isStale = ranking.readsOthers;
    }
    const never = isRefusedByNodes && !mayChange && !isStale && ranking.isRefusedForGood;
    return diagnosis && { pods: left, diagnosis, mayChange, never };
  }

  /** Tells what PreFilter computed for each kind of member that this one has landed. Answers a failure. */
  #follow(batches: readonly Batch[], pod: Pod, node: NodeInfo): Status | undefined {
    const { profile } = this.#request;
    if (!profile.followsPlacements) return undefined;
    for (const { isUniform, ranking, state, sample } of batches) {
      if (!isUniform || ranking === undefined) continue;
      const failure = profile.addPod(state, sample, pod, node);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  #reserveBest(ranking: Ranking, state: CycleState, pod: Pod): NodeInfo | undefined {
    const { profile } = this.#request;
    for (let node = ranking.best(); node !== undefined; node = ranking.best()) {
      const savepoint = this.#transaction.savepoint();
      this.#transaction.assume(pod, node);
      const refusal = profile.reserve(state, pod, node);
      if (refusal === undefined) return node;
      profile.unreserve(state, pod, node.name);
      this.#transaction.rollbackTo(savepoint);
      ranking.refuseBest(refusal);
    }
    return undefined;
  }

  /** All members are alike, and no plugin that judges them looks at where the others are, or at what nobody knows. */
  #areIndependent([batch, ...more]: readonly Batch[]): boolean {
    if (batch?.isUniform !== true || more.length > 0 || this.#request.profile.judgesUnsigned) return false;
    return batch.ranking?.dependsOnPlacements !== true;
  }

  #refusal(pod: Pod, status: Status): Diagnosis {
    return {
      pod,
      nodeCount: this.#indexes?.length ?? this.#context.cluster.nodes.length,
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

  get #isDue(): boolean {
    const { pace } = this.#context;
    if (!pace.isLimited) return false;
    const { nodeCalls } = this.#request.profile;
    pace.spend(nodeCalls - this.#calls);
    this.#calls = nodeCalls;
    return pace.isDue;
  }

  #spend(steps: number): void {
    this.#context.pace.spend(steps);
    this.#request.spend?.(steps);
  }
}

/** A plugin failed, which ends the plan. */
function stoppedBy(diagnosis: Diagnosis, pods: readonly Pod[]): Leftover {
  return { pods, diagnosis, mayChange: false, never: false };
}

function stopped(placements: readonly Placement[], blocked: Diagnosis): Plan {
  const refusers = new Refusers();
  refusers.add(blocked);
  const { refusedBy, pending } = refusers;
  return { placements, placed: placements.length, blocked, refusedBy, pending, never: false, isExhaustive: false };
}

function indexesOf(cluster: Cluster, names: ReadonlySet<string>): readonly number[] {
  const indexes: number[] = [];
  for (const name of names) {
    const node = cluster.node(name);
    if (node !== undefined) indexes.push(node.index);
  }
  return indexes.sort((a, b) => a - b);
}
