import { Counter, Gauge } from 'prom-client';
import type { Verdict, WaitsFor } from '../../api/verdict.ts';
import { Histogram } from '../../observability/histogram.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import { exponentialBounds } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';
import { readCounter } from '../../observability/read-counter.ts';

/**
 * What an unscheduled group waits for: the waitsFor of its verdict, or the end of its `backoff`. In the active queue, it waits for its `turn`,
 * too.
 */
export type GroupWaitsFor = WaitsFor | 'backoff';

export const groupWaits: readonly GroupWaitsFor[] = [
  'members',
  'gates',
  'turn',
  'backoff',
  'permit',
  'capacity',
  'nodes',
  'never',
  'error',
  'unknown',
];

/**
 * How a repair ended. It starts when a member could not be bound while other members of its group, which never started, are bound.
 * - `completed`: all required members were bound.
 * - `lost`: the group or its bound members were deleted before that.
 */
export type RepairOutcome = 'completed' | 'lost';

/** Values that the group metrics read at collection. */
export interface GangSources {
  /** waitsFor -> number of waiting groups, and seconds for which the oldest of them has been waiting. */
  readonly waiting: () => Readonly<Record<GroupWaitsFor, { readonly groups: number; readonly oldestSeconds: number }>>;
  readonly partial: () => number;
  readonly partialSeconds: () => number;
  readonly repairs: () => Readonly<Record<RepairOutcome, number>>;
}

/** Metrics of groups as a whole, for which kube-scheduler has no name. */
export class GangMetrics {
  readonly #whole: HistogramSeries;
  readonly #spread: HistogramSeries;
  readonly #verdictDelay: HistogramSeries;
  readonly #verdicts: Counter<'reason' | 'waits_for'>;
  readonly #released: Counter;

  constructor(registry: MetricRegistry) {
    const registers = [registry];
    this.#whole = new Histogram({
      name: 'tutti_podgroup_whole_seconds',
      help: 'Seconds from when the quorum of a group existed until its last required member was bound. Observed once per group.',
      labelNames: [],
      buckets: exponentialBounds(0.01, 2, 24),
      registry,
    }).of({});
    this.#spread = new Histogram({
      name: 'tutti_podgroup_bind_spread_seconds',
      help: 'Seconds between the first and the last Binding of one plan for a group.',
      labelNames: [],
      buckets: exponentialBounds(0.001, 2, 18),
      registry,
    }).of({});
    this.#verdictDelay = new Histogram({
      name: 'tutti_verdict_delay_seconds',
      help: 'Seconds from the end of an attempt until its verdict was written to the first pod.',
      labelNames: [],
      buckets: exponentialBounds(0.001, 2, 15),
      registry,
    }).of({});
    this.#verdicts = new Counter({
      name: 'tutti_verdicts_total',
      help: 'New verdicts on pods and groups. A verdict that repeats the previous one does not count.',
      labelNames: ['reason', 'waits_for'],
      registers,
    });
    this.#released = new Counter({
      name: 'tutti_podgroups_released_total',
      help: 'Releases: evictions of the members of a partially bound group that Tutti could not complete within its grace period.',
      registers,
    });
  }

  wholeAfter(ms: number): void {
    this.#whole.observe(ms / 1000);
  }

  boundWithin(ms: number): void {
    this.#spread.observe(ms / 1000);
  }

  /** The scheduler released a group that it could not complete. */
  released(): void {
    this.#released.inc();
  }

  verdictReached({ reason, waitsFor }: Verdict): void {
    this.#verdicts.inc({ reason, waits_for: waitsFor });
  }

  verdictWrittenAfter(ms: number): void {
    this.#verdictDelay.observe(ms / 1000);
  }
}

/** Registers the group metrics that read their values at collection. */
export function registerGangGauges(registry: MetricRegistry, sources: GangSources): void {
  const registers = [registry];
  new Gauge({
    name: 'tutti_podgroups_waiting',
    help: 'Pod groups of this scheduler with fewer bound members than they need, by what they wait for.',
    labelNames: ['waits_for'],
    registers,
    collect() {
      for (const [waits_for, { groups }] of Object.entries(sources.waiting())) this.set({ waits_for }, groups);
    },
  });
  new Gauge({
    name: 'tutti_oldest_waiting_seconds',
    help: 'Seconds for which the oldest waiting group has been waiting, by what it waits for now; 0 without one. Counts from when the group was first ready, otherwise from when the scheduler first saw it.',
    labelNames: ['waits_for'],
    registers,
    collect() {
      for (const [waits_for, { oldestSeconds }] of Object.entries(sources.waiting())) {
        this.set({ waits_for }, oldestSeconds);
      }
    },
  });
  new Gauge({
    name: 'tutti_podgroups_partial',
    help: 'Pod groups that never started and have been partially bound for more than a second. 0 in normal operation.',
    registers,
    collect() {
      this.set(sources.partial());
    },
  });
  readCounter({
    name: 'tutti_podgroup_partial_seconds_total',
    help: 'Total seconds for which groups were partially bound, summed over groups; periods shorter than a second do not count. Stays 0 in normal operation.',
    labelNames: [],
    registry,
    read: () => [[{}, sources.partialSeconds()]],
  });
  readCounter({
    name: 'tutti_repairs_total',
    help: 'Repairs that ended, by outcome: completed, or lost (the group or its bound members were deleted). A repair begins when a member of a group cannot be bound while other members are bound.',
    labelNames: ['outcome'],
    registry,
    read: () => Object.entries(sources.repairs()).map(([outcome, count]) => [{ outcome }, count] as const),
  });
}
