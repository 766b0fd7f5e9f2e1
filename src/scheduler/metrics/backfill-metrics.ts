import { Counter } from 'prom-client';
import type { MetricRegistry } from '../../observability/metric-registry.ts';

const ends = ['started', 'withdrawn', 'displaced'] as const;

/** Metrics of reservations with a predicted start. */
export class BackfillMetrics {
  readonly #given: Counter;
  readonly #ends: Counter<'outcome'>;
  readonly #overruns: Counter;

  constructor(registry: MetricRegistry) {
    this.#given = new Counter({
      name: 'tutti_backfill_turns_total',
      help: 'Pods and whole groups for which capacity was reserved until their predicted start.',
      registers: [registry],
    });
    this.#ends = new Counter({
      name: 'tutti_backfill_turn_outcomes_total',
      help: 'Predicted starts that ended, by outcome: started, withdrawn because the pod or group no longer waits for this capacity, or displaced by one ahead of it.',
      labelNames: ['outcome'],
      registers: [registry],
    });
    for (const outcome of ends) this.#ends.inc({ outcome }, 0);
    this.#overruns = new Counter({
      name: 'tutti_runtime_overruns_total',
      help: 'Pods that ran for longer than they declare, by the annotation tutti.dev/runtime or by a deadline. The log names them.',
      registers: [registry],
    });
  }

  /** Capacity was reserved for a pod or group. */
  given(): void {
    this.#given.inc();
  }

  ended(outcome: (typeof ends)[number]): void {
    this.#ends.inc({ outcome });
  }

  overrun(): void {
    this.#overruns.inc();
  }
}
