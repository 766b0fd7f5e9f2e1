import { Counter, Gauge } from 'prom-client';
import type { Verdict, WaitsFor } from '../../api/verdict.ts';
import { Histogram } from '../../observability/histogram.ts';
import type { HistogramSeries } from '../../observability/histogram.ts';
import { exponentialBounds } from '../../observability/metric-registry.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';
import { readCounter } from '../../observability/read-counter.ts';

/**
 * What a group that is not on nodes yet waits for, in one word: that of its verdict, its `turn` in the queue, or the end of a
 * `backoff`.
 */
export type GroupWaitsFor = WaitsFor | 'turn' | 'backoff';

export const groupWaits: readonly GroupWaitsFor[] = [
  'members',
  'gates',
  'turn',
  'backoff',
  'permit',
  'capacity',
  'never',
  'error',
  'unknown',
];

/**
 * How a repair ended. It begins when a member could not be bound while others of its group, which never started, are on nodes.
 * - `completed`: all that were needed got a node.
 * - `lost`: the group, or those that were on nodes, went before that.
 */
export type RepairOutcome = 'completed' | 'lost';

/** What the metrics of groups read when they are collected. */
export interface GangSources {
  /** Groups that wait, and for how many seconds the one has that has been waiting longest. */
  readonly waiting: () => Readonly<Record<GroupWaitsFor, { readonly groups: number; readonly oldestSeconds: number }>>;
  readonly partial: () => number;
  readonly partialSeconds: () => number;
  readonly repairs: () => Readonly<Record<RepairOutcome, number>>;
}

/** Groups as a whole: what kube-scheduler has no name for. */
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
      help: 'Seconds from the moment at which the quorum of a group existed until the last member of it was bound. A group counts once.',
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
      help: 'Seconds from the end of an attempt until its verdict was on the first of the pods that it concerns.',
      labelNames: [],
      buckets: exponentialBounds(0.001, 2, 15),
      registry,
    }).of({});
    this.#verdicts = new Counter({
      name: 'tutti_verdicts_total',
      help: 'Verdicts that were reached on pods and groups, each time that one differs from the one before.',
      labelNames: ['reason', 'waits_for'],
      registers,
    });
    this.#released = new Counter({
      name: 'tutti_podgroups_released_total',
      help: 'How often members of a group were evicted because it was on nodes in part and could not be completed within its grace.',
      registers,
    });
  }

  wholeAfter(ms: number): void {
    this.#whole.observe(ms / 1000);
  }

  boundWithin(ms: number): void {
    this.#spread.observe(ms / 1000);
  }

  /** A group that could not be completed gives its nodes back. */
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

/** The metrics of groups that are read when they are collected. */
export function registerGangGauges(registry: MetricRegistry, sources: GangSources): void {
  const registers = [registry];
  new Gauge({
    name: 'tutti_podgroups_waiting',
    help: 'Pod groups of this scheduler that are not on nodes as far as they need, by what they wait for.',
    labelNames: ['waits_for'],
    registers,
    collect() {
      for (const [waits_for, { groups }] of Object.entries(sources.waiting())) this.set({ waits_for }, groups);
    },
  });
  new Gauge({
    name: 'tutti_oldest_waiting_seconds',
    help: 'For how long the group has been waiting that has been longest, by what it waits for now; 0 when none waits. Counts from when it was first ready, or else first known.',
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
    help: 'Pod groups that never started and have had some members on nodes, but fewer than they need, for more than a second. 0 in peace.',
    registers,
    collect() {
      this.set(sources.partial());
    },
  });
  readCounter({
    name: 'tutti_podgroup_partial_seconds_total',
    help: 'Seconds that groups have been on nodes in part, added up over groups; shorter than a second does not count. Stays 0 in peace.',
    labelNames: [],
    registry,
    read: () => [[{}, sources.partialSeconds()]],
  });
  readCounter({
    name: 'tutti_repairs_total',
    help: 'Repairs of groups of which a member could not be bound while others were, by how they ended: completed, or lost (the group or its bound members went).',
    labelNames: ['outcome'],
    registry,
    read: () => Object.entries(sources.repairs()).map(([outcome, count]) => [{ outcome }, count] as const),
  });
}
