import type { Pod } from '../../api/pod.ts';
import { seededRandom } from '../../base/random.ts';
import type { Random } from '../../base/random.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { Savepoint, Transaction } from '../../cluster/transaction.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { failureIn } from '../../framework/diagnosis.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { PodSignatures, PreFilterAnswer, Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import type { Narrowing } from './narrowing.ts';
import type { NodeTable } from './node-table.ts';
import { Ranking, sameNames } from './ranking.ts';
import { SignatureCache } from './signature-cache.ts';

/** What placing a member costs besides, in looks at a node. */
const stepsPerMember = 40;

/** One member with the node it is assumed and reserved on. */
export interface Placement {
  readonly pod: Pod;
  readonly nodeName: string;
  readonly state: CycleState;
}

/** A plan: member -> node, in the order of placement. It is complete when `placements` has as many as were needed. */
export interface Plan {
  readonly placements: readonly Placement[];
  /** Why the hardest member that found no node found none; undefined when the plan is complete. */
  readonly blocked: Diagnosis | undefined;
  /**
   * Names of all plugins that refused any member, placed or not, any node; empty when the plan is complete. Siblings
   * compete for room, so what helps one member may help another.
   */
  readonly refusedBy: ReadonlySet<string>;
  /**
   * So many members are refused by every node in a way that taking other pods away cannot change that the plan can never be
   * complete on these nodes. False proves nothing.
   */
  readonly never: boolean;
  /**
   * No other way of placing the members would have placed more of them: they are alike, and it is all the same to each where the
   * others are.
   */
  readonly isExhaustive: boolean;
}

/** What is to be placed. */
export interface PlanRequest {
  readonly profile: Profile;
  readonly members: readonly Pod[];
  /** How many of them. */
  readonly needed: number;
  /** Shared by all members of a gang; undefined for a lone pod. */
  readonly groupState: CycleState | undefined;
  /** Names of the only nodes to look at; absent: all. */
  readonly within?: ReadonlySet<string> | undefined;
  /** Pods that count as gone: room kept for them is free. Absent: none. */
  readonly isGone?: ((uid: string) => boolean) | undefined;
  /** What extenders said of the nodes for this pod; undefined: they have no say. Absent: they have none about any. */
  readonly narrowingOf?: ((pod: Pod) => Narrowing | undefined) | undefined;
  /** Where the order among equal nodes begins. Absent: the planner's own. */
  readonly random?: Random;
  /** Told of the work before it is done, in looks at a node; may throw to end the plan. */
  readonly spend?: ((steps: number) => void) | undefined;
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

/** Members that are alike to every node-local plugin. */
interface Batch {
  /** One of them. */
  readonly sample: Pod;
  /** Those that are not placed. */
  pods: readonly Pod[];
  /**
   * They are alike to all plugins that sign, so one PreFilter speaks for all of them; it is kept up to date along the plan. Else
   * PreFilter is asked about each.
   */
  isUniform: boolean;
  /** PreFilter has run on it for one of them. */
  state: CycleState;
  /** Undefined while PreFilter refuses all of them. */
  ranking: Ranking | undefined;
  /** PreFilter's answer for the pod of the ranking; when there is none the first refusal. */
  answer: PreFilterAnswer;
  /** The member that all PreFilters have been asked about, with its own state and their answer. */
  asked: { readonly pod: Pod; readonly state: CycleState; readonly answer: PreFilterAnswer };
}

/** How far PreFilter lets a batch. */
interface Admission {
  readonly isUniform: boolean;
  /** What the ranking reads: of the kind, or of the first pod that is let through. */
  readonly state: CycleState;
  readonly answer: PreFilterAnswer;
  readonly asked: Batch['asked'];
}

/** What the steps of one plan have in common. */
interface Planning extends PlanRequest {
  readonly transaction: Transaction;
  /** Indexes of the only nodes to look at, in order; undefined: all. */
  readonly indexes: readonly number[] | undefined;
  readonly placements: Placement[];
  /** All batches, hardest first. */
  readonly batches: readonly Batch[];
  /** Names of plugins that turned members away, whatever became of those later. */
  readonly refusers: Set<string>;
  /** Members that are placed or may still be. */
  candidates: number;
}

/**
 * Places pods on the picture inside a transaction: PreFilter, Filter, Score and Reserve of each, nothing else. No Permit,
 * PostFilter, event or write happens here, so the same function serves trials.
 */
export class Planner {
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly #tieRandom: Random;
  /** Random numbers, at least one a node, for the order among equal nodes. */
  #ties = new Float64Array(0);
  /** profile -> its node tables */
  readonly #caches = new WeakMap<Profile, SignatureCache>();
  /** pod -> its signatures by the profile that asked last */
  readonly #signatures = new WeakMap<Pod, { readonly profile: Profile; readonly signatures: PodSignatures }>();

  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster;
    this.#random = random;
    this.#tieRandom = seededRandom(Math.floor(random() * 2 ** 32));
  }

