import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { describeThrown, readRejectionOrSkip } from './plugin-answers.ts';
import { failureOf } from './plugin-failure.ts';
import { CallSampler, outcomeOf } from './plugin-meter.ts';
import type { MeasuredPoint, Outcome, PluginMeter } from './plugin-meter.ts';
import type { Plugin } from './plugin.ts';
import { Status } from './status.ts';
import { asyncPointDeadlineMs, withinDeadline } from './within-deadline.ts';

/** One call in so many is timed: at Filter and Score, which are asked about each node, and at the other points. */
const timedNodeCalls = 256;
const timedCalls = 10;
/** One run in so many is timed at the points that each member of a gang passes in the cycle. */
const timedMemberRuns = 8;

/**
 * How plugins are called, whatever the point: what they throw or answer wrongly becomes a Status that names them, and some calls,
 * picked by chance, are timed.
 */
export class PluginCalls {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #meter: PluginMeter | undefined;
  readonly #nodeCalls = new CallSampler(timedNodeCalls);
  readonly #otherCalls = new CallSampler(timedCalls);
  readonly #memberRuns = new CallSampler(timedMemberRuns);

  /** Without a meter nothing is timed. */
  constructor(options: { readonly clock: Clock; readonly logger: Logger; readonly meter?: PluginMeter | undefined }) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#meter = options.meter;
  }

  /** When what is told to `ran` begins, as Clock.monotonic(); NaN: it is not timed. */
  begin(): number {
    return this.#meter === undefined ? NaN : this.#clock.monotonic();
  }

  /** At the points that each member of a gang passes, where two looks at the clock would be a good part of the work. */
  beginOfMany(): number {
    return this.#meter !== undefined && this.#memberRuns.picks() ? this.begin() : NaN;
  }

  /** All plugins of the point have been asked, from `begun` on. */
  ran(point: MeasuredPoint, outcome: Outcome, begun: number): void {
    if (!Number.isNaN(begun)) this.#meter?.ran(point, outcome, this.#clock.monotonic() - begun);
  }

  /** Whether this call, about one node, is to be timed. */
  picksNodeCall(): boolean {
    return this.#meter !== undefined && this.#nodeCalls.picks();
  }

  /** One call that was picked has ended. */
  called(plugin: Plugin, point: MeasuredPoint, outcome: Outcome, begun: number): void {
    this.#meter?.called(plugin.name, point, outcome, this.#clock.monotonic() - begun);
  }

  /** What the plugin answers, or its failure. */
  call<T>(plugin: Plugin, point: MeasuredPoint, run: () => T): T | Status {
    if (this.#meter === undefined || !this.#otherCalls.picks()) return guarded(plugin, point, run);
    const begun = this.begin();
    const answer = guarded(plugin, point, run);
    this.called(plugin, point, answer instanceof Status ? answer.code : 'Success', begun);
    return answer;
  }

  /** As `call`, for what is waited for, though not for ever. */
  async callAsync(
    plugin: Plugin,
    point: 'PreBind' | 'Bind',
    run: () => Promise<Status | undefined>,
    onLate?: (error: Error) => void,
  ): Promise<Status | undefined> {
    const { asyncDeadlineMs: deadlineMs = asyncPointDeadlineMs } = plugin;
    const begun = this.#meter !== undefined && this.#otherCalls.picks() ? this.begin() : NaN;
    let status: Status | undefined;
    try {
      status = readRejectionOrSkip(await withinDeadline(this.#clock, deadlineMs, run, onLate));
    } catch (error) {
      status = failureOf(plugin, point, error);
    }
    if (!Number.isNaN(begun)) this.called(plugin, point, outcomeOf(status), begun);
    return status;
  }

  /** A point that nothing depends on: what goes wrong is logged. It may be async, and is not waited for. */
  inform(plugin: Plugin, point: string, pod: Pod, run: () => unknown): void {
    const fail = (error: unknown): void =>
      this.#logger.warn('a plugin failed', { plugin: plugin.name, point, pod: pod.key, error: describeThrown(error) });
    try {
      const answer = run();
      if (answer instanceof Promise) answer.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  /** A plugin failed where its pod goes on all the same. */
  failed(message: string, plugin: Plugin, error: unknown): void {
    this.#logger.error(message, { plugin: plugin.name, error });
  }
}

/** What the plugin answers, or its failure; never timed. */
export function guarded<T>(plugin: Plugin, point: string, run: () => T): T | Status {
  try {
    return run();
  } catch (error) {
    return failureOf(plugin, point, error);
  }
}
