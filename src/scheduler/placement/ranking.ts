import type { Pod } from '../../api/pod.ts';
import type { Random } from '../../base/random.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import type { Profile } from '../../framework/profile.ts';
import { Status } from '../../framework/status.ts';
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
  readonly #pod: Pod;
  readonly #state: CycleState;
  readonly #nodes: readonly NodeInfo[];
  readonly #table: NodeTable;
  readonly #nodeNames: ReadonlySet<string> | undefined;
  readonly #random: Random;
  /** node index -> weighted total, for feasible nodes */
  #totals = new Float64Array(0);
  /** node index -> drawn order among equal totals */
  #ties = new Float64Array(0);
  /** A heap of node indexes, best first. */
  #heap = new Int32Array(0);
  #size = 0;
  #extremes: readonly (Extremes | undefined)[] = [];
  /** node index -> refusal by PreFilter's choice of nodes or by a plugin that reads other nodes */
  #globalStatuses = new Map<number, Status>();
  #error: Status | undefined;

  constructor(options: {
    readonly profile: Profile;
    readonly pod: Pod;
    /** PreFilter has run on it. */
    readonly state: CycleState;
    readonly nodes: readonly NodeInfo[];
    readonly table: NodeTable;
    readonly nodeNames: ReadonlySet<string> | undefined;
    readonly random: Random;
  }) {
    this.#profile = options.profile;
    this.#pod = options.pod;
    this.#state = options.state;
    this.#nodes = options.nodes;
    this.#table = options.table;
    this.#nodeNames = options.nodeNames;
    this.#random = options.random;
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
    return this.#error !== undefined || this.#size === 0 ? undefined : this.#nodes[this.#heap[0]!];
  }

  /** Takes the best node out for good: something but Filter refused it (Reserve, say). */
  discardBest(): void {
    this.#removeTop();
  }

  /** An identical pod was just assumed on the best node: looks at that node again. */
  placedOnBest(): void {
    if (this.#profile.readsOtherNodes) return this.#build();
    const index = this.#heap[0]!;
    const table = this.#table;
    const before = this.#extremes.map((extremes, column) => extremes && table.scores[column]![index]!);
    this.#evaluate(this.#nodes[index]!);
    const feasible = table.statuses[index] === undefined;
    for (let column = 0; column < before.length; column++) {
      const extremes = this.#extremes[column];
      if (extremes === undefined) continue;
      const now = feasible ? table.scores[column]![index]! : undefined;
      if (!replaceInExtremes(extremes, before[column]!, now)) return this.#build();
    }
    if (!feasible) return this.#removeTop();
    this.#totals[index] = this.#totalOf(index);
    this.#siftDown(0, index);
  }

  /** Brings the ranking up to date after other pods were placed. */
  refresh(): void {
    this.#build();
  }

  diagnose(): Diagnosis {
    const reasons = new Map<string, number>();
    const plugins = new Set<string>();
    let resolvable = false;
    for (const node of this.#nodes) {
      const status = this.#table.statuses[node.index] ?? this.#globalStatuses.get(node.index);
      if (status === undefined) continue;
      // A node that lacks several things says so in one list; each counts for itself, as in kube-scheduler.
      for (const reason of status.reason.split(', ')) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      if (status.plugin !== '') plugins.add(status.plugin);
      resolvable ||= status.code === 'Unschedulable';
    }
    if (this.#error !== undefined && this.#error.plugin !== '') plugins.add(this.#error.plugin);
    return {
      pod: this.#pod,
      nodeCount: this.#nodes.length,
      preFilter: this.#error,
      nodeReasons: reasons,
      plugins,
      resolvable,
    };
  }

  #build(): void {
    const nodes = this.#nodes;
    const table = this.#table;
    table.reserve(nodes.length);
    this.#error = undefined;
    this.#globalStatuses.clear();
    if (this.#totals.length < nodes.length) {
      this.#totals = new Float64Array(nodes.length);
      this.#ties = new Float64Array(nodes.length);
      this.#heap = new Int32Array(nodes.length);
      for (let i = 0; i < nodes.length; i++) this.#ties[i] = this.#random();
    }
    const feasible = this.#findFeasible();
    this.#size = feasible.length;
    if (this.#error !== undefined || feasible.length === 0) return;
    this.#error = this.#profile.preScore(this.#state, this.#pod, feasible);
    if (this.#error !== undefined) return;
    this.#scoreFeasible(feasible);
    for (let i = 0; i < feasible.length; i++) this.#heap[i] = feasible[i]!.index;
    for (let i = (this.#size >> 1) - 1; i >= 0; i--) this.#siftDown(i, this.#heap[i]!);
  }

  /** Filters the nodes whose row is out of date. Their scores follow once PreScore has run; until then the row is stale. */
  #findFeasible(): readonly NodeInfo[] {
    const { localFilters, globalFilters } = this.#profile;
    const table = this.#table;
    const feasible: NodeInfo[] = [];
    for (let i = 0; i < this.#nodes.length; i++) {
      const node = this.#nodes[i]!;
      if (!table.isCurrent(node)) {
        const status = this.#profile.filter(localFilters, this.#state, this.#pod, node);
        table.statuses[i] = status;
        if (status?.code === 'Error') this.#error ??= status;
        else if (status !== undefined) table.generations[i] = node.generation;
      }
      if (table.statuses[i] !== undefined) continue;
      const refusal =
        this.#nodeNames?.has(node.name) === false
          ? notPreselected
          : globalFilters.length === 0
            ? undefined
            : this.#profile.filter(globalFilters, this.#state, this.#pod, node);
      if (refusal === undefined) feasible.push(node);
      else {
        this.#globalStatuses.set(i, refusal);
        if (refusal.code === 'Error') this.#error ??= refusal;
      }
    }
    return feasible;
  }

  #scoreFeasible(feasible: readonly NodeInfo[]): void {
    const { scorers } = this.#profile;
    const table = this.#table;
    for (const node of feasible) {
      if (table.isCurrent(node)) continue;
      this.#scoreRow(node);
    }
    const totals = this.#totals;
    for (const node of feasible) totals[node.index] = 0;
    const column = new Float64Array(feasible.length);
    this.#extremes = scorers.map(({ plugin, weight }, scorer) => {
      if (this.#state.skippedScores.has(plugin.name)) return undefined;
      const raw = table.scores[scorer]!;
      if (plugin.readsOtherNodes === true) this.#scoreColumn(plugin, feasible, raw);
      for (let i = 0; i < feasible.length; i++) column[i] = raw[feasible[i]!.index]!;
      const extremes = plugin.normalizeScore === undefined ? undefined : extremesOf(column);
      try {
        plugin.normalizeScore?.(this.#state, this.#pod, column);
      } catch (error) {
        this.#error ??= scoringFailure(plugin.name, 'NormalizeScore', error);
      }
      for (let i = 0; i < feasible.length; i++) totals[feasible[i]!.index]! += weight * column[i]!;
      return extremes;
    });
  }

  #scoreColumn(plugin: Profile['plugins'][number], feasible: readonly NodeInfo[], raw: Float64Array): void {
    try {
      for (const node of feasible) raw[node.index] = plugin.score!(this.#state, this.#pod, node);
    } catch (error) {
      this.#error ??= scoringFailure(plugin.name, 'Score', error);
    }
  }

  /** Filters and scores one node again. */
  #evaluate(node: NodeInfo): void {
    const status = this.#profile.filter(this.#profile.localFilters, this.#state, this.#pod, node);
    this.#table.statuses[node.index] = status;
    if (status?.code === 'Error') this.#error ??= status;
    if (status === undefined) this.#scoreRow(node);
    else this.#table.generations[node.index] = node.generation;
  }

  #scoreRow(node: NodeInfo): void {
    const { scorers } = this.#profile;
    const table = this.#table;
    for (let scorer = 0; scorer < scorers.length; scorer++) {
      const { plugin } = scorers[scorer]!;
      if (plugin.readsOtherNodes === true || this.#state.skippedScores.has(plugin.name)) continue;
      try {
        table.scores[scorer]![node.index] = plugin.score!(this.#state, this.#pod, node);
      } catch (error) {
        this.#error ??= scoringFailure(plugin.name, 'Score', error);
        return;
      }
    }
    table.generations[node.index] = node.generation;
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
      plugin.normalizeScore!(this.#state, this.#pod, sample);
      total += weight * sample[0]!;
    });
    return total;
  }

  #removeTop(): void {
    this.#size--;
    if (this.#size > 0) this.#siftDown(0, this.#heap[this.#size]!);
  }

  #siftDown(start: number, node: number): void {
    const heap = this.#heap;
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
    const difference = this.#totals[a]! - this.#totals[b]!;
    return difference !== 0 ? difference > 0 : this.#ties[a]! < this.#ties[b]!;
  }
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
