import { Counter } from 'prom-client';
import { Histogram } from '../../observability/histogram.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import { exponentialBounds } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';

/** Metrics of preemptions by PostFilter plugins. */
export class PreemptionMetrics {
  readonly #attempts: Counter;
  readonly #victims: HistogramSeries;

  constructor(registry: MetricRegistry) {
    this.#attempts = new Counter({
      name: 'scheduler_preemption_attempts_total',
      help: 'PostFilter calls for a pod or a whole group.',
      registers: [registry],
    });
    this.#victims = new Histogram({
      name: 'scheduler_preemption_victims',
      help: 'Number of victims per preemption, for a pod or a whole group.',
      labelNames: [],
      buckets: exponentialBounds(1, 2, 7),
      registry,
    }).of({});
  }

  postFilterCalled(): void {
    this.#attempts.inc();
  }

  preempted(victims: number): void {
    this.#victims.observe(victims);
  }
}
