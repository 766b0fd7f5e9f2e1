import { Counter } from 'prom-client';
import type { SchedulingEntity } from '../../framework/scheduling-entity.ts';
import { Histogram } from '../../observability/histogram.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import { exponentialBounds } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';

export type AttemptResult = 'scheduled' | 'unschedulable' | 'error';

/** An ended attempt. */
export interface Attempted {
  readonly schedulingEntity: SchedulingEntity;
  readonly profile: string;
  readonly result: AttemptResult;
  /** Number of pods in the attempt. */
  readonly pods: number;
  /** Duration of the algorithm and the binding. */
  readonly seconds: number;
}

const attemptBuckets = exponentialBounds(0.001, 2, 15);
/** Larger numbers of attempts share one series, as in kube-scheduler. */
const maxAttempts = 15;

/** Scheduling attempts, and the time until a pod is bound. */
export class AttemptMetrics {
  readonly #attempts: Counter<'result' | 'profile'>;
  readonly #durations: Histogram<'result' | 'profile'>;
  readonly #groupAttempts: Counter<'result' | 'profile' | 'type'>;
  readonly #groupDurations: Histogram<'result' | 'profile' | 'type'>;
  readonly #algorithm: HistogramSeries;
  readonly #groupAlgorithm: Histogram<'profile' | 'type'>;
  readonly #podAttempts: HistogramSeries;
  readonly #sliDuration: Histogram<'attempts'>;

  constructor(registry: MetricRegistry) {
    this.#attempts = new Counter({
      name: 'scheduler_schedule_attempts_total',
      help: 'Attempts to schedule pods, by result. Each member of a group counts.',
      labelNames: ['result', 'profile'],
      registers: [registry],
    });
    this.#durations = new Histogram({
      name: 'scheduler_scheduling_attempt_duration_seconds',
      help: 'Scheduling attempt latency in seconds (scheduling algorithm and binding).',
      labelNames: ['result', 'profile'],
      buckets: attemptBuckets,
      registry,
    });
    this.#groupAttempts = new Counter({
      name: 'scheduler_podgroup_schedule_attempts_total',
      help: 'Attempts to schedule pod groups as a whole, by result.',
      labelNames: ['result', 'profile', 'type'],
      registers: [registry],
    });
    this.#groupDurations = new Histogram({
      name: 'scheduler_podgroup_scheduling_attempt_duration_seconds',
      help: 'Latency in seconds of an attempt to schedule a pod group (algorithm and binding of all its members).',
      labelNames: ['result', 'profile', 'type'],
      buckets: attemptBuckets,
      registry,
    });
    this.#algorithm = new Histogram({
      name: 'scheduler_scheduling_algorithm_duration_seconds',
      help: 'Scheduling algorithm latency in seconds, for a pod without a group or for a whole group.',
      labelNames: [],
      buckets: attemptBuckets,
      registry,
    }).of({});
    this.#groupAlgorithm = new Histogram({
      name: 'scheduler_podgroup_scheduling_algorithm_duration_seconds',
      help: 'Scheduling algorithm latency in seconds, for whole groups.',
      labelNames: ['profile', 'type'],
      buckets: attemptBuckets,
      registry,
    });
    this.#podAttempts = new Histogram({
      name: 'scheduler_pod_scheduling_attempts',
      help: 'Number of attempts to schedule a pod successfully.',
      labelNames: [],
      buckets: exponentialBounds(1, 2, 5),
      registry,
    }).of({});
    this.#sliDuration = new Histogram({
      name: 'scheduler_pod_scheduling_sli_duration_seconds',
      help: 'Seconds from when a pod was ready to be scheduled until it was bound, by the number of attempts.',
      labelNames: ['attempts'],
      buckets: exponentialBounds(0.01, 2, 20),
      registry,
    });
  }

  attempted({ schedulingEntity, profile, result, pods, seconds }: Attempted): void {
    this.#attempts.inc({ result, profile }, pods);
    this.#durations.of({ result, profile }).observe(seconds);
    if (schedulingEntity.kind === 'pod') return;
    const labels = { result, profile, type: 'podgroup' };
    this.#groupAttempts.inc(labels);
    this.#groupDurations.of(labels).observe(seconds);
  }

  algorithmRan(schedulingEntity: SchedulingEntity, profile: string, seconds: number): void {
    this.#algorithm.observe(seconds);
    if (schedulingEntity.kind === 'gang') this.#groupAlgorithm.of({ profile, type: 'podgroup' }).observe(seconds);
  }

  podBound(attempts: number, sinceReadyMs: number): void {
    this.#podAttempts.observe(attempts);
    const label = attempts > maxAttempts ? `${maxAttempts + 1}+` : String(attempts);
    this.#sliDuration.of({ attempts: label }).observe(sinceReadyMs / 1000);
  }
}
