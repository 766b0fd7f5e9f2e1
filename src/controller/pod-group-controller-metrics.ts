import { Counter, Gauge } from 'prom-client';
import { podGroupPhaseOf, podGroupPhases } from '../api/pod-group.ts';
import type { PodGroup } from '../api/pod-group.ts';
import { ConflictError, NotFoundError } from '../client/api-errors.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { WorkQueueMetrics } from './work-queue/work-queue-metrics.ts';

/**
 * - unchanged: the status was already correct; nothing was written.
 * - patched: the status was written.
 * - conflict: the group changed in the meantime; it is reconciled again.
 * - gone: the group no longer exists.
 * - error: the write failed; it is retried after a backoff.
 */
export type ReconcileResult = 'unchanged' | 'patched' | 'conflict' | 'gone' | 'error';

export class PodGroupControllerMetrics {
  readonly queue: WorkQueueMetrics;
  readonly #reconciles: Counter<'result'>;

  /** Reads `groups` when metrics are collected. */
  constructor(registry: MetricRegistry, groups: () => Iterable<PodGroup>) {
    this.queue = new WorkQueueMetrics(registry);
    this.#reconciles = new Counter({
      name: 'tutti_podgroup_reconciles_total',
      help: 'Number of times that the controller derived the status of a PodGroup from its members, by result.',
      labelNames: ['result'],
      registers: [registry],
    });
    new Gauge({
      name: 'tutti_podgroups',
      help: 'Number of PodGroups, by the phase in their status.',
      labelNames: ['phase'],
      registers: [registry],
      collect(): void {
        // phase -> groups
        const counts = new Map<string, number>(podGroupPhases.map((phase) => [phase, 0]));
        for (const group of groups()) {
          const phase = podGroupPhaseOf(group.status) ?? 'Unknown';
          counts.set(phase, counts.get(phase)! + 1);
        }
        for (const [phase, count] of counts) this.set({ phase }, count);
      },
    });
  }

  /** Counts the result of a reconciliation. Resolves if the group is gone, and otherwise rejects as it does. */
  async observe(reconcile: () => Promise<ReconcileResult>): Promise<void> {
    let result: ReconcileResult = 'error';
    try {
      result = await reconcile();
    } catch (error) {
      if (error instanceof NotFoundError) result = 'gone';
      else {
        if (error instanceof ConflictError) result = 'conflict';
        throw error;
      }
    } finally {
      this.#reconciles.inc({ result });
    }
  }
}
