import type { Pod } from '../../../api/pod.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { Diagnosis } from '../../../framework/diagnosis.ts';
import { describe, dropPromise } from '../../../framework/plugin-answers.ts';
import { failureOf } from '../../../framework/plugin-failure.ts';
import type { ScorePlugin } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import {
  addWeighted,
  addWeightedGathered,
  areFiniteAt,
  copyAt,
  copyKnownAt,
  fillAt,
  gather,
  listOutdated,
  listUnknown,
  scatter,
  sumAt,
} from './columns.ts';
import { extremesAt, replaceInExtremes } from './extremes.ts';
import type { Extremes } from './extremes.ts';
import { Feasibility } from './feasibility.ts';
import type { Asked, FeasibilityOptions } from './feasibility.ts';
import type { NodeTable } from './node-table.ts';

/** A scorer that was not told to skip the pod. */
interface Scoring {
  readonly scorer: ScorePlugin;
  readonly position: number;
  /** Raw scores by node index. */
  readonly raw: Float64Array;
  /** Where it normalises. */
  readonly normal: Normal | undefined;
}

interface Normal {
  /** Of the raw scores. */
  readonly extremes: Extremes;
  /** All nodes have the same, which decides nothing and is left out of the totals. */
  readonly isLeftOut: boolean;
  /** Normalised scores by node index, where they are at hand. */
  readonly scores: Float64Array | undefined;
  /** Where they are not: what was normalised last for a single node, and what it came to. */
  latestRaw: number;
  latest: number;
}

/** Scorers whose answers are kept in one table, what they come to as well. */
interface KeptScoring {
  readonly table: NodeTable;
  readonly scoring: readonly Scoring[];
}

/**
 * The feasible nodes for pods that are alike, best first. Building it costs one pass over the nodes, in which only nodes that
 * changed since the pods' like was last seen are filtered and scored again; each further identical pod costs one step,
 * because a placement changes a single node.
 */
export class Ranking {
  readonly #options: FeasibilityOptions;
  readonly #feasibility: Feasibility;
  readonly #salt: number;
  #asked: Asked;
  #isBuilt = false;
  #readsOthers = true;
  #kept: readonly KeptScoring[] = [];
  /** Those whose answers are not kept. */
  #others: readonly Scoring[] = [];
  /** All of them, in that order. */
  #scoring: readonly Scoring[] = [];
  #error: Status | undefined;
  /** Working room: raw scores of one node, in the order of `#scoring`. */
  readonly #before: number[] = [];

  /** Nothing is looked at yet. `salt`: equal ones order equal nodes alike. */
  constructor(options: FeasibilityOptions & { readonly salt: number }, asked: Asked) {
    this.#options = options;
    this.#salt = options.salt;
    this.#asked = asked;
    this.#feasibility = new Feasibility(options, asked);
  }