  /**
   * Places as many of the members as are needed, hardest first (those that fit on the fewest nodes), identical ones together, and
   * stops as soon as that many are placed or can no longer be reached. A member that was refused because of where its
   * siblings are not yet is tried again after others have landed, until a round places nobody. A plugin that fails ends the
   * plan.
   *
   * On return the placed members are assumed in the transaction and reserved; undoing both is the caller's (`unreserve`,
   * then rollback). When it throws nothing is reserved any more, and the rollback is still the caller's.
   */
  plan(request: PlanRequest, transaction: Transaction): Plan {
    const indexes = request.within && this.#indexesOf(request.within);
    const batches = this.#batches(request, indexes);
    const placements: Placement[] = [];
    try {
      const candidates = request.members.length;
      return this.#place({ ...request, transaction, indexes, placements, batches, refusers: new Set(), candidates });
    } catch (error) {
      this.unreserve(request.profile, placements);
      throw error;
    }
  }

  #place(planning: Planning): Plan {
    const { profile, members, needed, placements, batches, refusers } = planning;
    /** Of the hardest batch that more placements cannot help. */
    let hopeless: Diagnosis | undefined;
    /** Of the hardest batch that this round did not place. */
    let blocked: Diagnosis | undefined;
    let neverPlaced = 0;
    const incomplete = (): Plan => {
      const explained = hopeless ?? blocked ?? tooFew(this.#cluster, planning);
      const refusedBy = new Set([...refusingPlugins(batches), ...refusers, ...(explained?.plugins ?? [])]);
      const never = members.length - neverPlaced < needed;
      return { placements, blocked: explained, refusedBy, never, isExhaustive: areIndependent(profile, batches) };
    };
    let waiting = batches;
    for (let progress = true; progress && waiting.length > 0 && placements.length < needed;) {
      progress = false;
      blocked = undefined;
      const refused: Batch[] = [];
      for (const batch of waiting) {
        const before = placements.length;
        const left = this.#placeBatch(planning, batch);
        progress ||= placements.length > before;
        if (placements.length >= needed) return complete(placements);
        if (left === undefined) continue;
        const { pods, diagnosis, mayChange, never } = left;
        if (failureIn(diagnosis) !== undefined) {
          const { plugins } = diagnosis;
          return { placements, blocked: diagnosis, refusedBy: plugins, never: false, isExhaustive: false };
        }
        blocked ??= diagnosis;
        for (const name of diagnosis.plugins) refusers.add(name);
        batch.pods = pods;
        if (mayChange) {
          refused.push(batch);
          continue;
        }
        hopeless ??= diagnosis;
        planning.candidates -= pods.length;
        if (never) neverPlaced += pods.length;
        if (planning.candidates < needed) return incomplete();
      }
      // A kind that PreFilter refused has no ranking yet.
      for (const batch of refused) {
        if (batch.ranking === undefined)
          Object.assign(batch, this.#batch(planning, planning.indexes, batch.pods, false));
      }
      waiting = refused;
    }
    return incomplete();
  }

  /** Undoes Reserve for placements, in reverse order. */
  unreserve(profile: Profile, placements: readonly Placement[]): void {
    for (const { state, pod, nodeName } of placements.toReversed()) profile.unreserve(state, pod, nodeName);
  }

  #batches(request: PlanRequest, indexes: readonly number[] | undefined): Batch[] {
    const { profile, members, narrowingOf } = request;
    /** what makes them alike -> pods */
    const byKind = new Map<string, Pod[]>();
    /** what extenders said -> its number */
    const narrowings = new Map<Narrowing | undefined, number>();
    const narrowed = (pod: Pod): string => {
      const narrowing = narrowingOf!(pod);
      if (!narrowings.has(narrowing)) narrowings.set(narrowing, narrowings.size);
      return `${narrowings.get(narrowing)}\u0002`;
    };
    const kinds: { readonly pods: Pod[]; readonly isUniform: boolean }[] = [];
    for (const pod of members) {
      const { local, whole } = this.signaturesOf(profile, pod);
      const alikeToPlugins = whole ?? (local === undefined ? undefined : `\u0001${local}`);
      const kind =
        narrowingOf === undefined || alikeToPlugins === undefined ? alikeToPlugins : narrowed(pod) + alikeToPlugins;
      const alike = kind === undefined ? undefined : byKind.get(kind);
      if (alike !== undefined) {
        alike.push(pod);
        continue;
      }
      const pods = [pod];
      kinds.push({ pods, isUniform: whole !== undefined });
      if (kind !== undefined) byKind.set(kind, pods);
    }
    const batches = kinds.map(({ pods, isUniform }) => this.#batch(request, indexes, pods, isUniform));
    return batches.length === 1 ? batches : batches.sort((a, b) => compareHardness(a, b));
  }

  #batch(request: PlanRequest, indexes: readonly number[] | undefined, pods: readonly Pod[], areAlike: boolean): Batch {
    const { profile, isGone, narrowingOf, random = this.#random, spend } = request;
    const { isUniform, state, answer, asked } = admit(request, pods, areAlike);
    const { pod } = asked;
    const batch = { sample: pods[0]!, pods, isUniform, state, answer, asked };
    if (answer.status !== undefined) return { ...batch, ranking: undefined };
    let cache = this.#caches.get(profile);
    if (cache === undefined) {
      cache = new SignatureCache(profile.scorers.length);
      this.#caches.set(profile, cache);
    }
    const ranking = new Ranking({
      profile,
      pod,
      state,
      nodes: this.#cluster.nodes,
      table: signatureTable(cache, this.signaturesOf(profile, pod).local),
      ties: this.#tiesFor(this.#cluster.nodes.length),
      nodeNames: answer.nodeNames,
      within: indexes,
      narrowing: narrowingOf?.(pod),
      random,
      spend,
      hasNoClaim: (uid) => this.#cluster.isAssumed(uid) || isGone?.(uid) === true,
    });
    return { ...batch, ranking };
  }

  /** Places what it can; undefined when no member is left. */
  #placeBatch(planning: Planning, batch: Batch): Leftover | undefined {
    const { profile, needed, placements, groupState, spend } = planning;
    const { pods, ranking, isUniform, answer: shared } = batch;
    if (ranking === undefined || shared.status !== undefined) {
      const { mayChange, status } = shared;
      return { pods, diagnosis: this.#refusal(planning, pods[0]!, status!), mayChange, never: false };
    }
    const left: Pod[] = [];
    let diagnosis: Diagnosis | undefined;
    let mayChange = false;
    let isRefusedByNodes = false;
    // The ranking follows its own placements; others have been made since, or other rankings may have used its table.
    let isStale = planning.batches.length > 1 || placements.length > 0;
    for (let i = 0; i < pods.length && placements.length < needed; i++) {
      const pod = pods[i]!;
      if (!mayChange && planning.candidates - left.length < needed) {
        left.push(...pods.slice(i));
        break;
      }
      let { state, answer } = batch.asked;
      // What has been asked about this very pod stands, and what its plugins have kept since is theirs at the points to come.
      if (isStale || pod !== batch.asked.pod) {
        state = isUniform ? batch.state.fork() : new CycleState(groupState);
        answer = isUniform ? profile.preFilterEach(state, pod, shared.nodeNames) : profile.preFilter(state, pod);
      }
      spend?.(stepsPerMember);
      if (answer.status !== undefined) {
        const refusal = this.#refusal(planning, pod, answer.status);
        if (failureIn(refusal) !== undefined) return stoppedBy(refusal, pods.slice(i));
        diagnosis ??= refusal;
        for (const name of refusal.plugins) planning.refusers.add(name);
        mayChange ||= answer.mayChange;
        left.push(pod);
        continue;
      }
      const { nodeNames } = answer;
      const isRight = !isStale && (isUniform ? ranking.isAmong(nodeNames) : ranking.serves(pod, state, nodeNames));
      if (!isRight) ranking.refreshFor(pod, isUniform ? batch.state : state, nodeNames);
      isStale = false;
      const node = this.#reserveBest(profile, ranking, state, pod, planning.transaction);
      if (ranking.error !== undefined) return stoppedBy(ranking.diagnose(pod), pods.slice(i));
      if (node === undefined) {
        diagnosis ??= ranking.diagnose(pod);
        isRefusedByNodes = true;
        mayChange ||= ranking.dependsOnOthers || (nodeNames !== undefined && answer.mayChange);
        left.push(pod);
        if (!isUniform || !sameNames(nodeNames, shared.nodeNames)) continue;
        // The next identical pod would fare no better.
        left.push(...pods.slice(i + 1));
        break;
      }
      placements.push({ pod, nodeName: node.name, state });
      // For the next one alone: who comes later finds the node changed and looks at it then.
      if (i + 1 < pods.length && placements.length < needed) ranking.placedOnBest();
      const failure = ranking.error ?? this.#follow(planning, pod, node);
      if (failure !== undefined) return stoppedBy(this.#refusal(planning, pod, failure), pods.slice(i));
      isStale = ranking.readsOthers;
    }
    const never = isRefusedByNodes && !mayChange && !isStale && ranking.isRefusedForGood;
    return diagnosis && { pods: left, diagnosis, mayChange, never };
  }

  /** Tells what PreFilter computed for each kind of member that this one has landed. Answers a failure. */
  #follow({ profile, batches }: Planning, pod: Pod, node: NodeInfo): Status | undefined {
    if (!profile.followsPlacements) return undefined;
    for (const { isUniform, ranking, state, sample } of batches) {
      if (!isUniform || ranking === undefined) continue;
      const failure = profile.addPod(state, sample, pod, node);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  #reserveBest(
    profile: Profile,
    ranking: Ranking,
    state: CycleState,
    pod: Pod,
    transaction: Transaction,
  ): NodeInfo | undefined {
    for (let node = ranking.best(); node !== undefined; node = ranking.best()) {
      const savepoint: Savepoint = transaction.savepoint();
      transaction.assume(pod, node);
      const refusal = profile.reserve(state, pod, node);
      if (refusal === undefined) return node;
      profile.unreserve(state, pod, node.name);
      transaction.rollbackTo(savepoint);
      ranking.refuseBest(refusal);
    }
    return undefined;
  }

  #tiesFor(nodeCount: number): Float64Array {
    if (this.#ties.length < nodeCount) {
      this.#ties = Float64Array.from({ length: Math.ceil(nodeCount * 1.5) }, () => this.#tieRandom());
    }
    return this.#ties;
  }

  #indexesOf(names: ReadonlySet<string>): readonly number[] {
    const indexes: number[] = [];
    for (const name of names) {
      const node = this.#cluster.node(name);
      if (node !== undefined) indexes.push(node.index);
    }
    return indexes.sort((a, b) => a - b);
  }

