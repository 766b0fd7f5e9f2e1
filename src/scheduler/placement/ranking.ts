import type { Pod } from '../../api/pod.ts';
import type { Random } from '../../base/random.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Plugin } from '../../framework/plugin.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
import { filterBesideClaims } from './filter-beside-claims.ts';
import type { NodeTable } from './node-table.ts';

/** Least and greatest raw score of one plugin over the feasible nodes, and how many nodes have each. */
interface Extremes {
  least: number;
  leastCount: number;
  greatest: number;
  greatestCount: number;
}

const notPreselected = new Status('UnschedulableAndUnresolvable', "node(s) didn't satisfy plugin(s) [PreFilter]");

/**
 * The feasible nodes for one pod signature, best first. Building it costs one pass over the nodes, in which only nodes that
 * changed since the signature was last seen are filtered and scored again; each further identical pod costs one step,
 * because a placement changes a single node.
 */
export class Ranking {
  readonly #profile: Profile;
  #pod: Pod;
  #state: CycleState;
  readonly #nodes: readonly NodeInfo[];
  readonly #claimTable: () => NodeTable;
  readonly #ties: Float64Array;
  #tieOffset = 0;
  #table: NodeTable;
  readonly #nodeNames: ReadonlySet<string> | undefined;
  readonly #random: Random;
  readonly #isAssumed: (uid: string) => boolean;
  #size = 0;
  #extremes: readonly (Extremes | undefined)[] = [];
  /** node index -> refusal by PreFilter's choice of nodes or by a plugin that reads other nodes */
  #globalStatuses = new Map<number, Status>();
  /** node index -> refusal by Reserve; stands for as long as the ranking */
  readonly #reserveStatuses = new Map<number, Status>();
  #error: Status | undefined;

  constructor(options: {
    readonly profile: Profile;
    readonly pod: Pod;
    /** PreFilter has run on it. */
    readonly state: CycleState;
    readonly nodes: readonly NodeInfo[];
    /** Gives the signature's table; it is this ranking's until somebody else asks for one of another signature. */
    readonly table: () => NodeTable;
    readonly nodeNames: ReadonlySet<string> | undefined;
    readonly random: Random;
    /** At least as many different numbers as there are nodes: the order among equals. */
    readonly ties: Float64Array;
    /** Whether a claimant is on a node already, so that its claim no longer counts. */
    readonly isAssumed: (uid: string) => boolean;
  }) {
    this.#profile = options.profile;
    this.#pod = options.pod;
    this.#state = options.state;
    this.#nodes = options.nodes;
    this.#claimTable = options.table;
    this.#table = options.table();
    this.#ties = options.ties;
    this.#nodeNames = options.nodeNames;
    this.#random = options.random;
    this.#isAssumed = options.isAssumed;
    this.#build();
  }

  /** How many nodes the pod fits on. */
  get size(): number {
    return this.#size;
  }

  /** A plugin failed; nothing may be placed by this ranking. */
  get error(): Status | undefined {
    return this.#error;
  }

  /** The node to take; undefined when none fits. */
  best(): NodeInfo | undefined {
    return this.#error !== undefined || this.#size === 0 ? undefined : this.#nodes[this.#table.order[0]!];
  }

  /** Some node was refused in a way that may change when other pods are placed. */
  get dependsOnOthers(): boolean {
    return this.#globalStatuses.size > 0;
  }

  /** Takes the best node out for good, because Reserve refused it. An Error ends the ranking until the next refresh. */
  refuseBest(status: Status): void {
    if (status.code === 'Error') {
      this.#error ??= status;
      return;
    }
    this.#reserveStatuses.set(this.#table.order[0]!, status);
    this.#removeTop();
  }

