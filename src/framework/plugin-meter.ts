import { seededRandom } from '../base/random.ts';
import type { Plugin } from './plugin.ts';
import type { Status, StatusCode } from './status.ts';

/** The points whose work is measured, by kube-scheduler's names. */
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

/** How a run or a call ended. */
export type Outcome = StatusCode | 'Success' | 'Wait';

/** The points at which calls are counted, as kube-scheduler does. */
export type CountedPoint = 'PreFilter' | 'Filter' | 'PreScore' | 'Score';

/** What a profile tells of the work of its plugins. Called often: must be cheap, and must not throw. */
export interface PluginMeter {
  /** All plugins of a point have run, for one pod (PreEnqueue and PostFilter: one entity). */
  ran(point: MeasuredPoint, outcome: Outcome, ms: number): void;
  /** One call of a plugin, picked by chance. */
  called(plugin: string, point: MeasuredPoint, outcome: Outcome, ms: number): void;
}

/** Calls of one plugin at one point, ever. */
export interface CallCount {
  readonly plugin: string;
  readonly point: CountedPoint;
  calls: number;
}

/** plugin -> its calls at the point */
export function countersOf(plugins: readonly Plugin[], point: CountedPoint): ReadonlyMap<Plugin, CallCount> {
  return new Map(plugins.map((plugin) => [plugin, { plugin: plugin.name, point, calls: 0 }]));
}

export function outcomeOf(status: Status | undefined): Outcome {
  return status === undefined ? 'Success' : status.code;
}

/**
 * Picks one call in so many, by chance, so that calls that come in a fixed order all have their turn. Draws a number only when it
 * picks one.
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
