import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { ScorePlugin } from '../../../framework/score-points.ts';
import type { Status } from '../../../framework/status.ts';
import type { PreFilteredPod, FeasibilityOptions } from './feasibility-options.ts';
import {
  addWeighted,
  addWeightedGathered,
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
import type { Feasibility } from './feasibility.ts';
import type { NodeTable } from './node-table.ts';
import { ScoreCalls } from './score-calls.ts';

/** A scorer that did not skip the pod. */
interface Scoring {
  readonly scorer: ScorePlugin;
  readonly position: number;
  /** node index -> raw score */
  readonly raw: Float64Array;
  /** Undefined: the scorer does not normalize. */
  readonly normal: Normal | undefined;
}

interface Normal {
  /** Extremes of the raw scores. */
  readonly extremes: Extremes;
  /** All nodes have the same score, so it cannot decide anything and the totals leave it out. */
  readonly isUniform: boolean;
  /** node index -> normalized score, if stored */
  readonly scores: Float64Array | undefined;
  /** If not stored: the raw score that was last normalized for a single node, and the result. */
  latestRaw: number;
  latest: number;
}

/** Scorers whose raw scores and totals one table caches. */
interface CachedScoring {
  readonly table: NodeTable;
  readonly scoring: readonly Scoring[];
}

/**
 * Scores the feasible nodes listed in `buffers.order` and writes their totals there. Calls scorers only for nodes that changed
 * since a pod with the same signature was scored.
 */
export class NodeScores {
  readonly #options: FeasibilityOptions;
  readonly #feasibility: Feasibility;
  readonly #calls: ScoreCalls;
  #target: PreFilteredPod;
  #cached: readonly CachedScoring[] = [];
  /** Scorers without cached results. */
  #others: readonly Scoring[] = [];
  /** All scorers: first `#cached`, then `#others`. */
  #scoring: readonly Scoring[] = [];
  /** Scratch buffer: raw scores of one node, in the order of `#scoring`. */
  readonly #before: number[] = [];

  constructor(options: FeasibilityOptions, feasibility: Feasibility, target: PreFilteredPod) {
    this.#options = options;
    this.#feasibility = feasibility;
    this.#target = target;
    this.#calls = new ScoreCalls(options.profile.scoring, options.nodes, target);
  }

  /** The first scorer failure; the totals are invalid then. */
  get error(): Status | undefined {
    return this.#calls.error;
  }

  /** Resets to a state without scores. */
  begin(target: PreFilteredPod): void {
    this.#target = target;
    this.#calls.begin(target);
    this.#cached = [];
    this.#others = [];
    this.#scoring = [];
  }

  /** Scores the listed nodes. `readsOthers`: a plugin that did not skip the pod reads other nodes. */
  score(readsOthers: boolean): void {
    const { profile, buffers, nodeSubset } = this.#options;
    const { skippedScores } = this.#target.state;
    const { indexes, totals, size } = buffers.order;
    const isActive = (position: number): boolean => !skippedScores.has(profile.scorers[position]!.plugin.name);
    /** The totals already contain a score. */
    let isBegun = nodeSubset !== undefined;
    if (isBegun) for (let i = 0; i < size; i++) totals[indexes[i]!] = this.#extraOf(indexes[i]!);
    const cached: CachedScoring[] = [];
    for (const { share, table } of this.#feasibility.cached) {
      const positions = share.scorers.filter(isActive);
      for (const position of share.scorers) table.useScorer(position, positions.includes(position));
      if (positions.length === 0) continue;
      if (!this.#bringUpToDate(table, positions)) return;
      const scoring = positions.map((position) => this.#scoringOf(table, position));
      if (this.error !== undefined || !this.#addCached(table, scoring, isBegun)) return;
      isBegun = true;
      cached.push({ table, scoring });
    }
    if (!isBegun) fillAt(totals, indexes, size, 0);
    const others: Scoring[] = [];
    for (const [position, scorer] of profile.scorers.entries()) {
      if (!isActive(position) || this.#feasibility.cached.some(({ share }) => share.scorers.includes(position)))
        continue;
      const raw = buffers.raw(position);
      if (!this.#calls.score(scorer, raw, indexes, size)) return;
      let normal: Normal | undefined;
      if (scorer.plugin.normalizeScore !== undefined) normal = this.#normalize(scorer, position, raw, readsOthers);
      else if (this.#calls.areScores(sumAt(indexes, size, raw), indexes.subarray(0, size), raw, scorer))
        addWeighted(totals, indexes, size, raw, scorer.weight);
      if (this.error !== undefined) return;
      others.push({ scorer, position, raw, normal });
    }
    this.#cached = cached;
    this.#others = others;
    this.#scoring = [...cached.flatMap(({ scoring }) => scoring), ...others];
  }

  /**
   * Updates the total of a scored node that changed. Returns false if the totals of all other nodes are outdated too, because
   * this node's score changed the lowest or highest raw score.
   */
  replace(node: NodeInfo, isFeasible: boolean): boolean {
    const { index } = node;
    const all = this.#scoring;
    const before = this.#before;
    for (let i = 0; i < all.length; i++) before[i] = all[i]!.raw[index]!;
    if (isFeasible) this.#scoreAgain(node);
    for (let i = 0; i < all.length; i++) {
      const { normal, raw } = all[i]!;
      const now = isFeasible ? raw[index]! : undefined;
      if (normal !== undefined && !replaceInExtremes(normal.extremes, before[i]!, now)) return false;
    }
    if (!isFeasible) return true;
    let total = this.#extraOf(index);
    let count = 0;
    for (const { table, scoring } of this.#cached) {
      let sum = 0;
      for (let i = 0; i < scoring.length; i++) sum += this.#weighted(scoring[i]!, index, before[count++]!);
      table.totals.column[index] = sum;
      total += sum;
    }
    for (const scoring of this.#others) total += this.#weighted(scoring, index, before[count++]!);
    this.#options.buffers.order.totals[index] = total;
    return true;
  }

  /** Returns what the scorer adds to this node's total. `before`: the node's raw score before this update. */
  #weighted({ scorer, raw, normal }: Scoring, index: number, before: number): number {
    const now = raw[index]!;
    if (normal === undefined) return scorer.weight * now;
    if (normal.isUniform) return 0;
    const { scores, extremes } = normal;
    if (scores === undefined) {
      if (normal.latestRaw !== now) {
        normal.latest = this.#calls.normalizeAlone(scorer, now, extremes);
        normal.latestRaw = now;
      }
      return scorer.weight * normal.latest;
    }
    if (now !== before) scores[index] = this.#calls.normalizeAlone(scorer, now, extremes);
    return scorer.weight * scores[index]!;
  }

  #scoreAgain(node: NodeInfo): void {
    for (const { table } of this.#cached) table.forgetScore(node.index);
    for (const { scorer, raw } of this.#scoring) raw[node.index] = this.#calls.scoreOf(scorer, node) ?? 0;
    if (this.error === undefined) for (const { table } of this.#cached) table.markScored(node);
  }

  /** Calls the scorers for nodes with outdated raw scores. Returns whether all calls succeeded. */
  #bringUpToDate(table: NodeTable, positions: readonly number[]): boolean {
    const { profile, buffers } = this.#options;
    const { indexes, size } = buffers.order;
    const { outdated } = buffers;
    const generations = this.#options.generations();
    const count = listOutdated(outdated, indexes, size, table.scored, generations);
    if (count === 0) return true;
    table.forgetScored(outdated, count);
    for (const position of positions) {
      const raw = table.scores[position]!;
      const scorer = profile.scorers[position]!;
      if (!this.#calls.score(scorer, raw, outdated, count)) return false;
      if (!this.#calls.areScores(sumAt(outdated, count, raw), outdated.subarray(0, count), raw, scorer)) return false;
    }
    copyAt(table.scored, outdated, count, generations);
    return true;
  }

  #scoringOf(table: NodeTable, position: number): Scoring {
    const scorer = this.#options.profile.scorers[position]!;
    const raw = table.scores[position]!;
    if (scorer.plugin.normalizeScore === undefined) return { scorer, position, raw, normal: undefined };
    const { indexes, size } = this.#options.buffers.order;
    const extremes = extremesAt(indexes, size, raw);
    const isUniform = extremes.lowest === extremes.highest;
    if (isUniform) this.#calls.normalizeAlone(scorer, extremes.lowest, extremes); // may fail
    return { scorer, position, raw, normal: normalOf(extremes, isUniform) };
  }

  /** Updates the table's totals, and adds them to the totals so far. Returns whether all calls succeeded. */
  #addCached({ totals: cached }: NodeTable, scoring: readonly Scoring[], isBegun: boolean): boolean {
    const { buffers } = this.#options;
    const { indexes, totals, size } = buffers.order;
    const unknown = buffers.outdated;
    cached.measureBy(scoring.map(({ position, normal }) => ({ position, extremes: normal?.extremes })));
    const count = isBegun
      ? listUnknown(unknown, indexes, size, cached.column)
      : copyKnownAt(totals, indexes, size, cached.column, unknown);
    if (count > 0) this.#sumUp(cached.column, scoring, unknown, count);
    if (this.error !== undefined) {
      cached.clear();
      return false;
    }
    if (isBegun) addWeighted(totals, indexes, size, cached.column, 1);
    else copyAt(totals, unknown, count, cached.column);
    return true;
  }

  /** Computes the weighted sum of these scorers' scores for some of the nodes. */
  #sumUp(sums: Float64Array, scoring: readonly Scoring[], indexes: Int32Array, count: number): void {
    fillAt(sums, indexes, count, 0);
    for (const { scorer, raw, normal } of scoring) {
      if (normal === undefined) {
        addWeighted(sums, indexes, count, raw, scorer.weight);
      } else if (!normal.isUniform) {
        // The extremes stand for all other nodes, so normalize them too.
        const column = this.#options.buffers.column.subarray(0, count + 2);
        gather(column, indexes, count, raw);
        column[count] = normal.extremes.lowest;
        column[count + 1] = normal.extremes.highest;
        this.#calls.normalize(scorer, column);
        this.#calls.areNormalized(addWeightedGathered(sums, indexes, count, column, scorer.weight), column, scorer);
      }
    }
  }

  /**
   * Adds the normalized scores of all listed nodes to the totals. Returns undefined if later updates never normalize a single
   * node.
   */
  #normalize(scorer: ScorePlugin, position: number, raw: Float64Array, readsOthers: boolean): Normal | undefined {
    const { buffers } = this.#options;
    const { indexes, totals, size } = buffers.order;
    const readsOtherNodes = scorer.plugin.readsOtherNodes === true;
    const isOnce = readsOtherNodes && readsOthers;
    const extremes = isOnce ? undefined : extremesAt(indexes, size, raw);
    if (extremes !== undefined && extremes.lowest === extremes.highest && !readsOtherNodes) {
      this.#calls.normalizeAlone(scorer, extremes.lowest, extremes); // may fail
      return normalOf(extremes, true);
    }
    const column = buffers.column.subarray(0, size);
    const sum = gather(column, indexes, size, raw);
    if (!this.#calls.areScores(sum, indexes.subarray(0, size), raw, scorer)) return undefined;
    this.#calls.normalize(scorer, column);
    this.#calls.areNormalized(addWeightedGathered(totals, indexes, size, column, scorer.weight), column, scorer);
    if (extremes === undefined) return undefined;
    const scores = buffers.normalized(position);
    scatter(scores, indexes, size, column);
    return normalOf(extremes, false, scores);
  }

  /** Returns what the extenders add to the node's total. */
  #extraOf(index: number): number {
    const { nodeSubset, nodes } = this.#options;
    return nodeSubset?.allowed.get(nodes[index]!.name) ?? 0;
  }
}

function normalOf(extremes: Extremes, isUniform: boolean, scores?: Float64Array): Normal {
  return { extremes, isUniform, scores, latestRaw: NaN, latest: NaN };
}
