import { parser } from '@prometheus-io/lezer-promql';
import { PodGroupControllerMetrics } from '../../src/controller/pod-group-controller-metrics.ts';
import { createMetricRegistry } from '../../src/observability/metric-registry.ts';
import { SchedulerMetrics } from '../../src/scheduler/scheduler-metrics.ts';

/** Metrics that alerts and dashboard ask for and no process has yet; a test sees to it that one leaves this list as it arrives. */
export const metricsToCome: ReadonlySet<string> = new Set([
  'leader_election_master_status',
  'tutti_claims',
  'tutti_crd_compatible',
  'tutti_loop_stall_seconds',
  'tutti_oldest_claim_seconds',
  'tutti_oldest_waiting_seconds',
  'tutti_picture_age_seconds',
  'tutti_podgroup_bind_spread_seconds',
  'tutti_podgroup_whole_seconds',
  'tutti_podgroups_partial',
  'tutti_podgroups_waiting',
  'tutti_repairs_total',
  'tutti_verdict_delay_seconds',
]);

/** Made by Prometheus itself. */
export const metricsOfPrometheus: ReadonlySet<string> = new Set(['up']);

/** Metric -> its type, of all that the two processes export. */
export async function exportedMetrics(): Promise<ReadonlyMap<string, string>> {
  const none = (): number => 0;
  const queue = (): Record<'active' | 'backoff' | 'unschedulable' | 'gated', number> => ({
    active: 0,
    backoff: 0,
    unschedulable: 0,
    gated: 0,
  });
  const scheduler = createMetricRegistry({ processMetrics: true });
  new SchedulerMetrics(scheduler, { queue, flushed: none, nodes: none, pods: none, assumed: none });
  const controller = createMetricRegistry({ processMetrics: true });
  new PodGroupControllerMetrics(controller, () => []);
  const all = await Promise.all([scheduler, controller].map((registry) => registry.getMetricsAsJSON()));
  return new Map(all.flat().map(({ name, type }) => [name, String(type)]));
}

/** The selectors in a PromQL expression, and the metric that each reads, as it is exported: `x_bucket` of a histogram is `x`. Throws for what Prometheus would not parse. */
export function selectorsIn(
  expression: string,
  exported: ReadonlyMap<string, string>,
): readonly { readonly metric: string; readonly matchers: readonly string[] }[] {
  const found: { metric: string; matchers: string[] }[] = [];
  parser.parse(expression).iterate({
    enter({ name, type, from, to }) {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`not PromQL at character ${from}: ${expression}`);
      if (name === 'VectorSelector') found.push({ metric: '', matchers: [] });
      if (name === 'Identifier') found.at(-1)!.metric = baseOf(text, exported);
      if (name === 'UnquotedLabelMatcher') found.at(-1)!.matchers.push(text);
    },
  });
  return found;
}

function baseOf(name: string, exported: ReadonlyMap<string, string>): string {
  const base = name.replace(/_(bucket|sum|count)$/, '');
  return exported.get(base) === 'histogram' || metricsToCome.has(base) ? base : name;
}
