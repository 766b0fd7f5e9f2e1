import type { ClusterEvent } from '../../framework/cluster-event.ts';
import type { HintAnswer, HintMeter } from '../../framework/event-hints.ts';
import type { CallCount, MeasuredPoint, Outcome, PluginMeter } from '../../framework/plugin-meter.ts';
import { Histogram } from '../../observability/histogram.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import { exponentialBounds } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';
import { readCounter } from '../../observability/read-counter.ts';

/** A profile whose plugin calls are counted. */
export interface CountedProfile {
  readonly schedulerName: string;
  calls(): Iterable<CallCount>;
}

/** Metrics of plugin calls. */
export class PluginMetrics {
  readonly #points: Histogram<'extension_point' | 'status' | 'profile'>;
  readonly #plugins: Histogram<'plugin' | 'extension_point' | 'status'>;
  readonly #hints: Histogram<'plugin' | 'event' | 'hint'>;
  readonly #permitWait: Histogram<'result'>;

  constructor(registry: MetricRegistry) {
    this.#points = new Histogram({
      name: 'scheduler_framework_extension_point_duration_seconds',
      help: 'Latency in seconds of running all plugins of an extension point for one pod; dry runs count as well. At PreFilter, Reserve, Unreserve and Permit, which run once per group member, Tutti times 1 run in 8.',
      labelNames: ['extension_point', 'status', 'profile'],
      buckets: exponentialBounds(0.0001, 2, 12),
      registry,
    });
    const callBuckets = exponentialBounds(0.00001, 1.5, 20);
    this.#plugins = new Histogram({
      name: 'scheduler_plugin_execution_duration_seconds',
      help: 'Latency in seconds of one plugin call. Tutti times 1 call in 10; at Filter and Score, which run for each node, 1 in 256.',
      labelNames: ['plugin', 'extension_point', 'status'],
      buckets: callBuckets,
      registry,
    });
    this.#hints = new Histogram({
      name: 'scheduler_queueing_hint_execution_duration_seconds',
      help: 'Latency in seconds of one call of a queueing hint. Tutti times 1 call in 16.',
      labelNames: ['plugin', 'event', 'hint'],
      buckets: callBuckets,
      registry,
    });
    this.#permitWait = new Histogram({
      name: 'scheduler_permit_wait_duration_seconds',
      help: 'Seconds for which a pod waited on Permit, by result.',
      labelNames: ['result'],
      buckets: exponentialBounds(0.001, 2, 15),
      registry,
    });
  }

  /** Returns the meter for the plugins of one profile. */
  meterOf(profile: string): PluginMeter {
    const points = new SeriesByOutcome((extension_point, status) =>
      this.#points.of({ extension_point, status, profile }),
    );
    /** plugin -> its calls */
    const plugins = new Map<string, SeriesByOutcome>();
    return {
      ran: (point, outcome, ms) => points.of(point, outcome).observe(ms / 1000),
      called: (plugin, point, outcome, ms) => {
        let series = plugins.get(plugin);
        if (series === undefined) {
          series = new SeriesByOutcome((extension_point, status) =>
            this.#plugins.of({ plugin, extension_point, status }),
          );
          plugins.set(plugin, series);
        }
        series.of(point, outcome).observe(ms / 1000);
      },
    };
  }

  readonly hintMeter: HintMeter = (plugin: string, event: ClusterEvent, hint: HintAnswer, ms: number) =>
    this.#hints.of({ plugin, event: `${event.resource}${event.action}`, hint }).observe(ms / 1000);

  permitWaited(result: Outcome, ms: number): void {
    this.#permitWait.of({ result }).observe(ms / 1000);
  }
}

/** Registers the counter of plugin calls. It reads `profiles` at collection. */
export function registerPluginCounter(registry: MetricRegistry, profiles: () => Iterable<CountedProfile>): void {
  readCounter({
    name: 'scheduler_plugin_evaluation_total',
    help: 'Plugin calls at PreFilter, Filter, PreScore and Score. Cached results do not count.',
    labelNames: ['plugin', 'extension_point', 'profile'],
    registry,
    *read() {
      for (const profile of profiles()) {
        for (const { plugin, point, calls } of profile.calls()) {
          yield [{ plugin, extension_point: point, profile: profile.schedulerName }, calls] as const;
        }
      }
    },
  });
}

/** Series by extension point and outcome. Two maps, because every call looks up a series and must not build a string key. */
class SeriesByOutcome {
  readonly #make: (point: MeasuredPoint, outcome: Outcome) => HistogramSeries;
  /** point -> outcome -> series */
  readonly #series = new Map<MeasuredPoint, Map<Outcome, HistogramSeries>>();

  constructor(make: (point: MeasuredPoint, outcome: Outcome) => HistogramSeries) {
    this.#make = make;
  }

  of(point: MeasuredPoint, outcome: Outcome): HistogramSeries {
    let byOutcome = this.#series.get(point);
    if (byOutcome === undefined) this.#series.set(point, (byOutcome = new Map<Outcome, HistogramSeries>()));
    let series = byOutcome.get(outcome);
    if (series === undefined) byOutcome.set(outcome, (series = this.#make(point, outcome)));
    return series;
  }
}
