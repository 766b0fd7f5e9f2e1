import type { Pod } from '../../api/pod.ts';
import type { Random } from '../../base/random.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { Savepoint, Transaction } from '../../cluster/transaction.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Profile } from '../../framework/profile.ts';
import type { Status } from '../../framework/status.ts';
import type { NodeTable } from './node-table.ts';
import { Ranking } from './ranking.ts';
import { SignatureCache } from './signature-cache.ts';

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
}

/** The members of a batch that were not placed; `diagnosis` is of the first of them. */
interface Leftover {
  readonly pods: readonly Pod[];
  readonly diagnosis: Diagnosis;
  /** More placements may change that. */
  readonly mayChange: boolean;
}

/** Members that are alike to every node-local plugin. */
interface Batch {
  readonly pods: readonly Pod[];
  readonly ranking: Ranking | undefined;
  /** Set when PreFilter refused the batch's first pod. */
  readonly refused: Diagnosis | undefined;
}

/**
 * Places pods on the picture inside a transaction: PreFilter, Filter, Score and Reserve of each, nothing else. No Permit,
 * PostFilter, event or write happens here, so the same function serves trials.
 */
export class Planner {
  readonly #cluster: Cluster;
  readonly #random: Random;
  /** Random numbers, at least one a node, for the order among equal nodes. */
  #ties = new Float64Array(0);
  /** profile -> its node tables */
  readonly #caches = new WeakMap<Profile, SignatureCache>();
  /** pod -> its signature by the profile that asked last */
  readonly #signatures = new WeakMap<Pod, { readonly profile: Profile; readonly signature: string | undefined }>();

  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster;
    this.#random = random;
  }

  /**
   * Places `needed` of the members, hardest first (those that fit on the fewest nodes), identical ones together, and stops
   * as soon as that many are placed or can no longer be reached. A member that was refused because of where its siblings
   * are not yet is tried again after others have landed, until a round places nobody. A plugin that fails ends the plan.
   *
   * On return the placed members are assumed in the transaction and reserved; undoing both is the caller's (`unreserve`,
   * then rollback).
   */
  plan(
    profile: Profile,
    members: readonly Pod[],
    needed: number,
    transaction: Transaction,
    groupState: CycleState | undefined,
  ): Plan {
    const placements: Placement[] = [];
    const batches = this.#batches(profile, members, groupState);
    /** Of the hardest batch that more placements cannot help. */
    let hopeless: Diagnosis | undefined;
    /** Of the hardest batch that this round did not place. */
    let blocked: Diagnosis | undefined;
    const incomplete = (): Plan => {
      const explained = hopeless ?? blocked;
      const refusedBy = new Set([...refusingPlugins(batches), ...(explained?.plugins ?? [])]);
      return { placements, blocked: explained, refusedBy };
    };
    let waiting = batches;
    let candidates = members.length;
    for (let progress = true; progress && waiting.length > 0 && placements.length < needed;) {
      progress = false;
      blocked = undefined;
      const refused: Batch[] = [];
      for (const batch of waiting) {
        if (batches.length > 1 && !profile.readsOtherNodes) batch.ranking?.refresh();
        const before = placements.length;
        const left = this.#placeBatch(profile, batch, needed, transaction, groupState, placements);
        progress ||= placements.length > before;
        if (placements.length >= needed) return { placements, blocked: undefined, refusedBy: new Set() };
        if (left === undefined) continue;
        const { pods, diagnosis, mayChange } = left;
        if (diagnosis.preFilter?.code === 'Error')
          return { placements, blocked: diagnosis, refusedBy: diagnosis.plugins };
        blocked ??= diagnosis;
        if (mayChange) {
          refused.push({ ...batch, pods });
          continue;
        }
        hopeless ??= diagnosis;
        candidates -= pods.length;
        if (candidates < needed) return incomplete();
      }
      waiting = refused;
    }
    return incomplete();
  }

  /** Undoes Reserve for placements, in reverse order. */
  unreserve(profile: Profile, placements: readonly Placement[]): void {
    for (const { state, pod, nodeName } of placements.toReversed()) profile.unreserve(state, pod, nodeName);
  }

  #batches(profile: Profile, members: readonly Pod[], groupState: CycleState | undefined): Batch[] {
    /** signature -> its pods */
    const bySignature = new Map<string, Pod[]>();
    const podLists: Pod[][] = [];
    for (const pod of members) {
      const signature = this.#signatureOf(profile, pod);
      const alike = signature === undefined ? undefined : bySignature.get(signature);
      if (alike !== undefined) {
        alike.push(pod);
        continue;
      }
      const pods = [pod];
      podLists.push(pods);
      if (signature !== undefined) bySignature.set(signature, pods);
    }
    const batches = podLists.map((pods) => this.#batch(profile, pods, groupState));
    return batches.length === 1 ? batches : batches.sort((a, b) => compareHardness(a, b));
  }

  #batch(profile: Profile, pods: Pod[], groupState: CycleState | undefined): Batch {
    const pod = pods[0]!;
    const state = new CycleState(groupState);
    const answer = profile.preFilter(state, pod);
    if (answer.status !== undefined) {
      return { pods, ranking: undefined, refused: this.#refusal(pod, answer.status) };
    }
    let cache = this.#caches.get(profile);
    if (cache === undefined) {
      cache = new SignatureCache(profile.scorers.length);
      this.#caches.set(profile, cache);
    }
    const signature = this.#signatureOf(profile, pod);
    const ranking = new Ranking({
      profile,
      pod,
      state,
      nodes: this.#cluster.nodes,
      table: signatureTable(cache, signature),
      ties: this.#tiesFor(this.#cluster.nodes.length),
      nodeNames: answer.nodeNames,
      random: this.#random,
      isAssumed: (uid) => this.#cluster.isAssumed(uid),
    });
    return { pods, ranking, refused: undefined };
  }

  /** Places what it can; undefined when no member is left. */
  #placeBatch(
    profile: Profile,
    batch: Batch,
    needed: number,
    transaction: Transaction,
    groupState: CycleState | undefined,
    placements: Placement[],
  ): Leftover | undefined {
    const { pods, ranking } = batch;
    if (ranking === undefined) return { pods, diagnosis: batch.refused!, mayChange: false };
    const left: Pod[] = [];
    let diagnosis: Diagnosis | undefined;
    let mayChange = false;
    for (let i = 0; i < pods.length && placements.length < needed; i++) {
      const pod = pods[i]!;
      const state = new CycleState(groupState);
      const answer = profile.preFilter(state, pod);
      if (answer.status !== undefined) {
        diagnosis ??= this.#refusal(pod, answer.status);
        left.push(pod);
        continue;
      }
      // Members of a batch may differ to plugins that read other nodes, and each placement may change what those say.
      if (profile.readsOtherNodes) ranking.refreshFor(pod, state);
      const node = this.#reserveBest(profile, ranking, state, pod, transaction);
      if (node === undefined) {
        diagnosis ??= ranking.diagnose(pod);
        mayChange ||= ranking.dependsOnOthers;
        left.push(pod);
        if (profile.readsOtherNodes && ranking.error === undefined) continue;
        // The next identical pod would fare no better.
        left.push(...pods.slice(i + 1));
        break;
      }
      placements.push({ pod, nodeName: node.name, state });
      ranking.placedOnBest();
    }
    return diagnosis && { pods: left, diagnosis, mayChange };
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
      this.#ties = Float64Array.from({ length: Math.ceil(nodeCount * 1.5) }, () => this.#random());
    }
    return this.#ties;
  }

  #refusal(pod: Pod, status: Status): Diagnosis {
    return {
      pod,
      nodeCount: this.#cluster.nodes.length,
      preFilter: status,
      nodeReasons: new Map(),
      plugins: new Set(status.plugin === '' ? [] : [status.plugin]),
      resolvable: status.code === 'Unschedulable',
    };
  }

  #signatureOf(profile: Profile, pod: Pod): string | undefined {
    const known = this.#signatures.get(pod);
    if (known?.profile === profile) return known.signature;
    const signature = profile.signatureOf(pod);
    this.#signatures.set(pod, { profile, signature });
    return signature;
  }
}

function refusingPlugins(batches: readonly Batch[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { pods, ranking, refused } of batches) {
    // The batches placed since may have used its table.
    if (batches.length > 1) ranking?.refresh();
    const diagnosis = refused ?? ranking?.diagnose(pods[0]!);
    for (const name of diagnosis?.plugins ?? []) names.add(name);
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
  const [podA, podB] = [a.pods[0]!, b.pods[0]!];
  const cpu = podB.template.nonZeroMilliCpu - podA.template.nonZeroMilliCpu;
  const memory = podB.template.nonZeroMemory - podA.template.nonZeroMemory;
  return cpu || memory || podA.creationTimestamp - podB.creationTimestamp || (podA.uid < podB.uid ? -1 : 1);
}
