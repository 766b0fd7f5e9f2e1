import type { NodeInfo } from '../../../cluster/node-info.ts';
import { describe, dropPromise } from '../../../framework/plugin-answers.ts';
import type { ScorePlugin, ScorePoints } from '../../../framework/score-points.ts';
import type { Status } from '../../../framework/status.ts';
import { areFiniteAt } from './columns.ts';
import type { Extremes } from './extremes.ts';
import type { PreFilteredPod } from './feasibility-options.ts';

/** Calls Score and NormalizeScore for one pod. The first call that fails sets an `error` that names its plugin. */
export class ScoreCalls {
  readonly #points: ScorePoints;
  readonly #nodes: readonly NodeInfo[];
  #target: PreFilteredPod;
  #error: Status | undefined;

  constructor(points: ScorePoints, nodes: readonly NodeInfo[], target: PreFilteredPod) {
    this.#points = points;
    this.#nodes = nodes;
    this.#target = target;
  }

  get error(): Status | undefined {
    return this.#error;
  }

  begin(target: PreFilteredPod): void {
    this.#target = target;
    this.#error = undefined;
  }

  /**
   * Writes the raw scores of the first `size` nodes of `indexes` to `raw`, by node index. Returns whether all calls succeeded.
   */
  score(scorer: ScorePlugin, raw: Float64Array, indexes: Int32Array, size: number): boolean {
    if (scorer.plugin.scoreAll !== undefined) {
      const { state, pod } = this.#target;
      try {
        this.#points.scoreAll(scorer, state, pod, indexes, size, raw);
      } catch (error) {
        this.#error ??= this.#points.failure(scorer.plugin, 'Score', error);
      }
      return this.#error === undefined;
    }
    for (let i = 0; i < size; i++) {
      const score = this.scoreOf(scorer, this.#nodes[indexes[i]!]!);
      if (score === undefined) return false;
      raw[indexes[i]!] = score;
    }
    return true;
  }

  scoreOf(scorer: ScorePlugin, node: NodeInfo): number | undefined {
    try {
      return finite(this.#points.score(scorer, this.#target.state, this.#target.pod, node));
    } catch (error) {
      this.#error ??= this.#points.failure(scorer.plugin, 'Score', error);
      return undefined;
    }
  }

  /**
   * Checks scores by their sum first. Any score that is not finite spoils the sum, but huge finite scores may spoil it too.
   */
  areScores(sum: number, indexes: Int32Array, raw: Float64Array, { plugin }: ScorePlugin): boolean {
    if (Number.isFinite(sum) || areFiniteAt(indexes, raw)) return true;
    this.#error ??= this.#points.failure(plugin, 'Score', new RangeError('a score must be a finite number'));
    return false;
  }

  /** Normalizes in place. The caller must call `areNormalized` next. */
  normalize({ plugin }: ScorePlugin, scores: Float64Array): void {
    try {
      const answer: unknown = plugin.normalizeScore!(this.#target.state, this.#target.pod, scores);
      if (answer instanceof Promise) throw notInTime(answer);
    } catch (error) {
      this.#error ??= this.#points.failure(plugin, 'NormalizeScore', error);
    }
  }

  areNormalized(sum: number, scores: Float64Array, { plugin }: ScorePlugin): void {
    if (Number.isFinite(sum) || scores.every(Number.isFinite)) return;
    this.#error ??= this.#points.failure(plugin, 'NormalizeScore', new RangeError('scores must be finite numbers'));
  }

  /** Normalizes one raw score together with the extremes, which stand for all other scores. */
  normalizeAlone(scorer: ScorePlugin, raw: number, { lowest, highest }: Extremes): number {
    const sample = Float64Array.of(raw, lowest, highest);
    this.normalize(scorer, sample);
    this.areNormalized(sample[0]! + sample[1]! + sample[2]!, sample, scorer);
    return sample[0]!;
  }
}

/** Returns the error for a Promise: a change to the scores after the call has returned comes too late. */
function notInTime(answer: Promise<unknown>): TypeError {
  dropPromise(answer);
  return new TypeError('it must change the scores before it returns, not return a Promise');
}

function finite(score: number): number {
  if (Number.isFinite(score)) return score;
  dropPromise(score);
  throw new RangeError(`a score must be a finite number, not ${describe(score)}`);
}
