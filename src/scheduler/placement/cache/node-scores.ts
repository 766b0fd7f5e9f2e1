import type { NodeInfo } from '../../../cluster/node-info.ts';
import type { ScorePlugin } from '../../../framework/score-points.ts';
import type { Status } from '../../../framework/status.ts';
import type { Asked, FeasibilityOptions } from './asked.ts';
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
  /** Where it normalizes. */
  readonly normal: Normal | undefined;
}

interface Normal {
  /** Of the raw scores. */
  readonly extremes: Extremes;
  /** All nodes have the same score, which decides nothing and is left out of the totals. */
  readonly isLeftOut: boolean;
  /** node index -> normalized score, where they are at hand */
  readonly scores: Float64Array | undefined;
  /** Where they are not: the raw score that was normalized last for a single node, and the result. */
  latestRaw: number;
  latest: number;
}

/** Scorers whose raw scores and totals are kept in one table. */
interface CachedScoring {
  readonly table: NodeTable;
  readonly scoring: readonly Scoring[];
}

/**
 * Scores the feasible nodes that the room's order lists, into its totals. Scorers are asked only about nodes that changed since a pod
 * with the same signature was scored.
 */
export class NodeScores {
  readonly #options: FeasibilityOptions;
  readonly #feasibility: Feasibility;
  readonly #calls: ScoreCalls;
  #asked: Asked;
  #kept: readonly CachedScoring[] = [];
  /** Those whose answers are not kept. */
  #others: readonly Scoring[] = [];
  /** All of them, in that order. */
  #scoring: readonly Scoring[] = [];
  /** Scratch buffer: raw scores of one node, in the order of `#scoring`. */
  readonly #before: number[] = [];

  constructor(options: FeasibilityOptions, feasibility: Feasibility, asked: Asked) {
    this.#options = options;
    this.#feasibility = feasibility;
    this.#asked = asked;
    this.#calls = new ScoreCalls(options.profile.scoring, options.nodes, asked);
  }

  /** A scorer failed: the totals mean nothing. */
  get error(): Status | undefined {
    return this.#calls.error;
  }

  /** Nothing is scored. */
  begin(asked: Asked): void {
    this.#asked = asked;
    this.#calls.begin(asked);
    this.#kept = [];
    this.#others = [];
    this.#scoring = [];
  }

