import { Counter, Gauge, Histogram } from 'prom-client';
import { exponentialBounds } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';

/** The usual work queue metrics of Kubernetes controllers. */
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
      help: 'Number of ready keys that wait for a worker.',
      labelNames,
      registers,
    });
    this.adds = new Counter({
      name: 'workqueue_adds_total',
      help: 'Number of keys that became ready.',
      labelNames,
      registers,
    });
    this.retries = new Counter({
      name: 'workqueue_retries_total',
      help: 'Number of keys requeued after a failure.',
      labelNames,
      registers,
    });
    this.queueSeconds = new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'Seconds that a ready key waits for a worker.',
      labelNames,
      registers,
      buckets,
    });
    this.workSeconds = new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'Seconds to process a key.',
      labelNames,
      registers,
      buckets,
    });
  }
}
