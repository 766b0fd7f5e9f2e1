import { expect, it } from 'vitest';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { registerCacheAge } from './cache-age.ts';

it('tells of those that have begun to look', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  const nodes = { silentMs: undefined as number | undefined };
  registerCacheAge(registry, { nodes, pods: { silentMs: 61_500 } });
  expect(await registry.metrics()).not.toContain('resource="nodes"');
  nodes.silentMs = 0;
  const text = await registry.metrics();
  expect(text).toContain('tutti_picture_age_seconds{resource="nodes"} 0\n');
  expect(text).toContain('tutti_picture_age_seconds{resource="pods"} 61.5\n');
});
