import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { createBalancedAllocation } from './balanced-allocation.ts';

const build = new Builders();
const handle = pluginHandle(build);
const state = new CycleState();

function score(pod: PodOptions, node: NodeOptions, running: PodOptions[] = [], args?: object): number {
  const plugin = createBalancedAllocation(args, handle);
  return plugin.score!(state, build.projectedPod(pod), build.nodeInfo(node, running));
}

describe('NodeResourcesBalancedAllocation', () => {
  it('gives 75 if the pod does not change the balance', () => {
    expect(score({ cpu: 1, memory: '4Gi' }, { cpu: 4, memory: '16Gi' })).toBe(75);
  });

  it('gives more if the pod uses the plentiful resource, and less if it uses the scarce one', () => {
    const node = { cpu: 4, memory: '4Gi' };
    const [cpuHeavy, memoryHeavy] = [{ cpu: 2 }, { memory: '2Gi' }];
    expect(score(memoryHeavy, node, [cpuHeavy])).toBe(87);
    expect(score(cpuHeavy, node, [cpuHeavy])).toBe(62);
  });

  it('counts actual requests, without defaults for containers without requests', () => {
    expect(score({ cpu: 1 }, { cpu: 4, memory: '4Gi' }, [{}, {}])).toBe(score({ cpu: 1 }, { cpu: 4, memory: '4Gi' }));
  });

  it('counts no share above 1', () => {
    expect(score({ cpu: 8, memory: '8Gi' }, { cpu: 4, memory: '4Gi' })).toBe(75);
  });

  it('uses the standard deviation for more than two resources, and ignores extended ones that are not requested', () => {
    const args = { resources: [{ name: 'cpu' }, { name: 'memory' }, { name: 'example.com/gpu' }] };
    const node = { cpu: 4, memory: '4Gi', allocatable: { 'example.com/gpu': 4 } };
    // Shares 1, 0 and 0: a deviation of 0.47. Without the gpu it is 0.5.
    expect(score({ requests: { 'example.com/gpu': 4 } }, node, [], args)).toBe(51);
    expect(score({ cpu: 4 }, node, [], args)).toBe(50);
  });

  it('skips a pod that requests none of the resources', () => {
    const plugin = createBalancedAllocation(undefined, handle);
    expect(plugin.preScore!(state, build.projectedPod(), () => [])).toMatchObject({ code: 'Skip' });
    expect(plugin.preScore!(state, build.projectedPod({ cpu: '1m' }), () => [])).toBeUndefined();
    const ofGpus = createBalancedAllocation({ resources: [{ name: 'example.com/gpu' }] }, handle);
    expect(ofGpus.preScore!(state, build.projectedPod({ cpu: 1 }), () => [])).toMatchObject({ code: 'Skip' });
  });

  it('signs what it reads of the pod', () => {
    const plugin = createBalancedAllocation(undefined, handle);
    const sign = (pod: PodOptions): string | undefined => plugin.sign!(build.projectedPod(pod));
    expect(sign({ cpu: 1, requests: { 'example.com/gpu': 1 } })).toBe(sign({ cpu: '1000m' }));
    expect(sign({ cpu: 1 })).not.toBe(sign({ cpu: 2 }));
    expect(sign({ cpu: 1 })).not.toBe(sign({ memory: 1000 }));
  });

  it.each([
    [
      { resources: [{ name: 'cpu', weight: 2 }] },
      'resources[0].weight must be 1, because all resources have the same weight, not 2',
    ],
    [{ resources: [{ name: 'cpu' }, { name: 'cpu' }] }, 'resources[1] must differ from resources[0] in name'],
  ])('rejects %j', (args, message) => {
    expect(() => createBalancedAllocation(args, handle)).toThrow(message);
  });
});
