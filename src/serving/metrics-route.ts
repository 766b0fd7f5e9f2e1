import type { MetricRegistry } from '../observability/metric-registry.ts';
import type { Answer, Route } from './route.ts';

/** Serves /metrics: the whole registry as Prometheus text. Concurrent requests share one result. */
export function metricsRoute(registry: MetricRegistry): Route {
  let writing: Promise<Answer> | undefined;
  const write = async (): Promise<Answer> => ({
    status: 200,
    type: registry.contentType,
    text: await registry.metrics(),
  });
  return {
    path: '/metrics',
    answer: () => (writing ??= write().finally(() => (writing = undefined))),
  };
}
