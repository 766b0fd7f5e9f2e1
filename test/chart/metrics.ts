import { parser } from '@prometheus-io/lezer-promql';
import { everyMetric } from '../../scripts/metrics/every-metric.ts';
import { createMetricRegistry } from '../../src/observability/metric-registry.ts';

/** Metrics of Prometheus itself. */
export const metricsOfPrometheus: ReadonlySet<string> = new Set(['up']);

/** Returns metric -> its type, for all that the two processes export. */
export async function exportedMetrics(): Promise<ReadonlyMap<string, string>> {
  const { scheduler, controller } = everyMetric();
  const ofNode = await createMetricRegistry({ processMetrics: true }).getMetricsAsJSON();
  return new Map([...scheduler, ...controller, ...ofNode].map(({ name, type }) => [name, String(type)]));
}

/**
 * Returns the selectors in a PromQL expression with the exported name of each metric: `x_bucket` of a histogram is `x`. Throws if
 * Prometheus could not parse the expression.
 */
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
  return exported.get(base) === 'histogram' ? base : name;
}
