import type { MetricRegistry } from '../observability/metric-registry.ts';
import type { Answer, Route } from './route.ts';

/** /metrics: everything in the registry, as Prometheus text. Who asks while it is being written gets the same text. */
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
