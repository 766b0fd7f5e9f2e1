import { expect, it } from 'vitest';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { registerCacheAge } from './cache-age.ts';

it('reports the age only of reflectors that have started', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  const nodes = { silentMs: undefined as number | undefined };
  registerCacheAge(registry, { nodes, pods: { silentMs: 61_500 } });
  expect(await registry.metrics()).not.toContain('resource="nodes"');
  nodes.silentMs = 0;
  const text = await registry.metrics();
  expect(text).toContain('tutti_picture_age_seconds{resource="nodes"} 0\n');
  expect(text).toContain('tutti_picture_age_seconds{resource="pods"} 61.5\n');
});
