import { Counter, Gauge } from 'prom-client';
import type { MetricRegistry } from '../../observability/metric-registry.ts';
import { readCounter } from '../../observability/read-counter.ts';
import { Histogram } from '../../observability/histogram.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import { exponentialBounds } from '../../observability/metric-registry.ts';

/** Values that the queue metrics read at collection. */
export interface QueueSources {
  /** Pods by queue, including members of waiting groups. */
  readonly pending: () => Readonly<Record<'active' | 'backoff' | 'unschedulable' | 'gated', number>>;
  /** Pods that wait because of a rejection, by profile and plugin; plugins without such pods have 0. */
  readonly unschedulable: () => Iterable<{ readonly plugin: string; readonly profile: string; readonly pods: number }>;
  /** Total number of entities that were scheduled after only the periodic flush had retried them. */
  readonly flushed: () => number;
  /** Total number of entities that were rejected with their equivalence class, without an attempt. */
  readonly joined: () => number;
  /** event -> number of events kept for attempts in progress */
  readonly inFlight: () => ReadonlyMap<string, number>;
}

const watchActions = ['Add', 'Update', 'Delete'] as const;
export type WatchedKind = 'Node' | 'Pod' | 'PodGroup';
export type WatchAction = (typeof watchActions)[number];

/** Metrics of the queue and of the events that move its entities. */
export class QueueMetrics {
  readonly #incoming: Counter<'queue' | 'event'>;
  readonly #handling: Histogram<'event'>;

  constructor(registry: MetricRegistry) {
    this.#incoming = new Counter({
      name: 'scheduler_queue_incoming_pods_total',
      help: 'Entities (pods without a group, or groups) that entered a queue, by queue and event.',
      labelNames: ['queue', 'event'],
      registers: [registry],
    });
    this.#handling = new Histogram({
      name: 'scheduler_event_handling_duration_seconds',
      help: 'Latency in seconds of handling one watch change: cluster cache, queue and hints.',
      labelNames: ['event'],
      buckets: exponentialBounds(0.0001, 2, 12),
      registry,
    });
  }

  entered(queue: string, event: string): void {
    this.#incoming.inc({ queue, event });
  }

  /** Returns action -> seconds of handling a change of this kind. */
  handlingOf(kind: WatchedKind): Readonly<Record<WatchAction, HistogramSeries>> {
    const series = watchActions.map((action) => [action, this.#handling.of({ event: `${kind}${action}` })]);
    return Object.fromEntries(series) as Record<WatchAction, HistogramSeries>;
  }
}

/** Registers the queue metrics that read their values at collection. */
export function registerQueueGauges(registry: MetricRegistry, sources: QueueSources): void {
  new Gauge({
    name: 'scheduler_pending_pods',
    help: 'Pods that wait to be scheduled, including members of waiting groups, by queue: active, backoff, unschedulable, gated.',
    labelNames: ['queue'],
    registers: [registry],
    collect() {
      for (const [queue, size] of Object.entries(sources.pending())) this.set({ queue }, size);
    },
  });
  new Gauge({
    name: 'scheduler_unschedulable_pods',
    help: 'Pods that wait because this plugin rejected them, including members of groups. A pod counts for each plugin that rejected it.',
    labelNames: ['plugin', 'profile'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { plugin, profile, pods } of sources.unschedulable()) this.set({ plugin, profile }, pods);
    },
  });
  new Gauge({
    name: 'scheduler_inflight_events',
    help: 'Events that the queue keeps until the attempts in progress end, by event.',
    labelNames: ['event'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [event, count] of sources.inFlight()) this.set({ event }, count);
    },
  });
  readCounter({
    name: 'scheduler_pod_scheduled_after_flush_total',
    help: 'Entities (pods without a group, or groups) scheduled after the periodic flush, not an event, requeued them. Each is a missed queueing hint.',
    labelNames: [],
    registry,
    read: () => [[{}, sources.flushed()]],
  });
  readCounter({
    name: 'tutti_equal_refusals_total',
    help: 'Entities (pods without a group, or groups) that Tutti rejected without an attempt, because it had rejected an equivalent entity and no event since then may help.',
    labelNames: [],
    registry,
    read: () => [[{}, sources.joined()]],
  });
}