  #refusal({ indexes }: Planning, pod: Pod, status: Status): Diagnosis {
    return {
      pod,
      nodeCount: indexes?.length ?? this.#cluster.nodes.length,
      refusal: { kind: 'pod', status },
      plugins: new Set(status.plugin === '' ? [] : [status.plugin]),
    };
  }

  /** What makes pods alike to the profile's plugins; each pod is asked about once. */
  signaturesOf(profile: Profile, pod: Pod): PodSignatures {
    const known = this.#signatures.get(pod);
    if (known?.profile === profile) return known.signatures;
    const signatures = profile.signaturesOf(pod);
    this.#signatures.set(pod, { profile, signatures });
    return signatures;
  }
}

/** There are not as many members as are needed. */
function tooFew(cluster: Cluster, { members, needed }: PlanRequest): Diagnosis | undefined {
  const [pod] = members;
  if (pod === undefined || members.length >= needed) return undefined;
  const reason = `only ${members.length} of the ${needed} members that are needed can be placed`;
  const status = new Status('UnschedulableAndUnresolvable', reason);
  return { pod, nodeCount: cluster.nodes.length, refusal: { kind: 'pod', status }, plugins: new Set() };
}

function complete(placements: readonly Placement[]): Plan {
  return { placements, blocked: undefined, refusedBy: new Set(), never: false, isExhaustive: true };
}

