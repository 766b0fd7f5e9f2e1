import { describe, expect, it } from 'vitest';
import { readFitArguments } from './fit-arguments.ts';

const defaults = {
  strategy: 'LeastAllocated',
  scored: [
    { name: 'cpu', weight: 1 },
    { name: 'memory', weight: 1 },
  ],
  ignoredResources: [],
  ignoredResourceGroups: [],
};

describe('arguments of NodeResourcesFit', () => {
  it("have kube-scheduler's defaults", () => {
    expect(readFitArguments(undefined)).toEqual(defaults);
    expect(readFitArguments({ kind: 'NodeResourcesFitArgs', apiVersion: 'kubescheduler.config.k8s.io/v1' })).toEqual(
      defaults,
    );
    expect(readFitArguments({ scoringStrategy: { type: 'MostAllocated', resources: [] } })).toEqual({
      ...defaults,
      strategy: 'MostAllocated',
    });
  });

  it('are read', () => {
    const resources = [{ name: 'cpu' }, { name: 'example.com/gpu', weight: 100 }];
    expect(
      readFitArguments({
        scoringStrategy: { type: 'LeastAllocated', resources },
        ignoredResources: ['example.com/slot'],
        ignoredResourceGroups: ['fpga.example'],
      }),
    ).toEqual({
      strategy: 'LeastAllocated',
      scored: [
        { name: 'cpu', weight: 1 },
        { name: 'example.com/gpu', weight: 100 },
      ],
      ignoredResources: ['example.com/slot'],
      ignoredResourceGroups: ['fpga.example'],
    });
  });

  it.each<[unknown, string]>([
    [[], 'must be an object, not []'],
    [
      { ignoredResource: [] },
      'ignoredResource is not known; it takes ignoredResources, ignoredResourceGroups, scoringStrategy',
    ],
    [{ ignoredResources: 'a' }, 'ignoredResources must be a list, not "a"'],
    [{ ignoredResources: [7] }, 'ignoredResources[0] must be a name, not 7'],
    [{ ignoredResourceGroups: ['a', 'b/c'] }, 'ignoredResourceGroups[1] must not contain a slash'],
    [{ scoringStrategy: 'x' }, 'scoringStrategy must be an object, not "x"'],
    [{ scoringStrategy: {} }, 'scoringStrategy.type must be LeastAllocated or MostAllocated, not undefined'],
    [{ scoringStrategy: { type: 'Balanced' } }, 'scoringStrategy.type must be LeastAllocated or MostAllocated'],
    [
      { scoringStrategy: { type: 'RequestedToCapacityRatio' } },
      'scoringStrategy.type RequestedToCapacityRatio is not supported yet',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', requestedToCapacityRatio: { shape: [] } } },
      'scoringStrategy.requestedToCapacityRatio belongs to RequestedToCapacityRatio, not to LeastAllocated',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', weights: [] } },
      'scoringStrategy.weights is not known; it takes type, resources',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', resources: [{ name: 'cpu' }, { weight: 1 }] } },
      'scoringStrategy.resources[1].name must be a resource name',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', resources: [{ name: 'cpu', weight: 101 }] } },
      'scoringStrategy.resources[0].weight must be a whole number from 1 to 100, not 101',
    ],
  ])('that are wrong are refused, naming the field: %j', (args, message) => {
    expect(() => readFitArguments(args)).toThrow(`arguments of NodeResourcesFit: ${message}`);
  });
});
