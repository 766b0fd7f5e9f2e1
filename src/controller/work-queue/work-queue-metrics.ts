import { Counter, Gauge, Histogram } from 'prom-client';
import { exponentialBounds } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';

/** The metrics that every Kubernetes controller has of its work queue, under their usual names. */
export class WorkQueueMetrics {
  readonly depth: Gauge<'name'>;
  readonly adds: Counter<'name'>;
  readonly retries: Counter<'name'>;
  readonly queueSeconds: Histogram<'name'>;
  readonly workSeconds: Histogram<'name'>;

  constructor(registry: MetricRegistry) {
    const labelNames = ['name'] as const;
    const registers = [registry];
    const buckets = exponentialBounds(1e-5, 10, 8);
    this.depth = new Gauge({
      name: 'workqueue_depth',
      help: 'Keys that are ready to be processed and wait for a worker.',
      labelNames,
      registers,
    });
    this.adds = new Counter({
      name: 'workqueue_adds_total',
      help: 'Keys that became ready to be processed.',
      labelNames,
      registers,
    });
    this.retries = new Counter({
      name: 'workqueue_retries_total',
      help: 'Keys put back because processing them failed.',
      labelNames,
      registers,
    });
    this.queueSeconds = new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'How long a key that is ready waits for a worker.',
      labelNames,
      registers,
      buckets,
    });
    this.workSeconds = new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'How long processing a key takes.',
      labelNames,
      registers,
      buckets,
    });
  }
}
