import { seededRandom } from '../base/random.ts';
import type { Plugin } from './plugin.ts';
import type { Status, StatusCode } from './status.ts';

/** The points with duration metrics, by kube-scheduler's names. */
export type MeasuredPoint =
  | 'PreEnqueue'
  | 'PreFilter'
  | 'Filter'
  | 'PostFilter'
  | 'PreScore'
  | 'Score'
  | 'Reserve'
  | 'Unreserve'
  | 'Permit'
  | 'PreBind'
  | 'Bind'
  | 'PostBind';

/** Result of a run of a point or of a plugin call. */
export type Outcome = StatusCode | 'Success' | 'Wait';

/** The points that count plugin calls, as in kube-scheduler. */
export type CountedPoint = 'PreFilter' | 'Filter' | 'PreScore' | 'Score';

/** Receives durations of plugin work. Called often: must be cheap, and must not throw. */
export interface PluginMeter {
  /** Called after all plugins of a point have run for one pod (PreEnqueue and PostFilter: for one entity). */
  ran(point: MeasuredPoint, outcome: Outcome, ms: number): void;
  /** Called for a random sample of plugin calls. */
  called(plugin: string, point: MeasuredPoint, outcome: Outcome, ms: number): void;
}

/** Total number of calls of one plugin at one point. */
export interface CallCount {
  readonly plugin: string;
  readonly point: CountedPoint;
  calls: number;
}

/** Returns plugin -> its number of calls at the point. */
export function countersOf(plugins: readonly Plugin[], point: CountedPoint): ReadonlyMap<Plugin, CallCount> {
  return new Map(plugins.map((plugin) => [plugin, { plugin: plugin.name, point, calls: 0 }]));
}

export function outcomeOf(status: Status | undefined): Outcome {
  return status === undefined ? 'Success' : status.code;
}

/**
 * Picks one of `mean` calls on average. The choice is random, so that every call of a fixed sequence gets picked at times. Draws a random
 * number only when it picks a call.
 */
export class CallSampler {
  readonly #mean: number;
  readonly #random = seededRandom(1);
  #left: number;

  constructor(mean: number) {
    this.#mean = mean;
    this.#left = this.#gap();
  }

  picks(): boolean {
    if (--this.#left > 0) return false;
    this.#left = this.#gap();
    return true;
  }

  #gap(): number {
    return 1 + Math.floor(this.#random() * (2 * this.#mean - 1));
  }
}
