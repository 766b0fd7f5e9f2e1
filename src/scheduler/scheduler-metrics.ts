import { Counter, Gauge, Histogram } from 'prom-client';
import type { Candidate } from '../framework/candidate.ts';
import { exponentialBounds } from '../observability/metric-registry.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';

/** Sizes that the gauges read when they are scraped. */
export interface SchedulerSizes {
  /** Pods by queue, members of waiting groups included. */
  readonly queue: () => Readonly<Record<'active' | 'backoff' | 'unschedulable' | 'gated', number>>;
  /** Entities that only the safety net retried, ever. */
  readonly flushed: () => number;
  readonly nodes: () => number;
  readonly pods: () => number;
  readonly assumed: () => number;
}

/** The scheduler's metrics: kube-scheduler's names wherever the meaning is the same. */
export class SchedulerMetrics {
  readonly #attempts: Counter<'result' | 'profile'>;
  readonly #attemptDuration: Histogram<'result' | 'profile'>;
  readonly #groupAttempts: Counter<'result' | 'profile' | 'type'>;
  readonly #groupAttemptDuration: Histogram<'result' | 'profile' | 'type'>;
  readonly algorithmDuration: Histogram;
  readonly #podAttempts: Histogram;
  readonly #sliDuration: Histogram<'attempts'>;
  readonly incoming: Counter<'queue' | 'event'>;

  constructor(registry: MetricRegistry, sizes: SchedulerSizes) {
    const registers = [registry];
    const attemptBuckets = exponentialBounds(0.001, 2, 15);
    this.#attempts = new Counter({
      name: 'scheduler_schedule_attempts_total',
      help: 'Attempts to schedule pods, by the result. A member of a group counts with its group.',
      labelNames: ['result', 'profile'],
      registers,
    });
    this.#attemptDuration = new Histogram({
      name: 'scheduler_scheduling_attempt_duration_seconds',
      help: 'Scheduling attempt latency in seconds (scheduling algorithm and binding).',
      labelNames: ['result', 'profile'],
      buckets: attemptBuckets,
      registers,
    });
    this.#groupAttempts = new Counter({
      name: 'scheduler_podgroup_schedule_attempts_total',
      help: 'Attempts to schedule pod groups as a whole, by the result.',
      labelNames: ['result', 'profile', 'type'],
      registers,
    });
    this.#groupAttemptDuration = new Histogram({
      name: 'scheduler_podgroup_scheduling_attempt_duration_seconds',
      help: 'Latency in seconds of an attempt to schedule a pod group (algorithm and binding of all its members).',
      labelNames: ['result', 'profile', 'type'],
      buckets: attemptBuckets,
      registers,
    });
    this.algorithmDuration = new Histogram({
      name: 'scheduler_scheduling_algorithm_duration_seconds',
      help: 'Scheduling algorithm latency in seconds, of a lone pod or of a whole group.',
      buckets: attemptBuckets,
      registers,
    });
    this.#podAttempts = new Histogram({
      name: 'scheduler_pod_scheduling_attempts',
      help: 'Number of attempts it took to schedule a pod.',
      buckets: exponentialBounds(1, 2, 5),
      registers,
    });
    this.#sliDuration = new Histogram({
      name: 'scheduler_pod_scheduling_sli_duration_seconds',
      help: 'Seconds from the moment a pod could be scheduled until it was bound.',
      labelNames: ['attempts'],
      buckets: exponentialBounds(0.01, 2, 20),
      registers,
    });
    this.incoming = new Counter({
      name: 'scheduler_queue_incoming_pods_total',
      help: 'Entities (lone pods, groups) that entered a queue, by queue and event.',
      labelNames: ['queue', 'event'],
      registers,
    });
    new Gauge({
      name: 'scheduler_pending_pods',
      help: 'Pods that wait to be scheduled, members of waiting groups included, by queue: active, backoff, unschedulable, gated.',
      labelNames: ['queue'],
      registers,
      collect() {
        for (const [queue, size] of Object.entries(sizes.queue())) this.set({ queue }, size);
      },
    });
    new Counter({
      name: 'scheduler_pod_scheduled_after_flush_total',
      help: 'Entities (lone pods, groups) that no event but only the periodic flush retried: each is a missed hint.',
      registers,
      collect() {
        this.reset();
        this.inc(sizes.flushed());
      },
    });
    new Gauge({
      name: 'scheduler_cache_size',
      help: 'Number of nodes, pods, and assumed (bound) pods in the scheduler cache.',
      labelNames: ['type'],
      registers,
      collect() {
        this.set({ type: 'nodes' }, sizes.nodes());
        this.set({ type: 'pods' }, sizes.pods());
        this.set({ type: 'assumed_pods' }, sizes.assumed());
      },
    });
  }

  /** An attempt ended; `pods` is how many it concerned, `seconds` how long algorithm and binding took. */
  attempted(attempt: {
    readonly candidate: Candidate;
    readonly profile: string;
    readonly result: 'scheduled' | 'unschedulable' | 'error';
    readonly pods: number;
    readonly seconds: number;
  }): void {
    const { candidate, profile, result, pods, seconds } = attempt;
    this.#attempts.inc({ result, profile }, pods);
    this.#attemptDuration.observe({ result, profile }, seconds);
    if (candidate.kind === 'pod') return;
    const labels = { result, profile, type: 'podgroup' };
    this.#groupAttempts.inc(labels);
    this.#groupAttemptDuration.observe(labels, seconds);
  }

  podBound(attempts: number, sinceReadyMs: number): void {
    this.#podAttempts.observe(attempts);
    this.#sliDuration.observe({ attempts: attempts >= 16 ? '16+' : String(attempts) }, sinceReadyMs / 1000);
  }
}
