import type { MetricRegistry } from '../observability/metric-registry.ts';
import type { Route } from './route.ts';

/** /metrics: everything in the registry, as Prometheus text. */
export function metricsRoute(registry: MetricRegistry): Route {
  return {
    path: '/metrics',
    answer: async () => ({ status: 200, type: registry.contentType, text: await registry.metrics() }),
  };
}
