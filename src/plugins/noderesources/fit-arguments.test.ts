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

  it('count null as absent', () => {
    expect(readFitArguments({ scoringStrategy: null, ignoredResources: null, ignoredResourceGroups: null })).toEqual(
      defaults,
    );
    expect(
      readFitArguments({ scoringStrategy: { type: 'LeastAllocated', resources: [{ name: 'cpu', weight: null }] } }),
    ).toEqual({ ...defaults, scored: [{ name: 'cpu', weight: 1 }] });
  });

  it.each<[unknown, string]>([
    [[], 'must be an object, not an empty list'],
    [
      { ignoredResource: [] },
      'ignoredResource is not known; did you mean ignoredResources? ' +
        'The fields are ignoredResources, ignoredResourceGroups, scoringStrategy',
    ],
    [{ ignoredResources: 'a' }, 'ignoredResources must be a list, not "a"'],
    [{ ignoredResources: [7] }, 'ignoredResources[0] must be a resource name such as "example.com/gpu", not 7'],
    [{ ignoredResources: ['a b'] }, 'ignoredResources[0] must be a resource name such as "example.com/gpu", not "a b"'],
    [
      { ignoredResourceGroups: ['a', 'b/c'] },
      'ignoredResourceGroups[1] must be what stands before the slash of resource names, such as "example.com", not "b/c"',
    ],
    [{ scoringStrategy: 'x' }, 'scoringStrategy must be an object, not "x"'],
    [{ scoringStrategy: {} }, 'scoringStrategy.type is missing; it must be LeastAllocated or MostAllocated'],
    [
      { scoringStrategy: { type: null } },
      'scoringStrategy.type is missing; it must be LeastAllocated or MostAllocated',
    ],
    [{ scoringStrategy: { type: 'Balanced' } }, 'scoringStrategy.type must be LeastAllocated or MostAllocated'],
    [
      { scoringStrategy: { type: 'RequestedToCapacityRatio' } },
      'scoringStrategy.type must be LeastAllocated or MostAllocated (RequestedToCapacityRatio is not supported yet), ' +
        'not "RequestedToCapacityRatio"',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', requestedToCapacityRatio: { shape: [] } } },
      'scoringStrategy.requestedToCapacityRatio belongs to RequestedToCapacityRatio, which is not supported yet',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', weights: [] } },
      'scoringStrategy.weights is not known; the fields are type, resources',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', resources: [{ name: 'cpu' }, { weight: 1 }] } },
      'scoringStrategy.resources[1].name is missing; it must be a resource name such as "cpu"',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', resources: [{ name: 'cpu', weight: 101 }] } },
      'scoringStrategy.resources[0].weight must be a whole number from 1 to 100, not 101',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', resources: [{ name: 'cpu' }, { name: 'a' }, { name: 'cpu' }] } },
      'scoringStrategy.resources[2] must differ from scoringStrategy.resources[0] in name; both have "cpu"',
    ],
  ])('that are wrong are refused, naming the field: %j', (args, message) => {
    expect(() => readFitArguments(args)).toThrow(`arguments of NodeResourcesFit: ${message}`);
  });
});
