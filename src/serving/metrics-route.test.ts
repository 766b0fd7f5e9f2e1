import { Counter } from 'prom-client';
import { expect, it } from 'vitest';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { metricsRoute } from './metrics-route.ts';

const noQuery = new URLSearchParams();

it('serves the current metrics as Prometheus text', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  const attempts = new Counter({ name: 'attempts_total', help: 'Attempts.', registers: [registry] });
  const route = metricsRoute(registry);
  expect(route.path).toBe('/metrics');
  attempts.inc(3);
  const answered = await route.answer(noQuery);
  expect(answered).toMatchObject({ status: 200, type: registry.contentType });
  expect(answered.text).toContain('attempts_total 3');
});

it('fails if a metric fails', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  const collect = (): never => {
    throw new Error('cannot count');
  };
  new Counter({ name: 'broken_total', help: 'Broken.', registers: [registry], collect });
  await expect(metricsRoute(registry).answer(noQuery)).rejects.toThrow('cannot count');
});
