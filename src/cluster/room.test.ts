import { expect, it } from 'vitest';
import { cpuId } from '../api/resource-names.ts';
import { collectGarbage } from '../base/testing/collect-garbage.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { Picture } from '../testkit/picture.ts';

it('holds on to no node that is gone, though nobody asks what is free', async () => {
  const picture = new Picture({ plugins: defaultPlugins });
  const gone = Array.from({ length: 20 }, (_, i) => {
    const node = new WeakRef(picture.node({ name: `n${i}`, cpu: 1 }));
    picture.cluster.removeNode(`n${i}`);
    return node;
  });
  // The last one may still be at hand somewhere.
  await collectGarbage(() => gone.slice(1).every((node) => node.deref() === undefined));
  expect(picture.cluster.room.free(cpuId)).toBe(0);
});

it('is exact again when a sum that was beyond what a number holds is not any more', () => {
  const picture = new Picture({ plugins: defaultPlugins });
  const { resources, room } = picture.cluster;
  const unit = resources.idOf('example.com/unit');
  for (const [name, amount] of Object.entries({ huge: Number.MAX_SAFE_INTEGER, one: 1, other: 1 })) {
    picture.node({ name, allocatable: { 'example.com/unit': amount } });
    expect(room.free(unit)).toBe(name === 'huge' ? Number.MAX_SAFE_INTEGER : Infinity);
  }
  picture.cluster.removeNode('huge');
  expect(room.free(unit)).toBe(2);
});
