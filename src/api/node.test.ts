import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import type { NodeOptions } from '../testkit/builders/node.ts';
import { nodesEqualForScheduling } from './node.ts';

const build = new Builders();
const options: NodeOptions = {
  name: 'a',
  cpu: 4,
  labels: { zone: 'z1', disk: 'ssd' },
  taints: ['dedicated=ml:NoSchedule', 'old:PreferNoSchedule'],
  allocatable: { 'example.com/gpu': 2 },
};

describe('nodesEqualForScheduling', () => {
  it('ignores heartbeats', () => {
    const before = build.projectedNode(options);
    const after = build.projectedNode(options);
    expect(after.resourceVersion).not.toBe(before.resourceVersion);
    expect(nodesEqualForScheduling(before, after)).toBe(true);
  });

  it('ignores the order of labels', () => {
    const after = build.projectedNode({ ...options, labels: { disk: 'ssd', zone: 'z1' } });
    expect(nodesEqualForScheduling(build.projectedNode(options), after)).toBe(true);
  });

  it.each<[string, NodeOptions]>([
    ['a label has another value', { labels: { zone: 'z2', disk: 'ssd' } }],
    ['a label is removed', { labels: { zone: 'z1' } }],
    ['a label is added', { labels: { zone: 'z1', disk: 'ssd', gpu: 'a' } }],
    ['a label has another name', { labels: { zone: 'z1', drive: 'ssd' } }],
    ['a taint is removed', { taints: ['dedicated=ml:NoSchedule'] }],
    ['a taint is added', { taints: ['dedicated=ml:NoSchedule', 'old:PreferNoSchedule', 'x:NoExecute'] }],
    ['a taint has another key', { taints: ['reserved=ml:NoSchedule', 'old:PreferNoSchedule'] }],
    ['a taint has another value', { taints: ['dedicated=web:NoSchedule', 'old:PreferNoSchedule'] }],
    ['a taint has another effect', { taints: ['dedicated=ml:NoExecute', 'old:PreferNoSchedule'] }],
    ['the node is cordoned', { unschedulable: true }],
    ['the node has more of a resource', { cpu: 5 }],
    ['the node has another number of pod slots', { pods: 111 }],
    ['a resource is removed', { allocatable: {} }],
    ['a resource is added', { allocatable: { 'example.com/gpu': 2, 'example.com/fpga': 2 } }],
    ['a resource is replaced', { allocatable: { 'example.com/fpga': 2 } }],
  ])('returns false in both directions if %s', (_what, change) => {
    const [before, after] = [build.projectedNode(options), build.projectedNode({ ...options, ...change })];
    expect([nodesEqualForScheduling(before, after), nodesEqualForScheduling(after, before)]).toEqual([false, false]);
  });
});
