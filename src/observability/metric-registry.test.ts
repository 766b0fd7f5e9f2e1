import { Counter } from 'prom-client';
import { expect, it } from 'vitest';
import { createMetricRegistry, exponentialBounds } from './metric-registry.ts';

it('separates the metrics of two registries', async () => {
  const [first, second] = [
    createMetricRegistry({ processMetrics: false }),
    createMetricRegistry({ processMetrics: false }),
  ];
  const define = (registry: typeof first): Counter =>
    new Counter({ name: 'x_total', help: 'X.', registers: [registry] });
  define(first).inc(2);
  define(second).inc(5);
  expect(await first.metrics()).toContain('x_total 2');
  expect(await second.metrics()).toContain('x_total 5');
});

it('adds process metrics only on request', async () => {
  expect(await createMetricRegistry({ processMetrics: false }).metrics()).not.toContain('process_cpu');
  expect(await createMetricRegistry({ processMetrics: true }).metrics()).toContain('process_cpu_seconds_total');
});

it('omits metrics that require continuous sampling of the event loop', async () => {
  const text = await createMetricRegistry({ processMetrics: true }).metrics();
  const lags = text.split('\n').filter((line) => line.startsWith('nodejs_eventloop_lag'));
  expect(lags).toEqual([expect.stringMatching(/^nodejs_eventloop_lag_seconds /)]);
});

it("computes the bounds of Kubernetes' histograms", () => {
  expect(exponentialBounds(0.001, 2, 4)).toEqual([0.001, 0.002, 0.004, 0.008]);
});
