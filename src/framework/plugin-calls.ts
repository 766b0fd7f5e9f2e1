import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { describeThrown, readRejectionOrSkip } from './plugin-answers.ts';
import { failureOf, framesOf } from './plugin-failure.ts';
import { CallSampler, outcomeOf } from './plugin-meter.ts';
import type { MeasuredPoint, Outcome, PluginMeter } from './plugin-meter.ts';
import type { Plugin } from './plugin.ts';
import { Status } from './status.ts';
import { asyncPointDeadlineMs, withinDeadline } from './within-deadline.ts';

/** Mean number of calls per timed call: at Filter and Score, which run for each node, and at the other points. */
const timedNodeCalls = 256;
const timedCalls = 10;
/** Mean number of runs per timed run, at points that every member of a gang passes in the cycle. */
const timedMemberRuns = 8;

/**
 * Calls plugins at all points. An exception or an invalid result becomes a Status that names the plugin. Times a random sample of the
 * calls.
 */
export class PluginCalls {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #meter: PluginMeter | undefined;
  readonly #nodeCalls = new CallSampler(timedNodeCalls);
  readonly #otherCalls = new CallSampler(timedCalls);
  readonly #memberRuns = new CallSampler(timedMemberRuns);
  /** "plugin point" of the failures that have been logged */
  readonly #logged = new Set<string>();

  /** Without a meter, measures the duration of no call. */
  constructor(options: { readonly clock: Clock; readonly logger: Logger; readonly meter?: PluginMeter | undefined }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#meter = options.meter;
  }

  /** Returns the start time to pass to `ran`, as Clock.monotonic(); NaN: not timed. */
  begin(): number {
    return this.#meter === undefined ? NaN : this.#clock.monotonic();
  }

  /** Like `begin`, for points that every member of a gang passes. Samples the runs, because reading the clock costs as much as the run. */
  beginOfMany(): number {
    return this.#meter !== undefined && this.#memberRuns.picks() ? this.begin() : NaN;
  }

  /** Records a run of all plugins of the point since `startedAt`. */
  ran(point: MeasuredPoint, outcome: Outcome, startedAt: number): void {
    if (!Number.isNaN(startedAt)) this.#meter?.ran(point, outcome, this.#clock.monotonic() - startedAt);
  }

  /** Returns whether to time this call for one node. */
  picksNodeCall(): boolean {
    return this.#meter !== undefined && this.#nodeCalls.picks();
  }

  /** Records a sampled call that has ended. */
  called(plugin: Plugin, point: MeasuredPoint, outcome: Outcome, startedAt: number): void {
    this.#meter?.called(plugin.name, point, outcome, this.#clock.monotonic() - startedAt);
  }

  /** Returns the plugin's result, or a Status if the plugin failed. */
  call<T>(plugin: Plugin, point: MeasuredPoint, run: () => T): T | Status {
    if (this.#meter === undefined || !this.#otherCalls.picks()) return this.guarded(plugin, point, run);
    const startedAt = this.begin();
    const result = this.guarded(plugin, point, run);
    this.called(plugin, point, result instanceof Status ? result.code : 'Success', startedAt);
    return result;
  }

  /** Like `call`, for a result to await with a deadline. */
  async callAsync(
    plugin: Plugin,
    point: 'PreBind' | 'Bind',
    run: () => Promise<Status | undefined>,
    onLate?: (error: Error) => void,
  ): Promise<Status | undefined> {
    const { asyncDeadlineMs: deadlineMs = asyncPointDeadlineMs } = plugin;
    const startedAt = this.#meter !== undefined && this.#otherCalls.picks() ? this.begin() : NaN;
    let status: Status | undefined;
    try {
      status = readRejectionOrSkip(await withinDeadline(this.#clock, deadlineMs, run, onLate));
    } catch (error) {
      status = this.failure(plugin, point, error);
    }
    if (!Number.isNaN(startedAt)) this.called(plugin, point, outcomeOf(status), startedAt);
    return status;
  }

  /** Runs a point without a result. Logs failures. An async call is not awaited. */
  inform(plugin: Plugin, point: string, pod: Pod, run: () => unknown): void {
    const fail = (error: unknown): void => {
      this.failure(plugin, point, error);
      this.#logger.warn('plugin failed', { plugin: plugin.name, point, pod: pod.key, error: describeThrown(error) });
    };
    try {
      const result = run();
      if (result instanceof Promise) result.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Returns the plugin's result, or a Status if it failed. Never timed. */
  guarded<T>(plugin: Plugin, point: string, run: () => T): T | Status {
    try {
      return run();
    } catch (error) {
      return this.failure(plugin, point, error);
    }
  }

  /** Like `failureOf`. Logs where the plugin threw the error, once per plugin and point. */
  failure(plugin: Plugin, point: string, error: unknown): Status {
    const key = `${plugin.name} ${point}`;
    const frames = this.#logged.has(key) ? [] : framesOf(error);
    if (frames.length > 0) {
      this.#logged.add(key);
      const fields = { plugin: plugin.name, point, error: describeThrown(error), stack: frames.join(', ') };
      this.#logger.error('plugin threw an error, which is logged once per extension point', fields);
    }
    return failureOf(plugin, point, error);
  }

  /** Logs a plugin failure that does not stop the pod. */
  failed(message: string, plugin: Plugin, error: unknown): void {
    this.#logger.error(message, { plugin: plugin.name, error });
  }
}
