import { Registry, collectDefaultMetrics } from 'prom-client';

export interface MetricRegistryOptions {
  /** Also export memory, CPU, event loop lag and garbage collection of the process. Off: only the metrics that areas register. */
  readonly processMetrics: boolean;
}

/**
 * prom-client's metrics from sampling the event loop every 10 ms. That means a hundred wake-ups a second, which is most of the
 * work of an idle process, for values that are never below 10 ms. The lag at the moment of a scrape costs nothing, and stays.
 */
const sampledLags = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];
/** In milliseconds; the longest possible interval. */
const maxIntervalMs = 2 ** 31 - 1;

/**
 * Creates a separate registry for one process (or one part of `tutti up`). prom-client's global registry is never used, so that
 * two schedulers in one process, or two tests, do not share metrics. Metrics are defined next to the code that updates them, with
 * `registers: [registry]`.
 */
export function createMetricRegistry(options: MetricRegistryOptions): Registry {
  const registry = new Registry();
  if (options.processMetrics) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: maxIntervalMs });
    for (const lag of sampledLags) registry.removeSingleMetric(`nodejs_eventloop_lag_${lag}_seconds`);
  }
  return registry;
}

/** Returns `count` bucket bounds: start, start × factor, …, as Kubernetes' histograms define them. */
export function exponentialBounds(start: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number((start * factor ** index).toPrecision(12)));
}

export type { Registry as MetricRegistry } from 'prom-client';
