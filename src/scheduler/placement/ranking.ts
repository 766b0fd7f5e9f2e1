import type { Pod } from '../../api/pod.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { Diagnosis } from '../../framework/diagnosis.ts';
import { describe, dropPromise } from '../../framework/plugin-answers.ts';
import { failureOf } from '../../framework/plugin-failure.ts';
import type { ScorePlugin } from '../../framework/profile.ts';
import type { Status } from '../../framework/status.ts';
import { addWeighted, copyAt, fillAt, gather, listOutdated, scatter } from './columns.ts';
import { extremesOf, replaceInExtremes } from './extremes.ts';
import type { Extremes } from './extremes.ts';
import { Feasibility } from './feasibility.ts';
import type { Asked, FeasibilityOptions } from './feasibility.ts';

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
  /** Normalised scores by node index; undefined: all nodes have the same, which decides nothing and is left out of the totals. */
  readonly scores: Float64Array | undefined;
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

  /** How the nodes that the pod fits on are counted, before anybody is placed. Nothing is listed or scored. */
  counting(generation: number): Feasibility {
    this.#feasibility.beginToCount(this.#asked, generation);
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
    const scoring = this.#scoring;
    const before = this.#before;
    for (let i = 0; i < scoring.length; i++) before[i] = scoring[i]!.raw[index]!;
    const isFeasible = this.#feasibility.stillFits(node);
    if (isFeasible) this.#scoreNode(node);
    let total = this.#extraOf(index);
    for (let i = 0; i < scoring.length; i++) {
      const { scorer, normal, raw } = scoring[i]!;
      const now = isFeasible ? raw[index]! : undefined;
      if (normal !== undefined) {
        if (!replaceInExtremes(normal.extremes, before[i]!, now)) return this.build(this.#asked);
        // Of scores that are all the same none changes without a new extreme.
        if (normal.scores === undefined) continue;
        if (now !== undefined && now !== before[i])
          normal.scores[index] = this.#normalisedAlone(scorer, now, normal.extremes);
      }
      total += scorer.weight * (normal?.scores ?? raw)[index]!;
    }
    if (!isFeasible) return order.removeBest();
    order.totals[index] = total;
    order.bestChanged();
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
    const { profile, nodes, room, narrowing, hasClaims } = this.#options;
    const { state } = this.#asked;
    const { indexes, totals, size } = room.order;
    const generations = this.#options.generations();
    const raws: (Float64Array | undefined)[] = profile.scorers.map(() => undefined);
    for (const { share, table } of this.#feasibility.kept) {
      const asked = share.scorers.filter((scorer) => !state.skippedScores.has(profile.scorers[scorer]!.plugin.name));
      for (const scorer of share.scorers) table.useScorer(scorer, asked.includes(scorer));
      for (const scorer of asked) raws[scorer] = table.scores[scorer]!;
      if (asked.length === 0) continue;
      const { outdated } = room;
      const count = listOutdated(outdated, indexes, size, table.scored, generations);
      if (count === 0) continue;
      for (const scorer of asked) if (!this.#scoreInto(raws[scorer]!, scorer, outdated, count)) return;
      if (hasClaims()) for (let i = 0; i < count; i++) table.markScored(nodes[outdated[i]!]!);
      else copyAt(table.scored, outdated, count, generations);
    }
    fillAt(totals, indexes, size, 0);
    if (narrowing !== undefined) for (let i = 0; i < size; i++) totals[indexes[i]!] = this.#extraOf(indexes[i]!);
    const scoring: Scoring[] = [];
    for (const [position, scorer] of profile.scorers.entries()) {
      if (state.skippedScores.has(scorer.plugin.name)) continue;
      const raw = raws[position] ?? room.raw(position);
      if (raws[position] === undefined && !this.#scoreInto(raw, position, indexes, size)) return;
      const normal = scorer.plugin.normalizeScore === undefined ? undefined : this.#normalise(scorer, position, raw);
      const scores = normal === undefined ? raw : normal.scores;
      if (scores !== undefined) addWeighted(totals, indexes, size, scores, scorer.weight);
      scoring.push({ scorer, position, raw, normal });
    }
    this.#scoring = scoring;
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
      let sum = 0;
      for (let i = 0; i < size; i++) sum += raw[indexes[i]!]!;
      // One that is no number leaves none.
      if (!Number.isFinite(sum)) throw new RangeError('a score must be a finite number');
    } catch (error) {
      this.#error ??= failureOf(scorer.plugin, 'Score', error);
    }
  }

  /** After a placement there. */
  #scoreNode(node: NodeInfo): void {
    for (const { position, raw } of this.#scoring) raw[node.index] = this.#scoreOf(position, node) ?? 0;
    if (this.#error === undefined) for (const { table } of this.#feasibility.kept) table.markScored(node);
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

  #normalise(scorer: ScorePlugin, position: number, raw: Float64Array): Normal {
    const { room } = this.#options;
    const { indexes, size } = room.order;
    const column = room.column.subarray(0, size);
    gather(column, indexes, size, raw);
    const extremes = extremesOf(column);
    if (extremes.least === extremes.greatest && scorer.plugin.readsOtherNodes !== true) {
      this.#normalisedAlone(scorer, extremes.least, extremes); // it may fail
      return { extremes, scores: undefined };
    }
    this.#askToNormalise(scorer, column);
    const scores = room.normalised(position);
    scatter(scores, indexes, size, column);
    return { extremes, scores };
  }

  /** One raw score, normalised together with the extremes that stand for all others. */
  #normalisedAlone(scorer: ScorePlugin, raw: number, { least, greatest }: Extremes): number {
    const sample = Float64Array.of(raw, least, greatest);
    this.#askToNormalise(scorer, sample);
    return sample[0]!;
  }

  #askToNormalise({ plugin }: ScorePlugin, scores: Float64Array): void {
    try {
      const answer: unknown = plugin.normalizeScore!(this.#asked.state, this.#asked.pod, scores);
      if (answer instanceof Promise) throw notInTime(answer);
      let sum = 0;
      for (let i = 0; i < scores.length; i++) sum += scores[i]!;
      // One that is no number leaves none.
      if (!Number.isFinite(sum)) throw new RangeError('it must leave finite numbers');
    } catch (error) {
      this.#error ??= failureOf(plugin, 'NormalizeScore', error);
    }
  }

  /** What the extenders' scores add. */
  #extraOf(index: number): number {
    const { narrowing, nodes } = this.#options;
    return narrowing?.allowed.get(nodes[index]!.name) ?? 0;
  }
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
