import { describe, expect, it } from 'vitest';
import { readFitArguments } from './fit-arguments.ts';

const defaults = {
  strategy: { type: 'LeastAllocated' },
  scored: [
    { name: 'cpu', weight: 1 },
    { name: 'memory', weight: 1 },
  ],
  ignoredResources: [],
  ignoredResourceGroups: [],
};

const strategies = 'LeastAllocated, MostAllocated or RequestedToCapacityRatio';

const ratioOf = (...shape: readonly object[]): object => ({
  scoringStrategy: { type: 'RequestedToCapacityRatio', requestedToCapacityRatio: { shape } },
});

describe('arguments of NodeResourcesFit', () => {
  it("have kube-scheduler's defaults", () => {
    expect(readFitArguments(undefined)).toEqual(defaults);
    expect(readFitArguments({ kind: 'NodeResourcesFitArgs', apiVersion: 'kubescheduler.config.k8s.io/v1' })).toEqual(
      defaults,
    );
    expect(readFitArguments({ scoringStrategy: { type: 'MostAllocated', resources: [] } })).toEqual({
      ...defaults,
      strategy: { type: 'MostAllocated' },
    });
  });

  it('are read with all fields set', () => {
    const resources = [{ name: 'cpu' }, { name: 'example.com/gpu', weight: 100 }];
    expect(
      readFitArguments({
        scoringStrategy: { type: 'LeastAllocated', resources },
        ignoredResources: ['example.com/slot'],
        ignoredResourceGroups: ['fpga.example'],
      }),
    ).toEqual({
      strategy: { type: 'LeastAllocated' },
      scored: [
        { name: 'cpu', weight: 1 },
        { name: 'example.com/gpu', weight: 100 },
      ],
      ignoredResources: ['example.com/slot'],
      ignoredResourceGroups: ['fpga.example'],
    });
  });

  it('are read with a shape whose points omit zeros', () => {
    expect(readFitArguments(ratioOf({ score: 10 }, { utilization: 100 })).strategy).toEqual({
      type: 'RequestedToCapacityRatio',
      shape: [
        { utilization: 0, score: 10 },
        { utilization: 100, score: 0 },
      ],
    });
  });

  it('treat null as absent', () => {
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
      'ignoredResource is not a known field; did you mean ignoredResources? ' +
        'The fields are ignoredResources, ignoredResourceGroups, scoringStrategy',
    ],
    [{ ignoredResources: 'a' }, 'ignoredResources must be a list, not "a"'],
    [{ ignoredResources: [7] }, 'ignoredResources[0] must be a resource name such as "example.com/gpu", not 7'],
    [{ ignoredResources: ['a b'] }, 'ignoredResources[0] must be a resource name such as "example.com/gpu", not "a b"'],
    [
      { ignoredResourceGroups: ['a', 'b/c'] },
      'ignoredResourceGroups[1] must be the part of a resource name before the slash, such as "example.com", not "b/c"',
    ],
    [{ scoringStrategy: 'x' }, 'scoringStrategy must be an object, not "x"'],
    [{ scoringStrategy: {} }, `scoringStrategy.type is missing; it must be ${strategies}`],
    [{ scoringStrategy: { type: null } }, `scoringStrategy.type is missing; it must be ${strategies}`],
    [{ scoringStrategy: { type: 'Balanced' } }, `scoringStrategy.type must be ${strategies}`],
    [
      { scoringStrategy: { type: 'RequestedToCapacityRatio' } },
      'scoringStrategy.requestedToCapacityRatio is missing; the type RequestedToCapacityRatio requires it',
    ],
    [
      ratioOf({ utilization: 0, score: 11 }),
      'scoringStrategy.requestedToCapacityRatio.shape[0].score must be a whole number from 0 to 10, not 11',
    ],
    [
      ratioOf({ utilization: 101, score: 1 }),
      'scoringStrategy.requestedToCapacityRatio.shape[0].utilization must be a whole number from 0 to 100, not 101',
    ],
    [
      ratioOf({ utilization: 50, score: 1 }, { utilization: 50, score: 2 }),
      'scoringStrategy.requestedToCapacityRatio.shape[1].utilization must be greater than 50, the utilization of the previous point, not 50',
    ],
    [
      ratioOf(),
      'scoringStrategy.requestedToCapacityRatio.shape must be a list of at least 1 element, not an empty list',
    ],
    [
      {
        scoringStrategy: {
          type: 'LeastAllocated',
          requestedToCapacityRatio: { shape: [{ utilization: 0, score: 1 }] },
        },
      },
      'scoringStrategy.requestedToCapacityRatio must be absent: ' +
        'only the type RequestedToCapacityRatio uses it, not LeastAllocated',
    ],
    [
      { scoringStrategy: { type: 'LeastAllocated', weights: [] } },
      'scoringStrategy.weights is not a known field; the fields are type, resources, requestedToCapacityRatio',
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
  ])('are rejected with the name of the invalid field: %j', (args, message) => {
    expect(() => readFitArguments(args)).toThrow(`arguments of NodeResourcesFit: ${message}`);
  });
});
