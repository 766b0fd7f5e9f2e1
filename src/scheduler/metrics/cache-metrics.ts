import { Gauge } from 'prom-client';
import type { ReservationKind } from '../../cluster/reservation.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';

/** Values that the cache metrics read at collection. */
export interface CacheSources {
  readonly nodes: () => number;
  readonly pods: () => number;
  readonly assumed: () => number;
  /** kind -> number of reservations */
  readonly reservations: () => Readonly<Record<ReservationKind, number>>;
  /** Reserved amounts in base units, one entry per kind and resource. */
  readonly reservedCapacity: () => Iterable<{
    readonly kind: ReservationKind;
    readonly resource: string;
    readonly amount: number;
  }>;
  /** kind -> age in seconds of the oldest reservation of this process; 0 if there is none */
  readonly oldestReservation: () => Readonly<Record<ReservationKind, number>>;
}

/** Metrics of the cluster cache and its reservations. */
export function registerCacheMetrics(registry: MetricRegistry, sources: CacheSources): void {
  const registers = [registry];
  new Gauge({
    name: 'scheduler_cache_size',
    help: 'Number of nodes, pods, and assumed (bound) pods in the scheduler cache.',
    labelNames: ['type'],
    registers,
    collect() {
      this.set({ type: 'nodes' }, sources.nodes());
      this.set({ type: 'pods' }, sources.pods());
      this.set({ type: 'assumed_pods' }, sources.assumed());
    },
  });
  new Gauge({
    name: 'tutti_claims',
    help: 'Pods with capacity reserved on a node, by kind: nomination (preemption is in progress, or another scheduler nominated the node), repair (a member of a partially bound group, or the replacement of a lost member), backfill (the entity that is next, until its predicted start).',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, count] of Object.entries(sources.reservations())) this.set({ kind }, count);
    },
  });
  new Gauge({
    name: 'tutti_reserved_capacity',
    help: 'Capacity reserved on nodes and used by no pod, by kind as in tutti_claims and by resource, in cores, bytes or units.',
    labelNames: ['kind', 'resource'],
    registers,
    collect() {
      this.reset();
      for (const { kind, resource, amount } of sources.reservedCapacity()) this.set({ kind, resource }, amount);
    },
  });
  new Gauge({
    name: 'tutti_oldest_claim_seconds',
    help: 'Age in seconds of the oldest reservation that this process made, by kind; 0 without one. Nominations of other schedulers do not count.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, seconds] of Object.entries(sources.oldestReservation())) this.set({ kind }, seconds);
    },
  });
}