  /** Scores the listed nodes. `readsOthers`: a plugin that did not skip the pod reads other nodes. */
  score(readsOthers: boolean): void {
    const { profile, buffers, nodeSubset } = this.#options;
    const { skippedScores } = this.#asked.state;
    const { indexes, totals, size } = buffers.order;
    const isAsked = (position: number): boolean => !skippedScores.has(profile.scorers[position]!.plugin.name);
    /** Whether there is anything in the totals. */
    let isBegun = nodeSubset !== undefined;
    if (isBegun) for (let i = 0; i < size; i++) totals[indexes[i]!] = this.#extraOf(indexes[i]!);
    const kept: CachedScoring[] = [];
    for (const { share, table } of this.#feasibility.kept) {
      const asked = share.scorers.filter(isAsked);
      for (const position of share.scorers) table.useScorer(position, asked.includes(position));
      if (asked.length === 0) continue;
      if (!this.#bringUpToDate(table, asked)) return;
      const scoring = asked.map((position) => this.#keptScoring(table, position));
      if (this.error !== undefined || !this.#addKept(table, scoring, isBegun)) return;
      isBegun = true;
      kept.push({ table, scoring });
    }
    if (!isBegun) fillAt(totals, indexes, size, 0);
    const others: Scoring[] = [];
    for (const [position, scorer] of profile.scorers.entries()) {
      if (!isAsked(position) || this.#feasibility.kept.some(({ share }) => share.scorers.includes(position))) continue;
      const raw = buffers.raw(position);
      if (!this.#calls.score(scorer, raw, indexes, size)) return;
      let normal: Normal | undefined;
      if (scorer.plugin.normalizeScore !== undefined) normal = this.#normalize(scorer, position, raw, readsOthers);
      else if (this.#calls.areScores(sumAt(indexes, size, raw), indexes.subarray(0, size), raw, scorer))
        addWeighted(totals, indexes, size, raw, scorer.weight);
      if (this.error !== undefined) return;
      others.push({ scorer, position, raw, normal });
    }
    this.#kept = kept;
    this.#others = others;
    this.#scoring = [...kept.flatMap(({ scoring }) => scoring), ...others];
  }

  /**
   * The node, one that was scored, has changed: brings its total up to date. Returns false where the totals of all others are
   * out of date too, because a score was measured against what this node had.
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
    for (const { table, scoring } of this.#kept) {
      let sum = 0;
      for (let i = 0; i < scoring.length; i++) sum += this.#weighted(scoring[i]!, index, before[count++]!);
      table.totals.column[index] = sum;
      total += sum;
    }
    for (const scoring of this.#others) total += this.#weighted(scoring, index, before[count++]!);
    this.#options.buffers.order.totals[index] = total;
    return true;
  }

  /** What the scorer adds to this node's total. `before`: its raw score when all were normalized. */
  #weighted({ scorer, raw, normal }: Scoring, index: number, before: number): number {
    const now = raw[index]!;
    if (normal === undefined) return scorer.weight * now;
    if (normal.isLeftOut) return 0;
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
    for (const { table } of this.#kept) table.forgetScore(node.index);
    for (const { scorer, raw } of this.#scoring) raw[node.index] = this.#calls.scoreOf(scorer, node) ?? 0;
    if (this.error === undefined) for (const { table } of this.#kept) table.markScored(node);
  }

  /** Asks for the raw scores that are out of date. Returns whether all went well. */
  #bringUpToDate(table: NodeTable, asked: readonly number[]): boolean {
    const { profile, nodes, buffers, hasReservations } = this.#options;
    const { indexes, size } = buffers.order;
    const { outdated } = buffers;
    const generations = this.#options.generations();
    const count = listOutdated(outdated, indexes, size, table.scored, generations);
    if (count === 0) return true;
    table.forgetScored(outdated, count);
    for (const position of asked) {
      const raw = table.scores[position]!;
      const scorer = profile.scorers[position]!;
      if (!this.#calls.score(scorer, raw, outdated, count)) return false;
      if (!this.#calls.areScores(sumAt(outdated, count, raw), outdated.subarray(0, count), raw, scorer)) return false;
    }
    if (hasReservations()) for (let i = 0; i < count; i++) table.markScored(nodes[outdated[i]!]!);
    else copyAt(table.scored, outdated, count, generations);
    return true;
  }

  #keptScoring(table: NodeTable, position: number): Scoring {
    const scorer = this.#options.profile.scorers[position]!;
    const raw = table.scores[position]!;
    if (scorer.plugin.normalizeScore === undefined) return { scorer, position, raw, normal: undefined };
    const { indexes, size } = this.#options.buffers.order;
    const extremes = extremesAt(indexes, size, raw);
    const isLeftOut = extremes.least === extremes.greatest;
    if (isLeftOut) this.#calls.normalizeAlone(scorer, extremes.least, extremes); // it may fail
    return { scorer, position, raw, normal: normalOf(extremes, isLeftOut) };
  }

  /** Brings the table's totals up to date, and adds them to those that there are. Returns whether all went well. */
  #addKept({ totals: kept }: NodeTable, scoring: readonly Scoring[], isBegun: boolean): boolean {
    const { buffers } = this.#options;
    const { indexes, totals, size } = buffers.order;
    const unknown = buffers.outdated;
    kept.measureBy(scoring.map(({ position, normal }) => ({ position, extremes: normal?.extremes })));
    const count = isBegun
      ? listUnknown(unknown, indexes, size, kept.column)
      : copyKnownAt(totals, indexes, size, kept.column, unknown);
    if (count > 0) this.#sumUp(kept.column, scoring, unknown, count);
    if (this.error !== undefined) {
      kept.clear();
      return false;
    }
    if (isBegun) addWeighted(totals, indexes, size, kept.column, 1);
    else copyAt(totals, unknown, count, kept.column);
    return true;
  }

  /** The weighted sum of these scorers' scores, on some of the nodes. */
  #sumUp(sums: Float64Array, scoring: readonly Scoring[], indexes: Int32Array, count: number): void {
    fillAt(sums, indexes, count, 0);
    for (const { scorer, raw, normal } of scoring) {
      if (normal === undefined) {
        addWeighted(sums, indexes, count, raw, scorer.weight);
      } else if (!normal.isLeftOut) {
        // The extremes, which stand for all other nodes, are normalized with them.
        const column = this.#options.buffers.column.subarray(0, count + 2);
        gather(column, indexes, count, raw);
        column[count] = normal.extremes.least;
        column[count + 1] = normal.extremes.greatest;
        this.#calls.normalize(scorer, column);
        this.#calls.areNormalized(addWeightedGathered(sums, indexes, count, column, scorer.weight), column, scorer);
      }
    }
  }

  /** Adds the normalized scores of all listed nodes to the totals. Returns undefined where no single node is normalized later. */
  #normalize(scorer: ScorePlugin, position: number, raw: Float64Array, readsOthers: boolean): Normal | undefined {
    const { buffers } = this.#options;
    const { indexes, totals, size } = buffers.order;
    const readsOtherNodes = scorer.plugin.readsOtherNodes === true;
    const isOnce = readsOtherNodes && readsOthers;
    const extremes = isOnce ? undefined : extremesAt(indexes, size, raw);
    if (extremes !== undefined && extremes.least === extremes.greatest && !readsOtherNodes) {
      this.#calls.normalizeAlone(scorer, extremes.least, extremes); // it may fail
      return normalOf(extremes, true);
    }
    const column = buffers.column.subarray(0, size);
    const sum = gather(column, indexes, size, raw);
    if (!this.#calls.areScores(sum, indexes.subarray(0, size), raw, scorer)) return undefined;
    this.#calls.normalize(scorer, column);
    this.#calls.areNormalized(addWeightedGathered(totals, indexes, size, column, scorer.weight), column, scorer);
    if (extremes === undefined) return undefined;
    const scores = buffers.normalised(position);
    scatter(scores, indexes, size, column);
    return normalOf(extremes, false, scores);
  }

  /** What the extenders' scores add. */
  #extraOf(index: number): number {
    const { nodeSubset, nodes } = this.#options;
    return nodeSubset?.allowed.get(nodes[index]!.name) ?? 0;
  }
}

function normalOf(extremes: Extremes, isLeftOut: boolean, scores?: Float64Array): Normal {
  return { extremes, isLeftOut, scores, latestRaw: NaN, latest: NaN };
}