/** What PreFilter says of pods before any of them is placed: of the first that it lets through, or its first refusal. */
function admit({ profile, groupState }: PlanRequest, pods: readonly Pod[], areAlike: boolean): Admission {
  const kindState = new CycleState(groupState);
  const kind = areAlike ? profile.preFilterKind(kindState, pods[0]!) : undefined;
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
    const answer = isUniform ? profile.preFilterEach(state, pod, amongOf(kind)) : profile.preFilter(state, pod);
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

function amongOf(answer: PreFilterAnswer): ReadonlySet<string> | undefined {
  return answer.status === undefined ? answer.nodeNames : undefined;
}

/** A plugin failed, which ends the plan. */
function stoppedBy(diagnosis: Diagnosis, pods: readonly Pod[]): Leftover {
  return { pods, diagnosis, mayChange: false, never: false };
}

/** All members are alike, and no plugin that judges them looks at where the others are, or at what nobody knows. */
function areIndependent(profile: Profile, [batch, ...more]: readonly Batch[]): boolean {
  if (batch?.isUniform !== true || more.length > 0 || profile.judgesUnsigned) return false;
  return batch.ranking?.dependsOnPlacements !== true;
}

function refusingPlugins(batches: readonly Batch[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { sample, ranking, answer } of batches) {
    if (ranking === undefined) {
      if (answer.status !== undefined && answer.status.plugin !== '') names.add(answer.status.plugin);
      continue;
    }
    // The batches placed since may have used its table.
    if (batches.length > 1) ranking.refresh();
    for (const name of ranking.diagnose(sample).plugins) names.add(name);
  }
  return names;
}

/** A pod without a signature keeps one table to itself. */
function signatureTable(cache: SignatureCache, signature: string | undefined): () => NodeTable {
  if (signature !== undefined) return () => cache.table(signature);
  const own = cache.unsharedTable();
  return () => own;
}

/** Fewest feasible nodes first; among equals the larger request, then the older pod, so that the order is repeatable. */
function compareHardness(a: Batch, b: Batch): number {
  const nodes = (a.ranking?.size ?? 0) - (b.ranking?.size ?? 0);
  if (nodes !== 0) return nodes;
  const [podA, podB] = [a.sample, b.sample];
  const cpu = podB.template.nonZeroMilliCpu - podA.template.nonZeroMilliCpu;
  const memory = podB.template.nonZeroMemory - podA.template.nonZeroMemory;
  return cpu || memory || podA.creationTimestamp - podB.creationTimestamp || (podA.uid < podB.uid ? -1 : 1);
}