  /**
   * An identical pod was just assumed on the best node: looks at that node again. Where plugins read other nodes, `refreshFor`
   * the next pod has to follow instead.
   */
  placedOnBest(): void {
    if (this.#profile.readsOtherNodes) return;
    const table = this.#table;
    const index = table.order[0]!;
    const before = this.#extremes.map((extremes, column) => extremes && table.scores[column]![index]!);
    const node = this.#nodes[index]!;
    this.#filterRow(node);
    if (table.statuses[index] === undefined) this.#scoreRow(node);
    const feasible = table.statuses[index] === undefined;
    for (let column = 0; column < before.length; column++) {
      const extremes = this.#extremes[column];
      if (extremes === undefined) continue;
      const now = feasible ? table.scores[column]![index]! : undefined;
      if (!replaceInExtremes(extremes, before[column]!, now)) return this.#build();
    }
    if (!feasible) return this.#removeTop();
    table.totals[index] = this.#totalOf(index);
    this.#siftDown(0, index);
  }

  /** Brings the ranking up to date after other pods were placed or other rankings built. */
  refresh(): void {
    this.#build();
  }

  /** As `refresh`, for a pod that is alike to the node-local plugins only, and with what PreFilter says of it now. */
  refreshFor(pod: Pod, state: CycleState): void {
    this.#pod = pod;
    this.#state = state;
    this.#build();
  }

  /** Why `pod`, one of the identical ones, finds no node (any more). */
  diagnose(pod: Pod): Diagnosis {
    const reasons = new Map<string, number>();
    const plugins = new Set<string>();
    let resolvable = false;
    for (const node of this.#nodes) {
      const { index } = node;
      const status = this.#table.statuses[index] ?? this.#globalStatuses.get(index) ?? this.#reserveStatuses.get(index);
      if (status === undefined) continue;
      // A node that lacks several things says so in one list; each counts for itself, as in kube-scheduler.
      for (const reason of status.reason.split(', ')) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      if (status.plugin !== '') plugins.add(status.plugin);
      resolvable ||= status.code === 'Unschedulable';
    }
    if (this.#error !== undefined && this.#error.plugin !== '') plugins.add(this.#error.plugin);
    return {
      pod,
      nodeCount: this.#nodes.length,
      preFilter: this.#error,
      nodeReasons: reasons,
      plugins,
      resolvable,
    };
  }

  #build(): void {
    const nodes = this.#nodes;
    const table = this.#claimTable();
    this.#table = table;
    table.reserve(nodes.length);
    this.#error = undefined;
    this.#globalStatuses.clear();
    this.#tieOffset = Math.floor(this.#random() * nodes.length);
    this.#size = this.#findFeasible(table);
    if (this.#error !== undefined || this.#size === 0) return;
    const listFeasible = (): readonly NodeInfo[] => Array.from(table.order.subarray(0, this.#size), (i) => nodes[i]!);
    this.#error = this.#profile.preScore(this.#state, this.#pod, listFeasible);
    if (this.#error !== undefined) return;
    this.#scoreFeasible(table);
    for (let i = (this.#size >> 1) - 1; i >= 0; i--) this.#siftDown(i, table.order[i]!);
  }

  /**
   * Filters the nodes whose row is out of date and lists the feasible ones in `order`; returns how many. Their scores follow
   * once PreScore has run; until then such a row is not current.
   */
  #findFeasible(table: NodeTable): number {
    const nodes = this.#nodes;
    const { generations, statuses, order } = table;
    const isNarrowed =
      this.#nodeNames !== undefined || this.#profile.globalFilters.length > 0 || this.#reserveStatuses.size > 0;
    let size = 0;
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i]!;
      if (generations[i] !== node.generation) this.#filterRow(node);
      if (statuses[i] === undefined && !(isNarrowed && this.#isNarrowedOut(node))) order[size++] = i;
    }
    return size;
  }

  /** Reserve's refusals, PreFilter's choice of nodes, and the plugins that read other nodes: never reused. */
  #isNarrowedOut(node: NodeInfo): boolean {
    if (this.#reserveStatuses.has(node.index)) return true;
    const refusal =
      this.#nodeNames?.has(node.name) === false
        ? notPreselected
        : this.#profile.filter(this.#profile.globalFilters, this.#state, this.#pod, node);
    if (refusal === undefined) return false;
    this.#globalStatuses.set(node.index, refusal);
    if (refusal.code === 'Error') this.#error ??= refusal;
    return true;
  }

  #scoreFeasible(table: NodeTable): void {
    const { scorers } = this.#profile;
    const { generations, order, totals } = table;
    const size = this.#size;
    for (let i = 0; i < size; i++) {
      const node = this.#nodes[order[i]!]!;
      if (generations[node.index] !== node.generation) this.#scoreRow(node);
    }
    for (let i = 0; i < size; i++) totals[order[i]!] = 0;
    this.#extremes = scorers.map(({ plugin, weight }, scorer) => {
      if (this.#state.skippedScores.has(plugin.name)) return undefined;
      const raw = table.scores[scorer]!;
      if (plugin.readsOtherNodes === true) this.#scoreColumn(plugin, table, raw);
      if (plugin.normalizeScore === undefined) {
        for (let i = 0; i < size; i++) totals[order[i]!]! += weight * raw[order[i]!]!;
        return undefined;
      }
      const column = table.column.subarray(0, size);
      for (let i = 0; i < size; i++) column[i] = raw[order[i]!]!;
      const extremes = extremesOf(column);
      try {
        plugin.normalizeScore(this.#state, this.#pod, column);
      } catch (error) {
        this.#error ??= scoringFailure(plugin.name, 'NormalizeScore', error);
      }
      for (let i = 0; i < size; i++) totals[order[i]!]! += weight * column[i]!;
      return extremes;
    });
  }

  #scoreColumn(plugin: Plugin, { order }: NodeTable, raw: Float64Array): void {
    try {
      for (let i = 0; i < this.#size; i++) {
        const index = order[i]!;
        raw[index] = finite(plugin.score!(this.#state, this.#pod, this.#nodes[index]!));
      }
    } catch (error) {
      this.#error ??= scoringFailure(plugin.name, 'Score', error);
    }
  }

  #filterRow(node: NodeInfo): void {
    const table = this.#table;
    const status = this.#filterLocally(node);
    table.statuses[node.index] = status;
    if (status === undefined) return;
    if (status.code === 'Error') this.#error ??= status;
    else table.markCurrent(node);
  }

  #filterLocally(node: NodeInfo): Status | undefined {
    const { localFilters } = this.#profile;
    const status = this.#profile.filter(localFilters, this.#state, this.#pod, node);
    if (status !== undefined || node.claims.size === 0) return status;
    return filterBesideClaims(this.#profile, localFilters, this.#state, this.#pod, node, this.#isAssumed);
  }

  #scoreRow(node: NodeInfo): void {
    const { scorers } = this.#profile;
    const table = this.#table;
    for (let scorer = 0; scorer < scorers.length; scorer++) {
      const { plugin } = scorers[scorer]!;
      if (plugin.readsOtherNodes === true || this.#state.skippedScores.has(plugin.name)) continue;
      try {
        table.scores[scorer]![node.index] = finite(plugin.score!(this.#state, this.#pod, node));
      } catch (error) {
        this.#error ??= scoringFailure(plugin.name, 'Score', error);
        return;
      }
    }
    table.markCurrent(node);
  }

  /** One node's total, by normalising its raw scores together with the extremes that stand for all others. */
  #totalOf(index: number): number {
    let total = 0;
    this.#profile.scorers.forEach(({ plugin, weight }, scorer) => {
      if (this.#state.skippedScores.has(plugin.name)) return;
      const raw = this.#table.scores[scorer]![index]!;
      const extremes = this.#extremes[scorer];
      if (extremes === undefined) {
        total += weight * raw;
        return;
      }
      const sample = Float64Array.of(raw, extremes.least, extremes.greatest);
      try {
        plugin.normalizeScore!(this.#state, this.#pod, sample);
      } catch (error) {
        this.#error ??= scoringFailure(plugin.name, 'NormalizeScore', error);
      }
      total += weight * sample[0]!;
    });
    return total;
  }

  #removeTop(): void {
    this.#size--;
    if (this.#size > 0) this.#siftDown(0, this.#table.order[this.#size]!);
  }

  #siftDown(start: number, node: number): void {
    const heap = this.#table.order;
    const size = this.#size;
    let position = start;
    for (;;) {
      let child = 2 * position + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#better(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#better(heap[child]!, node)) break;
      heap[position] = heap[child]!;
      position = child;
    }
    heap[position] = node;
  }

  #better(a: number, b: number): boolean {
    const { totals } = this.#table;
    const difference = totals[a]! - totals[b]!;
    return difference !== 0 ? difference > 0 : this.#tieOf(a) < this.#tieOf(b);
  }

  /** Equal nodes are taken in an order that is drawn once and begins somewhere else each time. */
  #tieOf(index: number): number {
    return this.#ties[(index + this.#tieOffset) % this.#nodes.length]!;
  }
}

function finite(score: number): number {
  if (!Number.isFinite(score)) throw new RangeError(`a score must be a finite number, not ${score}`);
  return score;
}

function scoringFailure(plugin: string, point: string, error: unknown): Status {
  const text = error instanceof Error ? error.message : String(error);
  return new Status('Error', `${plugin} failed in ${point}: ${text}`, plugin, error);
}

function extremesOf(scores: Float64Array): Extremes {
  const extremes: Extremes = { least: Infinity, leastCount: 0, greatest: -Infinity, greatestCount: 0 };
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i]!;
    if (score < extremes.least) {
      extremes.least = score;
      extremes.leastCount = 0;
    }
    if (score > extremes.greatest) {
      extremes.greatest = score;
      extremes.greatestCount = 0;
    }
    if (score === extremes.least) extremes.leastCount++;
    if (score === extremes.greatest) extremes.greatestCount++;
  }
  return extremes;
}

/** Replaces one node's raw score (undefined: the node is out). False when the extremes are no longer known. */
function replaceInExtremes(extremes: Extremes, before: number, now: number | undefined): boolean {
  if (before === now) return true;
  if (before === extremes.least && --extremes.leastCount === 0) return false;
  if (before === extremes.greatest && --extremes.greatestCount === 0) return false;
  if (now === undefined) return true;
  if (now < extremes.least || now > extremes.greatest) return false;
  if (now === extremes.least) extremes.leastCount++;
  if (now === extremes.greatest) extremes.greatestCount++;
  return true;
}
