import { Counter, Gauge } from 'prom-client';
import type { MetricRegistry } from '../../observability/metric-registry.ts';
import { readCounter } from '../../observability/read-counter.ts';
import { Histogram } from '../../observability/histogram.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import { exponentialBounds } from '../../observability/metric-registry.ts';

/** What the metrics of the queue read when they are collected. */
export interface QueueSources {
  /** Pods by queue, members of waiting groups included. */
  readonly pending: () => Readonly<Record<'active' | 'backoff' | 'unschedulable' | 'gated', number>>;
  /** profile and plugin -> pods that it turned away, and that wait because of it; those of a profile that turned none away are 0. */
  readonly unschedulable: () => Iterable<{ readonly plugin: string; readonly profile: string; readonly pods: number }>;
  /** Entities that were scheduled when only the safety net retried them, ever. */
  readonly flushed: () => number;
  /** Entities that were rejected because equal ones had been, ever. */
  readonly joined: () => number;
  /** event -> how many are kept for attempts that are under way */
  readonly inFlight: () => ReadonlyMap<string, number>;
}

const watchActions = ['Add', 'Update', 'Delete'] as const;
export type WatchedKind = 'Node' | 'Pod' | 'PodGroup';
export type WatchAction = (typeof watchActions)[number];

/** The queue, and the events that move what is in it. */
export class QueueMetrics {
  readonly #incoming: Counter<'queue' | 'event'>;
  readonly #handling: Histogram<'event'>;

  constructor(registry: MetricRegistry) {
    this.#incoming = new Counter({
      name: 'scheduler_queue_incoming_pods_total',
      help: 'Entities (lone pods, groups) that entered a queue, by queue and event.',
      labelNames: ['queue', 'event'],
      registers: [registry],
    });
    this.#handling = new Histogram({
      name: 'scheduler_event_handling_duration_seconds',
      help: 'Latency in seconds of handling one change that a watch shows: picture, queue and hints.',
      labelNames: ['event'],
      buckets: exponentialBounds(0.0001, 2, 12),
      registry,
    });
  }

  entered(queue: string, event: string): void {
    this.#incoming.inc({ queue, event });
  }

  /** action -> how long handling such a change takes, in seconds */
  handlingOf(kind: WatchedKind): Readonly<Record<WatchAction, HistogramSeries>> {
    const series = watchActions.map((action) => [action, this.#handling.of({ event: `${kind}${action}` })]);
    return Object.fromEntries(series) as Record<WatchAction, HistogramSeries>;
  }
}

/** The metrics of the queue that are read when they are collected. */
export function registerQueueGauges(registry: MetricRegistry, sources: QueueSources): void {
  new Gauge({
    name: 'scheduler_pending_pods',
    help: 'Pods that wait to be scheduled, members of waiting groups included, by queue: active, backoff, unschedulable, gated.',
    labelNames: ['queue'],
    registers: [registry],
    collect() {
      for (const [queue, size] of Object.entries(sources.pending())) this.set({ queue }, size);
    },
  });
  new Gauge({
    name: 'scheduler_unschedulable_pods',
    help: 'Pods that wait because this plugin turned them away, members of groups included; one that several plugins turned away counts for each.',
    labelNames: ['plugin', 'profile'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { plugin, profile, pods } of sources.unschedulable()) this.set({ plugin, profile }, pods);
    },
  });
  new Gauge({
    name: 'scheduler_inflight_events',
    help: 'Events that are kept until attempts that are under way have ended, by event.',
    labelNames: ['event'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [event, count] of sources.inFlight()) this.set({ event }, count);
    },
  });
  readCounter({
    name: 'scheduler_pod_scheduled_after_flush_total',
    help: 'Entities (lone pods, groups) that were scheduled when no event but only the periodic flush had retried them: each is a missed hint.',
    labelNames: [],
    registry,
    read: () => [[{}, sources.flushed()]],
  });
  readCounter({
    name: 'tutti_equal_refusals_total',
    help: 'Entities (lone pods, groups) that were rejected without an attempt, because one that asks for the same had been and nothing had happened since that may help.',
    labelNames: [],
    registry,
    read: () => [[{}, sources.joined()]],
  });
}
