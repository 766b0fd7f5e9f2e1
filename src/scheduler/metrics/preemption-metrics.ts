import { Counter } from 'prom-client';
import { Histogram } from '../../observability/histogram.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import { exponentialBounds } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';

/** Room that PostFilter plugins make. */
export class PreemptionMetrics {
  readonly #attempts: Counter;
  readonly #victims: HistogramSeries;

  constructor(registry: MetricRegistry) {
    this.#attempts = new Counter({
      name: 'scheduler_preemption_attempts_total',
      help: 'Times that PostFilter plugins were asked to make room for a pod or a whole group.',
      registers: [registry],
    });
    this.#victims = new Histogram({
      name: 'scheduler_preemption_victims',
      help: 'Number of victims of one preemption, for a pod or a whole group.',
      labelNames: [],
      buckets: exponentialBounds(1, 2, 7),
      registry,
    }).of({});
  }

  asked(): void {
    this.#attempts.inc();
  }

  preempted(victims: number): void {
    this.#victims.observe(victims);
  }
}
