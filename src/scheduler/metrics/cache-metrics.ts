import { Gauge } from 'prom-client';
import type { Reservation } from '../../cluster/reservation.ts';
import type { MetricRegistry } from '../../observability/metric-registry.ts';

/** What the metrics of the picture read when they are collected. */
export interface CacheSources {
  readonly nodes: () => number;
  readonly pods: () => number;
  readonly assumed: () => number;
  /** kind -> claims */
  readonly reservations: () => Readonly<Record<Reservation['kind'], number>>;
  /** kind -> seconds for which the oldest that this process made has been standing; 0 when there is none */
  readonly oldestReservation: () => Readonly<Record<Reservation['kind'], number>>;
}

/** The scheduler's picture of the cluster, and the room that is kept in it. */
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
    help: 'Pods that room on a node is kept for, by kind: nomination (room that is being made, also by other schedulers), repair (a member of a group that is bound in part).',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, count] of Object.entries(sources.reservations())) this.set({ kind }, count);
    },
  });
  new Gauge({
    name: 'tutti_oldest_claim_seconds',
    help: 'For how long this process has been keeping the room that it keeps longest, by kind; 0 when it keeps none. Nominations of other schedulers are not counted.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, seconds] of Object.entries(sources.oldestReservation())) this.set({ kind }, seconds);
    },
  });
}
