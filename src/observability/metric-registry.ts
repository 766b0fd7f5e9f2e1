import { Registry, collectDefaultMetrics } from 'prom-client';

export interface MetricRegistryOptions {
  /** Memory, CPU, event loop lag and garbage collection of the process as well. Off: only what areas register. */
  readonly processMetrics: boolean;
}

/**
 * What prom-client makes of a sample of the event loop every 10 ms: a hundred wake-ups a second, which is most of what an idle
 * process would do, for figures that are never below those 10 ms. The lag at the moment of a scrape costs nothing, and stays.
 */
const sampledLags = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];
/** In milliseconds; as seldom as can be said. */
const never = 2 ** 31 - 1;

/**
 * A registry of its own for one process (or one part of `tutti up`): prom-client's global one is never used, so that two
 * schedulers in one process, or two tests, do not meet. Metrics are defined beside the code that raises them, with
 * `registers: [registry]`.
 */
export function createMetricRegistry(options: MetricRegistryOptions): Registry {
  const registry = new Registry();
  if (options.processMetrics) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: never });
    for (const lag of sampledLags) registry.removeSingleMetric(`nodejs_eventloop_lag_${lag}_seconds`);
  }
  return registry;
}

/** Bucket bounds start, start × factor, …, `count` of them: as Kubernetes' histograms are defined. */
export function exponentialBounds(start: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number((start * factor ** index).toPrecision(12)));
}

export type { Registry as MetricRegistry } from 'prom-client';
