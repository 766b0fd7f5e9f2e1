import type { Pod } from '../api/pod.ts';
import type { NodeView } from '../cluster/node-info.ts';
import type { CycleState } from './cycle-state.ts';
import type { MadePlugins } from './make-plugins.ts';
import { readRejectionOrSkip } from './plugin-answers.ts';
import type { PluginCalls } from './plugin-calls.ts';
import { countersOf } from './plugin-meter.ts';
import type { CallCount } from './plugin-meter.ts';
import type { Plugin } from './plugin.ts';
import type { Status } from './status.ts';

export interface ScorePlugin {
  readonly plugin: Plugin;
  readonly weight: number;
  /** Number of calls. */
  calls: number;
}

/** Runs PreScore and Score. */
export class ScorePoints {
  readonly #preScorers: readonly Plugin[];
  /** PreScore plugins that read other nodes. */
  readonly #otherPreScorers: readonly Plugin[];
  readonly #calls: PluginCalls;
  /** plugin -> its number of PreScore calls */
  readonly #counts: ReadonlyMap<Plugin, CallCount>;

  constructor(at: MadePlugins['at'], calls: PluginCalls) {
    this.#preScorers = at.preScore;
    this.#otherPreScorers = at.preScore.filter((plugin) => plugin.readsOtherNodes === true);
    this.#calls = calls;
    this.#counts = countersOf(at.preScore, 'PreScore');
  }

  counts(): Iterable<CallCount> {
    return this.#counts.values();
  }

  /** Runs Score for one node. Throws what the plugin throws; the caller must validate the result. */
  score(scorer: ScorePlugin, state: CycleState, pod: Pod, node: NodeView): number {
    const { plugin } = scorer;
    scorer.calls++;
    if (!this.#calls.picksNodeCall()) return plugin.score!(state, pod, node);
    const startedAt = this.#calls.begin();
    const score = plugin.score!(state, pod, node);
    this.#calls.called(plugin, 'Score', 'Success', startedAt);
    return score;
  }

  /** Runs `scoreAll` of a plugin that implements it. Throws what the plugin throws. */
  scoreAll(
    scorer: ScorePlugin,
    state: CycleState,
    pod: Pod,
    indexes: Int32Array,
    size: number,
    scores: Float64Array,
  ): void {
    scorer.calls += size;
    scorer.plugin.scoreAll!(state, pod, indexes, size, scores);
  }

  /** As in PluginCalls. */
  failure(plugin: Plugin, point: string, error: unknown): Status {
    return this.#calls.failure(plugin, point, error);
  }

  preScore(state: CycleState, pod: Pod, feasible: () => readonly NodeView[]): Status | undefined {
    state.skipNoScores();
    return this.#preScore(this.#preScorers, state, pod, feasible);
  }

  /** Runs PreScore only for plugins that read other nodes, to find out which of them skip the pod. */
  preScoreOthers(state: CycleState, pod: Pod, feasible: () => readonly NodeView[]): Status | undefined {
    return this.#preScore(this.#otherPreScorers, state, pod, feasible);
  }

  #preScore(
    plugins: readonly Plugin[],
    state: CycleState,
    pod: Pod,
    feasible: () => readonly NodeView[],
  ): Status | undefined {
    if (plugins.length === 0) return undefined;
    const startedAt = this.#calls.begin();
    for (const plugin of plugins) {
      const status = this.#calls.call(plugin, 'PreScore', () =>
        readRejectionOrSkip(plugin.preScore!(state, pod, feasible)),
      );
      if (status?.code !== 'Skip') this.#counts.get(plugin)!.calls++;
      if (status === undefined) continue;
      if (status.code !== 'Skip') {
        this.#calls.ran('PreScore', status.code, startedAt);
        return status.from(plugin.name);
      }
      state.skipScore(plugin.name);
    }
    this.#calls.ran('PreScore', 'Success', startedAt);
    return undefined;
  }
}
