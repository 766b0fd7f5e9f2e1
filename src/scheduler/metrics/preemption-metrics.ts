import { Counter, Gauge } from 'prom-client';
import { Histogram } from '../../observability/histogram.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import { exponentialBounds } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';

/** Values that the metrics of preemptions read at collection. */
export interface PreemptionSources {
  readonly inFlight: () => number;
  readonly stuckVictims: () => number;
}

const outcomes = ['bound', 'elsewhere', 'displaced', 'expired', 'abandoned'] as const;

/** Metrics of preemptions by PostFilter plugins. */
export class PreemptionMetrics {
  readonly #attempts: Counter;
  readonly #victims: HistogramSeries;
  readonly #outcomes: Counter<'outcome'>;
  readonly #wasted: Counter;
  readonly #wait: HistogramSeries;

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
    this.#outcomes = new Counter({
      name: 'tutti_preemption_outcomes_total',
      help: 'Preemptions that ended, by outcome: bound as planned, bound elsewhere, displaced by a higher priority, expired because victims did not terminate in time, or abandoned.',
      labelNames: ['outcome'],
      registers: [registry],
    });
    for (const outcome of outcomes) this.#outcomes.inc({ outcome }, 0);
    this.#wasted = new Counter({
      name: 'tutti_preemption_wasted_victims_total',
      help: 'Pods evicted for a preemption that did not end with the outcome bound.',
      registers: [registry],
    });
    this.#wait = new Histogram({
      name: 'tutti_preemption_wait_seconds',
      help: 'Seconds from the start of a preemption until its pods were bound as planned.',
      labelNames: [],
      buckets: exponentialBounds(0.1, 2, 15),
      registry,
    }).of({});
  }

  postFilterCalled(): void {
    this.#attempts.inc();
  }

  preempted(victims: number): void {
    this.#victims.observe(victims);
  }
  /** A preemption ended. `wasted`: pods that were evicted in vain. */
  ended(outcome: (typeof outcomes)[number], wasted: number, seconds: number): void {
    this.#outcomes.inc({ outcome });
    this.#wasted.inc(wasted);
    if (outcome === 'bound') this.#wait.observe(seconds);
  }
}

/** Registers the metrics of preemptions that read their values at collection. */
export function registerPreemptionGauges(registry: MetricRegistry, sources: PreemptionSources): void {
  const registers = [registry];
  new Gauge({
    name: 'tutti_preemption_in_flight',
    help: 'Preemptions that wait for their victims to terminate, or for their pods to be bound.',
    registers,
    collect() {
      this.set(sources.inFlight());
    },
  });
  new Gauge({
    name: 'tutti_preemption_stuck_victims',
    help: 'Victims that have not terminated although their preemption has ended.',
    registers,
    collect() {
      this.set(sources.stuckVictims());
    },
  });
}
