import type { MetricRegistry } from '../../observability/metric-registry.ts';
import { AttemptMetrics } from './attempt-metrics.ts';
import { GangMetrics } from './gang-metrics.ts';
import type { GangSources } from './gang-metrics.ts';
import { registerPictureMetrics } from './picture-metrics.ts';
import type { PictureSources } from './picture-metrics.ts';
import { PluginMetrics } from './plugin-metrics.ts';
import type { CountedProfile } from './plugin-metrics.ts';
import { PreemptionMetrics } from './preemption-metrics.ts';
import { QueueMetrics } from './queue-metrics.ts';
import type { QueueSources } from './queue-metrics.ts';

/** What the metrics read when they are collected. */
export interface MetricSources {
  readonly profiles: () => Iterable<CountedProfile>;
  readonly queue: QueueSources;
  readonly picture: PictureSources;
  readonly gangs: GangSources;
}

/** The metrics of a scheduler's core, by area: kube-scheduler's names wherever the meaning is the same. */
export class SchedulerMetrics {
  readonly attempts: AttemptMetrics;
  readonly plugins: PluginMetrics;
  readonly queue: QueueMetrics;
  readonly preemptions: PreemptionMetrics;
  readonly gangs: GangMetrics;

  constructor(registry: MetricRegistry, sources: MetricSources) {
    this.attempts = new AttemptMetrics(registry);
    this.queue = new QueueMetrics(registry, sources.queue);
    this.plugins = new PluginMetrics(registry, sources.profiles);
    this.preemptions = new PreemptionMetrics(registry);
    registerPictureMetrics(registry, sources.picture);
    this.gangs = new GangMetrics(registry, sources.gangs);
  }
}
