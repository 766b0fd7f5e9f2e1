import type { Pod } from '../../api/pod.ts';
import type { Random } from '../../base/random.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { Diagnosis, Refusal } from '../../framework/diagnosis.ts';
import { describe, dropPromise } from '../../framework/plugin-answers.ts';
import { failureOf } from '../../framework/plugin-failure.ts';
import { notPreselected } from '../../framework/profile.ts';
import type { FilterPlugin, Profile, ScorePlugin } from '../../framework/profile.ts';
import type { Status } from '../../framework/status.ts';
import { filterBesideClaims } from './filter-beside-claims.ts';
import { notAsked } from './narrowing.ts';
import type { Narrowing } from './narrowing.ts';
import type { NodeTable } from './node-table.ts';

/** Least and greatest raw score of one plugin over the feasible nodes, and how many nodes have each. */
interface Extremes {
  least: number;
  leastCount: number;
  greatest: number;
  greatestCount: number;
}

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
  #nodeNames: ReadonlySet<string> | undefined;
  /** Indexes of the only nodes that are looked at; undefined: all. */
  readonly #within: readonly number[] | undefined;
  readonly #narrowing: Narrowing | undefined;
  readonly #random: Random;
  readonly #spend: ((steps: number) => void) | undefined;
  readonly #hasNoClaim: (uid: string) => boolean;
  #size = 0;
  #readsOthers = false;
  #extremes: readonly (Extremes | undefined)[] = [];
  /** node index -> refusal by PreFilter's choice of nodes, by an extender, or by a plugin that reads other nodes */
  readonly #otherStatuses = new Map<number, Status>();
  #dependsOnOthers = false;
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
    /** Indexes of the only nodes to look at; absent: all. */
    readonly within?: readonly number[] | undefined;
    /** What extenders said of the nodes; absent: they have no say. */
    readonly narrowing?: Narrowing | undefined;
    readonly random: Random;
    /** Told how many nodes will be looked at, each time; may throw. */
    readonly spend?: ((steps: number) => void) | undefined;
    /** At least as many different numbers as there are nodes: the order among equals. */
    readonly ties: Float64Array;
    /** Whether a claimant is on a node already, or gone, so that its claim no longer counts. */
    readonly hasNoClaim: (uid: string) => boolean;
  }) {
    this.#profile = options.profile;
    this.#pod = options.pod;
    this.#state = options.state;
    this.#nodes = options.nodes;
    this.#claimTable = options.table;
    this.#table = options.table();
    this.#ties = options.ties;
    this.#nodeNames = options.nodeNames;
    this.#within = options.within;
    this.#narrowing = options.narrowing;
    this.#random = options.random;
    this.#spend = options.spend;
    this.#hasNoClaim = options.hasNoClaim;
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
    return this.#dependsOnOthers;
  }

  /** What has been placed where may be why a node is refused: a plugin reads other nodes, or Reserve has its own account. */
  get dependsOnPlacements(): boolean {
    return this.#readsOthers || this.#reserveStatuses.size > 0;
  }

  /** A plugin that did not skip the pod reads other nodes, so the ranking is out of date after every placement. */
  get readsOthers(): boolean {
    return this.#readsOthers;
  }

  /** Whether these are the nodes that PreFilter left to choose from; undefined: all. */
  isAmong(nodeNames: ReadonlySet<string> | undefined): boolean {
    return sameNames(nodeNames, this.#nodeNames);
  }

  /**
   * Whether every node refuses the pod in a way that has nothing to do with other pods: neither taking some away nor placing
   * more can help.
   */
  get isRefusedForGood(): boolean {
    if (this.#error !== undefined || this.#otherStatuses.size > 0 || this.#reserveStatuses.size > 0) return false;
    const nodeCount = this.#nodeCount;
    for (let place = 0; place < nodeCount; place++) {
      if (this.#table.statuses[this.#indexAt(place)]?.code !== 'UnschedulableAndUnresolvable') return false;
    }
    return true;
  }

  /**
   * Whether the ranking, up to date for one pod, is right for another too that is alike to the node-local plugins. `state`
   * and `nodeNames` are what PreFilter says of that one.
   */
  serves(pod: Pod, state: CycleState, nodeNames: ReadonlySet<string> | undefined): boolean {
    if (!this.isAmong(nodeNames)) return false;
    if (pod === this.#pod) return true;
    if (this.#readsOthers) return false;
    const failure = this.#profile.preScoreOthers(state, pod, () => this.#feasible());
    return failure === undefined && !this.#profile.readsOthers(state);
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
   * An identical pod was just assumed on the best node: looks at that node again. Does nothing where plugins read other
   * nodes: `refreshFor` the next pod has to follow.
   */
  placedOnBest(): void {
    if (this.#readsOthers) return;
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
  refreshFor(pod: Pod, state: CycleState, nodeNames: ReadonlySet<string> | undefined): void {
    this.#pod = pod;
    this.#state = state;
    this.#nodeNames = nodeNames;
    this.#build();
  }

  /** Why `pod`, one of the identical ones, finds no node (any more). */
  diagnose(pod: Pod): Diagnosis {
    const reasons = new Map<string, number>();
    const plugins = new Set<string>();
    let resolvable = false;
    const nodeCount = this.#nodeCount;
    for (let i = 0; i < nodeCount; i++) {
      const status = this.#statusOf(this.#indexAt(i));
      if (status === undefined) continue;
      for (const reason of status.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      if (status.plugin !== '') plugins.add(status.plugin);
      resolvable ||= status.code === 'Unschedulable';
    }
    if (this.#error !== undefined && this.#error.plugin !== '') plugins.add(this.#error.plugin);
    const refusal: Refusal =
      this.#error === undefined ? { kind: 'nodes', reasons, resolvable } : { kind: 'pod', status: this.#error };
    return { pod, nodeCount, refusal, plugins };
  }

  get #nodeCount(): number {
    return this.#within === undefined ? this.#nodes.length : this.#within.length;
  }

  /** Index of the node that is looked at in this place. */
  #indexAt(place: number): number {
    return this.#within === undefined ? place : this.#within[place]!;
  }

  #statusOf(index: number): Status | undefined {
    return this.#table.statuses[index] ?? this.#otherStatuses.get(index) ?? this.#reserveStatuses.get(index);
  }

  #feasible(): readonly NodeInfo[] {
    return Array.from(this.#table.order.subarray(0, this.#size), (index) => this.#nodes[index]!);
  }

  #build(): void {
    const nodes = this.#nodes;
    this.#spend?.(this.#nodeCount);
    const table = this.#claimTable();
    this.#table = table;
    table.reserve(nodes.length);
    this.#error = undefined;
    this.#otherStatuses.clear();
    this.#dependsOnOthers = false;
    this.#readsOthers = true;
    this.#tieOffset = Math.floor(this.#random() * nodes.length);
    const begun = this.#profile.begin();
    this.#size = this.#findFeasible(table);
    this.#profile.ran(
      'Filter',
      this.#error !== undefined ? 'Error' : this.#size === 0 ? 'Unschedulable' : 'Success',
      begun,
    );
    if (this.#error !== undefined) return;
    if (this.#size === 0) {
      this.#readsOthers = this.#profile.filtersByOthers(this.#state);
      return;
    }
    this.#error = this.#profile.preScore(this.#state, this.#pod, () => this.#feasible());
    if (this.#error !== undefined) return;
    this.#readsOthers = this.#profile.readsOthers(this.#state);
    const scoring = this.#profile.begin();
    this.#useScores(table);
    this.#scoreFeasible(table);
    this.#profile.ran('Score', this.#error !== undefined ? 'Error' : 'Success', scoring);
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
      this.#nodeNames !== undefined ||
      this.#narrowing !== undefined ||
      this.#reserveStatuses.size > 0 ||
      this.#profile.filtersByOthers(this.#state);
    const nodeCount = this.#nodeCount;
    let size = 0;
    for (let place = 0; place < nodeCount; place++) {
      const index = this.#indexAt(place);
      const node = nodes[index]!;
      if (generations[index] !== node.generation) this.#filterRow(node);
      if (statuses[index] === undefined && !(isNarrowed && this.#isNarrowedOut(node))) order[size++] = index;
    }
    return size;
  }

  /** Reserve's refusals, PreFilter's choice of nodes, extenders, and the plugins that read other nodes: never reused. */
  #isNarrowedOut(node: NodeInfo): boolean {
    if (this.#reserveStatuses.has(node.index)) return true;
    if (this.#nodeNames?.has(node.name) === false) {
      this.#otherStatuses.set(node.index, notPreselected);
      return true;
    }
    if (this.#narrowing?.allowed.has(node.name) === false) {
      this.#otherStatuses.set(node.index, this.#narrowing.refused.get(node.name) ?? notAsked);
      return true;
    }
    const refusal = this.#filter(this.#profile.otherFilters, node);
    if (refusal === undefined) return false;
    this.#otherStatuses.set(node.index, refusal);
    this.#dependsOnOthers = true;
    if (refusal.code === 'Error') this.#error ??= refusal;
    return true;
  }

  /** Rows that were scored while a plugin skipped lack its score: they are no good once it does not. */
  #useScores(table: NodeTable): void {
    this.#profile.scorers.forEach(({ plugin }, column) => {
      if (plugin.readsOtherNodes === true) return;
      const isAsked = !this.#state.skippedScores.has(plugin.name);
      if (isAsked && !table.isScored[column]!) table.clear();
      table.isScored[column] = isAsked;
    });
  }

  #scoreFeasible(table: NodeTable): void {
    const { scorers } = this.#profile;
    const { generations, order, totals } = table;
    const size = this.#size;
    for (let i = 0; i < size; i++) {
      const node = this.#nodes[order[i]!]!;
      if (generations[node.index] !== node.generation) this.#scoreRow(node);
    }
    const narrowing = this.#narrowing;
    if (narrowing === undefined) for (let i = 0; i < size; i++) totals[order[i]!] = 0;
    else for (let i = 0; i < size; i++) totals[order[i]!] = this.#extraOf(order[i]!, narrowing);
    this.#extremes = scorers.map((asked, scorer) => {
      const { plugin, weight } = asked;
      if (this.#state.skippedScores.has(plugin.name)) return undefined;
      const raw = table.scores[scorer]!;
      if (plugin.readsOtherNodes === true) this.#scoreColumn(asked, table, raw);
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
        this.#error ??= failureOf(plugin, 'NormalizeScore', error);
      }
      let sum = 0;
      for (let i = 0; i < size; i++) {
        totals[order[i]!]! += weight * column[i]!;
        sum += column[i]!;
      }
      // One that is no number leaves none.
      if (!Number.isFinite(sum)) this.#error ??= failureOf(plugin, 'NormalizeScore', notFinite);
      return extremes;
    });
  }

  #scoreColumn(scorer: ScorePlugin, { order }: NodeTable, raw: Float64Array): void {
    try {
      for (let i = 0; i < this.#size; i++) {
        const index = order[i]!;
        raw[index] = finite(this.#profile.score(scorer, this.#state, this.#pod, this.#nodes[index]!));
      }
    } catch (error) {
      this.#error ??= failureOf(scorer.plugin, 'Score', error);
    }
  }

  #filterRow(node: NodeInfo): void {
    const table = this.#table;
    const status = this.#filter(this.#profile.localFilters, node);
    table.statuses[node.index] = status;
    if (status === undefined) return;
    if (status.code === 'Error') this.#error ??= status;
    else table.markCurrent(node);
  }

  #filter(filters: readonly FilterPlugin[], node: NodeInfo): Status | undefined {
    if (node.claims.size === 0) return this.#profile.filter(filters, this.#state, this.#pod, node);
    return filterBesideClaims(this.#profile, filters, this.#state, this.#pod, node, this.#hasNoClaim);
  }

  #scoreRow(node: NodeInfo): void {
    const { scorers } = this.#profile;
    const table = this.#table;
    for (let scorer = 0; scorer < scorers.length; scorer++) {
      const asked = scorers[scorer]!;
      const { plugin } = asked;
      if (plugin.readsOtherNodes === true || this.#state.skippedScores.has(plugin.name)) continue;
      try {
        table.scores[scorer]![node.index] = finite(this.#profile.score(asked, this.#state, this.#pod, node));
      } catch (error) {
        this.#error ??= failureOf(plugin, 'Score', error);
        return;
      }
    }
    table.markCurrent(node);
  }

  /** One node's total, by normalising its raw scores together with the extremes that stand for all others. */
  #totalOf(index: number): number {
    let total = this.#narrowing === undefined ? 0 : this.#extraOf(index, this.#narrowing);
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
        this.#error ??= failureOf(plugin, 'NormalizeScore', error);
      }
      if (!Number.isFinite(sample[0])) this.#error ??= failureOf(plugin, 'NormalizeScore', notFinite);
      total += weight * sample[0]!;
    });
    return total;
  }

  /** What the extenders' scores add. */
  #extraOf(index: number, { allowed }: Narrowing): number {
    return allowed.get(this.#nodes[index]!.name) ?? 0;
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

/** Whether two choices of nodes are the same; undefined: all. */
export function sameNames(a: ReadonlySet<string> | undefined, b: ReadonlySet<string> | undefined): boolean {
  if (a === b) return true;
  if (a?.size !== b?.size) return false;
  for (const name of a!) if (!b!.has(name)) return false;
  return true;
}

function finite(score: number): number {
  if (Number.isFinite(score)) return score;
  dropPromise(score);
  throw new RangeError(`a score must be a finite number, not ${describe(score)}`);
}

const notFinite = new RangeError('it must leave finite numbers');

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
