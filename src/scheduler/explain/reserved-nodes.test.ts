import { expect, it } from 'vitest';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

it('WI18: names each of two groups that keep a node for a lost member', async () => {
  const c = new Scheduling({ plugins: defaultPlugins });
  for (const name of ['a', 'b', 'c', 'd']) c.node({ name, cpu: 1 });
  for (const group of ['red', 'blue']) {
    c.group({ name: group, minMember: 2 });
    c.members(2, { group, cpu: 1 });
    while ((await c.attempt()) !== undefined);
    await c.accept(`${group}-0`);
    const { name: nodeName } = c.harness.cluster.nodeOf(c.harness.cluster.pod(`${group}-0`)!)!;
    c.change(`${group}-0`, { nodeName, plannedGroupUid: group });
    await c.reject(`${group}-1`, 'no');
    c.change(`${group}-1`, { schedulingGates: ['later'] });
  }
  c.group({ name: 'green', minMember: 1 });
  c.members(1, { group: 'green', cpu: 1 });
  while ((await c.attempt()) !== undefined);
  const { blocker } = c.harness.core.explainNow({ namespace: 'default', name: 'green' })!;
  expect(blocker!.funnel).toMatchObject([
    { removed: 2, rejections: [{ code: 'InsufficientResource' }] },
    { removed: 2, left: 0, rejections: [{ code: 'ReservedForOther' }] },
  ]);
  const reserved = blocker!.nearest.slice(0, 2);
  expect(reserved.map(({ rejections, missing }) => [rejections[0]!.code, missing])).toEqual([
    ['ReservedForOther', {}],
    ['ReservedForOther', {}],
  ]);
  expect(reserved.flatMap(({ heldBy }) => heldBy.map(({ name }) => name)).sort()).toEqual(['blue', 'red']);
});
