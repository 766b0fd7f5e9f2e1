import { describe, expect, it } from 'vitest';
import { Builders } from '../../testkit/builders/builders.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import { pluginHandle } from '../../../test/builders/plugin-handle.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { CycleState } from '../../framework/cycle-state.ts';
import { createNodeResourcesFit } from './node-resources-fit.ts';

const build = new Builders();
const handle = pluginHandle(build);

function score(strategy: object | undefined, pod: PodOptions, node: NodeOptions, running: PodOptions[] = []): number {
  const plugin = createNodeResourcesFit({ scoringStrategy: strategy }, handle);
  return plugin.score!(new CycleState(), build.projectedPod(pod), build.nodeInfo(node, running));
}

const byGpu = (type: string): object => ({
  type,
  resources: [
    { name: 'example.com/gpu', weight: 3 },
    { name: 'cpu', weight: 1 },
  ],
});

describe('LeastAllocated', () => {
  it('averages the shares of CPU and memory that stay free with the pod on the node', () => {
    // 3 of 4 cores and 8 of 16 GiB stay free: (75 + 50) / 2, rounded down.
    expect(score(undefined, { cpu: 1, memory: '8Gi' }, { cpu: 4, memory: '16Gi' })).toBe(62);
  });

  it('counts running pods', () => {
    const node = { cpu: 10, memory: '10Gi' };
    expect(score(undefined, { cpu: 1, memory: '1Gi' }, node, [{ cpu: 4, memory: '2Gi' }])).toBe(60);
  });

  it('counts 100m and 200Mi for a container without requests, of the incoming pod and of running pods', () => {
    expect(score(undefined, {}, { cpu: 1, memory: '2000Mi' }, [{}, {}])).toBe(70);
  });

  it('scores 0 for a resource that would be overcommitted', () => {
    expect(score(undefined, { cpu: 5, memory: '8Gi' }, { cpu: 4, memory: '16Gi' })).toBe(25);
  });

  it('rounds down the score of each resource, then their mean', () => {
    // cpu 66.6 -> 66, memory 33.3 -> 33
    expect(score(undefined, { cpu: 1, memory: '2Gi' }, { cpu: 3, memory: '3Gi' })).toBe(49);
  });

  it('applies weights, and ignores extended resources that the pod does not request', () => {
    const node = { cpu: 4, allocatable: { 'example.com/gpu': 4 } };
    expect(score(byGpu('LeastAllocated'), { cpu: 2, requests: { 'example.com/gpu': 4 } }, node)).toBe(12);
    expect(score(byGpu('LeastAllocated'), { cpu: 2 }, node)).toBe(50);
  });

  it('counts used ephemeral storage even for a pod that requests none', () => {
    const strategy = { type: 'LeastAllocated', resources: [{ name: 'ephemeral-storage' }] };
    const node = { allocatable: { 'ephemeral-storage': '100Gi' } };
    expect(score(strategy, {}, node, [{ requests: { 'ephemeral-storage': '25Gi' } }])).toBe(75);
  });

  it('ignores resources that the node does not have', () => {
    expect(score(byGpu('LeastAllocated'), { cpu: 1, requests: { 'example.com/gpu': 1 } }, { cpu: 4 })).toBe(75);
    expect(score(undefined, {}, { cpu: 0, memory: 0 })).toBe(0);
  });
});

describe('MostAllocated', () => {
  it('averages the used shares, each at most 100', () => {
    const node = { cpu: 4, allocatable: { 'example.com/gpu': 4 } };
    expect(score(byGpu('MostAllocated'), { cpu: 2, requests: { 'example.com/gpu': 3 } }, node)).toBe(68);
    expect(score({ type: 'MostAllocated' }, { cpu: 9, memory: '8Gi' }, { cpu: 4, memory: '16Gi' })).toBe(75);
  });
});

it('scores alternating pods of different templates correctly', () => {
  const plugin = createNodeResourcesFit(undefined, handle);
  const [small, large] = [build.projectedPod({ cpu: 1, memory: 0 }), build.projectedPod({ cpu: 2, memory: 0 })];
  const node = build.nodeInfo({ cpu: 4 });
  const scores = [small, large, small].map((pod) => plugin.score!(new CycleState(), pod, node));
  expect(scores).toEqual([87, 75, 87]);
});

describe('RequestedToCapacityRatio', () => {
  const ratio = (...points: readonly (readonly [utilization: number, score: number])[]): object => ({
    type: 'RequestedToCapacityRatio',
    resources: [{ name: 'cpu', weight: 1 }],
    requestedToCapacityRatio: { shape: points.map(([utilization, score]) => ({ utilization, score })) },
  });
  const used = (cpu: number, strategy: object): number => score(strategy, { cpu }, { cpu: 10 });

  it('interpolates between the points and multiplies by ten', () => {
    const packing = ratio([0, 0], [100, 10]);
    expect([1, 5, 10].map((cpu) => used(cpu, packing))).toEqual([10, 50, 100]);
    const spreading = ratio([0, 10], [50, 10], [100, 0]);
    expect([1, 5, 6, 10].map((cpu) => used(cpu, spreading))).toEqual([100, 100, 80, 0]);
  });

  it('is constant before the first point and after the last', () => {
    const middle = ratio([40, 2], [60, 8]);
    expect([1, 4, 5, 6, 9].map((cpu) => used(cpu, middle))).toEqual([20, 20, 50, 80, 80]);
  });

  it('rounds toward the earlier point', () => {
    const [up, down] = [ratio([0, 0], [30, 10]), ratio([0, 10], [30, 0])];
    expect([1, 2].map((cpu) => used(cpu, up))).toEqual([33, 66]);
    expect([1, 2].map((cpu) => used(cpu, down))).toEqual([67, 34]);
  });

  it('counts a resource that would be overcommitted as fully used', () => {
    expect(used(11, ratio([0, 0], [100, 7]))).toBe(70);
  });

  it('ignores resources with score 0, and rounds the mean to the nearest integer', () => {
    const both = {
      ...ratio([0, 0], [50, 0], [100, 10]),
      resources: [
        { name: 'cpu', weight: 2 },
        { name: 'memory', weight: 1 },
      ],
    };
    expect(score(both, { cpu: 8, memory: '1Gi' }, { cpu: 10, memory: '10Gi' })).toBe(60);
    expect(score(both, { cpu: 8, memory: '7Gi' }, { cpu: 10, memory: '10Gi' })).toBe(53); // 60, 60 and 40
  });
});

describe('a scored resource', () => {
  it('is never the number of pods', () => {
    const resources = [
      { name: 'pods', weight: 1 },
      { name: 'cpu', weight: 1 },
    ];
    expect(score({ type: 'MostAllocated', resources }, { cpu: 1 }, { cpu: 4, pods: 1 })).toBe(25);
  });

  it('is computed exactly beyond the precision of a double', () => {
    const resources = [{ name: 'memory', weight: 1 }];
    // One byte less than 90%.
    const [memory, used] = [10 * 2 ** 48, 9 * 2 ** 48 - 1];
    expect(score({ type: 'MostAllocated', resources }, { memory: used }, { memory })).toBe(89);
  });
});
