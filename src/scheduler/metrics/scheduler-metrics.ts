import type { MetricRegistry } from '../../observability/metric-registry.ts';
import { AttemptMetrics } from './attempt-metrics.ts';
import { GangMetrics, registerGangGauges } from './gang-metrics.ts';
import type { GangSources } from './gang-metrics.ts';
import { BackfillMetrics } from './backfill-metrics.ts';
import { registerCacheMetrics } from './cache-metrics.ts';
import type { CacheSources } from './cache-metrics.ts';
import { PluginMetrics, registerPluginCounter } from './plugin-metrics.ts';
import type { CountedProfile } from './plugin-metrics.ts';
import { PreemptionMetrics, registerPreemptionGauges } from './preemption-metrics.ts';
import type { PreemptionSources } from './preemption-metrics.ts';
import { QueueMetrics, registerQueueGauges } from './queue-metrics.ts';
import type { QueueSources } from './queue-metrics.ts';

/** Values that gauges read at collection. */
export interface MetricSources {
  readonly profiles: () => Iterable<CountedProfile>;
  readonly queue: QueueSources;
  readonly cache: CacheSources;
  readonly gangs: GangSources;
  readonly preemptions: PreemptionSources;
}

/** The metrics of the scheduler core, by area. They have kube-scheduler's names where the meaning is the same. */
export class SchedulerMetrics {
  readonly attempts: AttemptMetrics;
  readonly plugins: PluginMetrics;
  readonly queue: QueueMetrics;
  readonly preemptions: PreemptionMetrics;
  readonly gangs: GangMetrics;
  readonly backfill: BackfillMetrics;

  constructor(registry: MetricRegistry) {
    this.attempts = new AttemptMetrics(registry);
    this.queue = new QueueMetrics(registry);
    this.plugins = new PluginMetrics(registry);
    this.preemptions = new PreemptionMetrics(registry);
    this.gangs = new GangMetrics(registry);
    this.backfill = new BackfillMetrics(registry);
  }
}

/** Registers the metrics that read the scheduler's state, once all parts exist. */
export function registerGauges(registry: MetricRegistry, sources: MetricSources): void {
  registerQueueGauges(registry, sources.queue);
  registerPluginCounter(registry, sources.profiles);
  registerCacheMetrics(registry, sources.cache);
  registerGangGauges(registry, sources.gangs);
  registerPreemptionGauges(registry, sources.preemptions);
}
