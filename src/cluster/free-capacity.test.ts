import { expect, it } from 'vitest';
import { cpuId } from '../api/resource-names.ts';
import { collectGarbage } from '../base/testing/collect-garbage.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { CoreHarness } from '../testkit/core-harness.ts';

it('retains no deleted node, even if the capacity is never read', async () => {
  const harness = new CoreHarness({ plugins: defaultPlugins });
  const gone = Array.from({ length: 20 }, (_, i) => {
    const node = new WeakRef(harness.node({ name: `n${i}`, cpu: 1 }));
    harness.cluster.removeNode(`n${i}`);
    return node;
  });
  // A variable may still refer to the last one.
  await collectGarbage(() => gone.slice(1).every((node) => node.deref() === undefined));
  expect(harness.cluster.capacity.free(cpuId)).toBe(0);
});

it('is exact again after a sum returns to the exact range', () => {
  const harness = new CoreHarness({ plugins: defaultPlugins });
  const { resources, capacity } = harness.cluster;
  const unit = resources.idOf('example.com/unit');
  for (const [name, amount] of Object.entries({ huge: Number.MAX_SAFE_INTEGER, one: 1, other: 1 })) {
    harness.node({ name, allocatable: { 'example.com/unit': amount } });
    expect(capacity.free(unit)).toBe(name === 'huge' ? Number.MAX_SAFE_INTEGER : Infinity);
  }
  harness.cluster.removeNode('huge');
  expect(capacity.free(unit)).toBe(2);
});
