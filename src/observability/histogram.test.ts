import { expect, it } from 'vitest';
import { Histogram as PromHistogram } from 'prom-client';
import { Histogram } from './histogram.ts';
import { createMetricRegistry, exponentialBounds } from './metric-registry.ts';

const options = { name: 'x_seconds', help: 'Help.', labelNames: ['a', 'b'] as const, buckets: [0.1, 1, 10] };

it('exports the same text as a prom-client histogram', async () => {
  const [ours, theirs] = [1, 2].map(() => createMetricRegistry({ processMetrics: false }));
  const own = new Histogram({ ...options, registry: ours! });
  const other = new PromHistogram({ ...options, labelNames: ['a', 'b'], registers: [theirs!] });
  for (const [a, b, value] of [
    ['1', 'x', 0.05],
    ['1', 'x', 0.1],
    ['1', 'x', 10.5],
    ['"\n\\', 'y', 1],
  ] as const) {
    own.of({ a, b }).observe(value);
    other.observe({ a, b }, value);
  }
  const lines = (text: string): string[] =>
    text
      .split('\n')
      .map((line) => line.replace(/\{le="([^"]+)",(.*)\}/, '{$2,le="$1"}'))
      .sort();
  expect(lines(await ours!.metrics())).toEqual(lines(await theirs!.metrics()));
});

it('counts NaN and negative values as 0', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  const series = new Histogram({ ...options, labelNames: [], registry }).of({});
  for (const value of [NaN, -5, -Infinity, 0.5]) series.observe(value);
  const text = await registry.metrics();
  expect(text).toContain('x_seconds_sum 0.5');
  expect(text).toContain('x_seconds_bucket{le="0.1"} 3');
  expect(text).toContain('x_seconds_count 4');
});

it('returns the same series for the same labels, even after a reset', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  const histogram = new Histogram({ ...options, buckets: exponentialBounds(1, 2, 3), registry });
  const series = histogram.of({ a: '1', b: '2' });
  expect(histogram.of({ b: '2', a: '1' })).toBe(series);
  series.observe(1);
  registry.resetMetrics();
  series.observe(3);
  expect(await registry.metrics()).toContain('x_seconds_sum{a="1",b="2"} 3');
});

it('rejects a name that is already registered', () => {
  const registry = createMetricRegistry({ processMetrics: false });
  new Histogram({ ...options, registry });
  expect(() => new Histogram({ ...options, registry })).toThrow('already been registered');
});