  /** On how many nodes the pod fits, before anybody is placed; undefined where they have to be looked at one by one. */
  countAtOnce(): number | undefined {
    const { nodes, room } = this.#options;
    room.order.begin(nodes, this.#salt);
    return this.#feasibility.countAtOnce(this.#asked);
  }

  /** How the nodes that the pod fits on are counted, before anybody is placed. Nothing is listed or scored. */
  counting(generation: number): Feasibility {
    this.#feasibility.beginToCount(generation);
    return this.#feasibility;
  }

  /** Looks at the nodes as they are now, for `diagnose`; a ranking that was built before is none any more. */
  look(): void {
    this.#isBuilt = false;
    this.#findFeasible();
  }

  /** How many nodes are left to choose from, once it is built. */
  get size(): number {
    return this.#options.room.order.size;
  }

  /** A plugin failed; nothing may be placed by this ranking. */
  get error(): Status | undefined {
    return this.#error ?? this.#feasibility.error;
  }

  /** The node to take; undefined when none fits. */
  best(): NodeInfo | undefined {
    return this.error !== undefined ? undefined : this.#options.nodes[this.#options.room.order.best()];
  }

  /** Some node was refused in a way that may change when other pods are placed. */
  get dependsOnOthers(): boolean {
    return this.#feasibility.dependsOnOthers;
  }

  /** What has been placed where may be why a node is refused: a plugin reads other nodes, or Reserve has its own account. */
  get dependsOnPlacements(): boolean {
    return this.#readsOthers || this.#feasibility.isRefusedByReserve;
  }

  /** A plugin that did not skip the pod reads other nodes, so the ranking is out of date after every placement. */
  get readsOthers(): boolean {
    return this.#readsOthers;
  }

  /** As `Feasibility.isRefusedForGood`, of what was found last. */
  get isRefusedForGood(): boolean {
    return this.#error === undefined && this.#feasibility.isRefusedForGood;
  }

  /** Whether these are the nodes that PreFilter left to choose from; undefined: all. */
  isAmong(nodeNames: ReadonlySet<string> | undefined): boolean {
    return sameNames(nodeNames, this.#asked.nodeNames);
  }

  /**
   * Whether the ranking, up to date for one pod, is right for another too that is alike to the node-local plugins. `state`
   * and `nodeNames` are what PreFilter says of that one.
   */
  serves({ pod, state, nodeNames }: Asked): boolean {
    if (!this.#isBuilt || !this.isAmong(nodeNames)) return false;
    if (pod === this.#asked.pod) return true;
    if (this.#readsOthers) return false;
    const { profile } = this.#options;
    const failure = profile.preScoreOthers(state, pod, () => this.#feasible());
    return failure === undefined && !profile.readsOthers(state, pod);
  }

  /** Takes the best node out for good, because Reserve refused it. An Error ends the ranking until it is built again. */
  refuseBest(status: Status): void {
    if (status.code === 'Error') {
      this.#error ??= status;
      return;
    }
    const { nodes, room } = this.#options;
    this.#feasibility.refuse(nodes[room.order.best()]!, status);
    room.order.removeBest();
  }

  /**
   * An identical pod was just assumed on the best node: looks at that node again. Does nothing where plugins read other
   * nodes: `build` for the next pod has to follow.
   */
  placedOnBest(): void {
    if (this.#readsOthers) return;
    const { order } = this.#options.room;
    const index = order.best();
    const node = this.#options.nodes[index]!;
    const all = this.#scoring;
    const before = this.#before;
    for (let i = 0; i < all.length; i++) before[i] = all[i]!.raw[index]!;
    const isFeasible = this.#feasibility.stillFits(node);
    if (isFeasible) this.#scoreNode(node);
    for (let i = 0; i < all.length; i++) {
      const { normal, raw } = all[i]!;
      const now = isFeasible ? raw[index]! : undefined;
      const stands = normal === undefined || replaceInExtremes(normal.extremes, before[i]!, now);
      if (!stands) return this.build(this.#asked);
    }
    if (!isFeasible) return order.removeBest();
    let total = this.#extraOf(index);
    let count = 0;
    for (const { table, scoring } of this.#kept) {
      let sum = 0;
      for (let i = 0; i < scoring.length; i++) sum += this.#weighted(scoring[i]!, index, before[count++]!);
      table.totals.column[index] = sum;
      total += sum;
    }
    for (const scoring of this.#others) total += this.#weighted(scoring, index, before[count++]!);
    order.totals[index] = total;
    order.bestChanged();
  }

  /** What the scorer adds to this node's total. `before`: its raw score when all were normalised. */
  #weighted({ scorer, raw, normal }: Scoring, index: number, before: number): number {
    const now = raw[index]!;
    if (normal === undefined) return scorer.weight * now;
    if (normal.isLeftOut) return 0;
    const { scores, extremes } = normal;
    if (scores === undefined) {
      if (normal.latestRaw !== now) {
        normal.latest = this.#normalisedAlone(scorer, now, extremes);
        normal.latestRaw = now;
      }
      return scorer.weight * normal.latest;
    }
    if (now !== before) scores[index] = this.#normalisedAlone(scorer, now, extremes);
    return scorer.weight * scores[index]!;
  }

  /** Looks at the nodes as they are, for this pod: the one that the ranking is for, or another that is alike to the node-local plugins. */
  build(asked: Asked): void {
    this.#asked = asked;
    this.#isBuilt = true;
    this.#readsOthers = true;
    const { profile } = this.#options;
    const size = this.#findFeasible();
    if (this.error !== undefined) return;
    if (size === 0) {
      this.#readsOthers = profile.filtersByOthers(asked.state, asked.pod);
      return;
    }
    this.#error = profile.preScore(asked.state, asked.pod, () => this.#feasible());
    if (this.#error !== undefined) return;
    this.#readsOthers = profile.readsOthers(asked.state, asked.pod);
    const begun = profile.begin();
    this.#score();
    profile.ran('Score', this.#error !== undefined ? 'Error' : 'Success', begun);
  }

  /** Why `pod`, one of those that are alike, finds no node (any more). */
  diagnose(pod: Pod): Diagnosis {
    if (!this.#options.room.isOf(this.#feasibility)) this.build(this.#asked);
    const diagnosis = this.#feasibility.diagnose(pod);
    if (this.#error === undefined) return diagnosis;
    const plugins = new Set([...diagnosis.plugins, this.#error.plugin].filter((name) => name !== ''));
    return { ...diagnosis, refusal: { kind: 'pod', status: this.#error }, plugins };
  }

  #findFeasible(): number {
    const { profile, nodes, room } = this.#options;
    this.#error = undefined;
    this.#kept = [];
    this.#others = [];
    this.#scoring = [];
    room.order.begin(nodes, this.#salt);
    const begun = profile.begin();
    const size = this.#feasibility.find(this.#asked);
    profile.ran('Filter', this.error !== undefined ? 'Error' : size === 0 ? 'Unschedulable' : 'Success', begun);
    return size;
  }

  #feasible(): readonly NodeInfo[] {
    const { nodes, room } = this.#options;
    const { indexes, size } = room.order;
    const feasible: NodeInfo[] = [];
    for (let i = 0; i < size; i++) feasible.push(nodes[indexes[i]!]!);
    return feasible;
  }

  #score(): void {
    const { profile, room, narrowing } = this.#options;
    const { skippedScores } = this.#asked.state;
    const { indexes, totals, size } = room.order;
    const isAsked = (position: number): boolean => !skippedScores.has(profile.scorers[position]!.plugin.name);
    /** Whether there is anything in the totals. */
    let isBegun = narrowing !== undefined;
    if (isBegun) for (let i = 0; i < size; i++) totals[indexes[i]!] = this.#extraOf(indexes[i]!);
    const kept: KeptScoring[] = [];
    for (const { share, table } of this.#feasibility.kept) {
      const asked = share.scorers.filter(isAsked);
      for (const position of share.scorers) table.useScorer(position, asked.includes(position));
      if (asked.length === 0) continue;
      if (!this.#bringUpToDate(table, asked)) return;
      const scoring = asked.map((position) => this.#keptScoring(table, position));
      if (this.#error !== undefined || !this.#addKept(table, scoring, isBegun)) return;
      isBegun = true;
      kept.push({ table, scoring });
    }
    if (!isBegun) fillAt(totals, indexes, size, 0);
    const others: Scoring[] = [];
    for (const [position, scorer] of profile.scorers.entries()) {
      if (!isAsked(position) || this.#feasibility.kept.some(({ share }) => share.scorers.includes(position))) continue;
      const raw = room.raw(position);
      if (!this.#scoreInto(raw, position, indexes, size)) return;
      let normal: Normal | undefined;
      if (scorer.plugin.normalizeScore !== undefined) normal = this.#normalise(scorer, position, raw);
      else if (this.#areScores(sumAt(indexes, size, raw), indexes.subarray(0, size), raw, scorer))
        addWeighted(totals, indexes, size, raw, scorer.weight);
      if (this.#error !== undefined) return;
      others.push({ scorer, position, raw, normal });
    }
    this.#kept = kept;
    this.#others = others;
    this.#scoring = [...kept.flatMap(({ scoring }) => scoring), ...others];
  }

  /** Asks for the raw scores that are out of date. Answers whether all went well. */
  #bringUpToDate(table: NodeTable, asked: readonly number[]): boolean {
    const { nodes, room, hasClaims } = this.#options;
    const { indexes, size } = room.order;
    const { outdated } = room;
    const generations = this.#options.generations();
    const count = listOutdated(outdated, indexes, size, table.scored, generations);
    if (count === 0) return true;
    table.forgetScored(outdated, count);
    for (const position of asked) {
      const raw = table.scores[position]!;
      if (!this.#scoreInto(raw, position, outdated, count)) return false;
      const scorer = this.#options.profile.scorers[position]!;
      if (!this.#areScores(sumAt(outdated, count, raw), outdated.subarray(0, count), raw, scorer)) return false;
    }
    if (hasClaims()) for (let i = 0; i < count; i++) table.markScored(nodes[outdated[i]!]!);
    else copyAt(table.scored, outdated, count, generations);
    return true;
  }

  #keptScoring(table: NodeTable, position: number): Scoring {
    const scorer = this.#options.profile.scorers[position]!;
    const raw = table.scores[position]!;
    if (scorer.plugin.normalizeScore === undefined) return { scorer, position, raw, normal: undefined };
    const { indexes, size } = this.#options.room.order;
    const extremes = extremesAt(indexes, size, raw);
    const isLeftOut = extremes.least === extremes.greatest;
    if (isLeftOut) this.#normalisedAlone(scorer, extremes.least, extremes); // it may fail
    return { scorer, position, raw, normal: normalOf(extremes, isLeftOut) };
  }

  /** Brings the table's totals up to date, and adds them to those that there are. Answers whether all went well. */
  #addKept({ totals: kept }: NodeTable, scoring: readonly Scoring[], isBegun: boolean): boolean {
    const { room } = this.#options;
    const { indexes, totals, size } = room.order;
    const unknown = room.outdated;
    kept.measureBy(scoring.map(({ position, normal }) => ({ position, extremes: normal?.extremes })));
    const count = isBegun
      ? listUnknown(unknown, indexes, size, kept.column)
      : copyKnownAt(totals, indexes, size, kept.column, unknown);
    if (count > 0) this.#sumUp(kept.column, scoring, unknown, count);
    if (this.#error !== undefined) {
      kept.clear();
      return false;
    }
    if (isBegun) addWeighted(totals, indexes, size, kept.column, 1);
    else copyAt(totals, unknown, count, kept.column);
    return true;
  }

  /** What these scorers come to on some of the nodes. */
  #sumUp(sums: Float64Array, scoring: readonly Scoring[], indexes: Int32Array, count: number): void {
    fillAt(sums, indexes, count, 0);
    for (const { scorer, raw, normal } of scoring) {
      if (normal === undefined) {
        addWeighted(sums, indexes, count, raw, scorer.weight);
      } else if (!normal.isLeftOut) {
        // What stands for all others is normalised with them.
        const column = this.#options.room.column.subarray(0, count + 2);
        gather(column, indexes, count, raw);
        column[count] = normal.extremes.least;
        column[count + 1] = normal.extremes.greatest;
        this.#askToNormalise(scorer, column);
        this.#areNormalised(addWeightedGathered(sums, indexes, count, column, scorer.weight), column, scorer);
      }
    }
  }

  /** Scores of one scorer, of the first `size` nodes of `indexes`. Answers whether all went well. */
  #scoreInto(raw: Float64Array, position: number, indexes: Int32Array, size: number): boolean {
    const { nodes, profile } = this.#options;
    const scorer = profile.scorers[position]!;
    if (scorer.plugin.scoreAll !== undefined) {
      this.#scoreAll(scorer, raw, indexes, size);
      return this.#error === undefined;
    }
    for (let i = 0; i < size; i++) {
      const score = this.#scoreOf(position, nodes[indexes[i]!]!);
      if (score === undefined) return false;
      raw[indexes[i]!] = score;
    }
    return true;
  }

  #scoreAll(scorer: ScorePlugin, raw: Float64Array, indexes: Int32Array, size: number): void {
    const { profile } = this.#options;
    const { state, pod } = this.#asked;
    try {
      profile.scoreAll(scorer, state, pod, indexes, size, raw);
    } catch (error) {
      this.#error ??= failureOf(scorer.plugin, 'Score', error);
    }
  }

  /** After a placement there. */
  #scoreNode(node: NodeInfo): void {
    for (const { table } of this.#kept) table.forgetScore(node.index);
    for (const { position, raw } of this.#scoring) raw[node.index] = this.#scoreOf(position, node) ?? 0;
    if (this.#error === undefined) for (const { table } of this.#kept) table.markScored(node);
  }

  #scoreOf(position: number, node: NodeInfo): number | undefined {
    const { profile } = this.#options;
    const scorer = profile.scorers[position]!;
    try {
      return finite(profile.score(scorer, this.#asked.state, this.#asked.pod, node));
    } catch (error) {
      this.#error ??= failureOf(scorer.plugin, 'Score', error);
      return undefined;
    }
  }

  /** Adds what the scorer makes of the raw scores of all nodes to the totals. Undefined: more is not asked for. */
  #normalise(scorer: ScorePlugin, position: number, raw: Float64Array): Normal | undefined {
    const { room } = this.#options;
    const { indexes, totals, size } = room.order;
    const readsOtherNodes = scorer.plugin.readsOtherNodes === true;
    const isOnce = readsOtherNodes && this.#readsOthers;
    const extremes = isOnce ? undefined : extremesAt(indexes, size, raw);
    if (extremes !== undefined && extremes.least === extremes.greatest && !readsOtherNodes) {
      this.#normalisedAlone(scorer, extremes.least, extremes); // it may fail
      return normalOf(extremes, true);
    }
    const column = room.column.subarray(0, size);
    if (!this.#areScores(gather(column, indexes, size, raw), indexes.subarray(0, size), raw, scorer)) return undefined;
    this.#askToNormalise(scorer, column);
    this.#areNormalised(addWeightedGathered(totals, indexes, size, column, scorer.weight), column, scorer);
    if (extremes === undefined) return undefined;
    const scores = room.normalised(position);
    scatter(scores, indexes, size, column);
    return normalOf(extremes, false, scores);
  }

  /** One raw score, normalised together with the extremes that stand for all others. */
  #normalisedAlone(scorer: ScorePlugin, raw: number, { least, greatest }: Extremes): number {
    const sample = Float64Array.of(raw, least, greatest);
    this.#askToNormalise(scorer, sample);
    this.#areNormalised(sample[0]! + sample[1]! + sample[2]!, sample, scorer);
    return sample[0]!;
  }

  #askToNormalise({ plugin }: ScorePlugin, scores: Float64Array): void {
    try {
      const answer: unknown = plugin.normalizeScore!(this.#asked.state, this.#asked.pod, scores);
      if (answer instanceof Promise) throw notInTime(answer);
    } catch (error) {
      this.#error ??= failureOf(plugin, 'NormalizeScore', error);
    }
  }

  /** Whether the scores are numbers, by their sum: one that is none leaves none, but nor do some that are beyond measure together. */
  #areScores(sum: number, indexes: Int32Array, raw: Float64Array, { plugin }: ScorePlugin): boolean {
    if (Number.isFinite(sum) || areFiniteAt(indexes, raw)) return true;
    this.#error ??= failureOf(plugin, 'Score', new RangeError('a score must be a finite number'));
    return false;
  }

  #areNormalised(sum: number, scores: Float64Array, { plugin }: ScorePlugin): boolean {
    if (Number.isFinite(sum) || scores.every(Number.isFinite)) return true;
    this.#error ??= failureOf(plugin, 'NormalizeScore', new RangeError('it must leave finite numbers'));
    return false;
  }

  /** What the extenders' scores add. */
  #extraOf(index: number): number {
    const { narrowing, nodes } = this.#options;
    return narrowing?.allowed.get(nodes[index]!.name) ?? 0;
  }
}

function normalOf(extremes: Extremes, isLeftOut: boolean, scores?: Float64Array): Normal {
  return { extremes, isLeftOut, scores, latestRaw: NaN, latest: NaN };
}

/** Whether two choices of nodes are the same; undefined: all. */
export function sameNames(a: ReadonlySet<string> | undefined, b: ReadonlySet<string> | undefined): boolean {
  if (a === b) return true;
  if (a?.size !== b?.size) return false;
  for (const name of a!) if (!b!.has(name)) return false;
  return true;
}

/** Whatever it will do to the scores comes too late. */
function notInTime(answer: Promise<unknown>): TypeError {
  dropPromise(answer);
  return new TypeError('it must change the scores before it returns, not answer a Promise');
}

function finite(score: number): number {
  if (Number.isFinite(score)) return score;
  dropPromise(score);
  throw new RangeError(`a score must be a finite number, not ${describe(score)}`);
}
