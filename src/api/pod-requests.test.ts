import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { Cluster } from '../cluster/cluster.ts';
import { cpuId } from './resource-names.ts';
import { podRequests } from './pod-requests.ts';
import type { RawRequestSpec, RawRequestStatus } from './pod-requests.ts';
import type { RawResources } from './resource-list.ts';

const asks = (name: string, requests?: RawResources): NonNullable<RawRequestSpec['containers']>[number] => ({
  name,
  resources: requests === undefined ? {} : { requests },
});
const sidecar = (name: string, requests: RawResources): object => ({
  ...asks(name, requests),
  restartPolicy: 'Always',
});

/** Container status with the allocated and the actual amounts. */
const shows = (
  name: string,
  allocated?: RawResources,
  given?: RawResources,
): NonNullable<RawRequestStatus['containerStatuses']>[number] => ({
  name,
  ...(allocated !== undefined && { allocatedResources: allocated }),
  ...(given !== undefined && { resources: { requests: given } }),
});
const pending = (reason: string): RawRequestStatus => ({ conditions: [{ type: 'PodResizePending', reason }] });

function milliCpu(spec: RawRequestSpec, status?: RawRequestStatus): number | undefined {
  return podRequests(spec, status).sum.get('cpu');
}

describe('podRequests', () => {
  it.each<[string, RawRequestSpec, number]>([
    ['the sum of the containers', { containers: [asks('a', { cpu: 1 }), asks('b', { cpu: 2 })] }, 3000],
    [
      'the largest init container, if it needs more',
      { containers: [asks('a', { cpu: 1 })], initContainers: [asks('i', { cpu: 4 }), asks('j', { cpu: 3 })] },
      4000,
    ],
    [
      'the sidecars, and for an init container the sidecars before it',
      {
        containers: [asks('a', { cpu: 1 })],
        initContainers: [sidecar('s', { cpu: 2 }), asks('i', { cpu: 4 }), sidecar('t', { cpu: 1 })],
      },
      6000,
    ],
    [
      'pod-level requests instead of those of the containers',
      { containers: [asks('a', { cpu: 1 })], resources: { requests: { cpu: 5, 'example.com/gpu': 1 } } },
      5000,
    ],
    ['the overhead', { containers: [asks('a', { cpu: 1 })], overhead: { cpu: '250m' } }, 1250],
  ])('counts %s', (_what, spec, expected) => {
    expect(milliCpu(spec)).toBe(expected);
  });

  it('counts only cpu, memory and huge pages at pod level', () => {
    const spec = { containers: [], resources: { requests: { 'hugepages-2Mi': '4Mi', 'example.com/gpu': 1 } } };
    const { sum } = podRequests(spec);
    expect([...sum.keys()]).toEqual(['hugepages-2Mi']);
  });

  it('counts default cpu and memory for containers without requests, for scoring', () => {
    const { nonZeroMilliCpu, nonZeroMemory } = podRequests({ containers: [asks('a'), asks('b', { cpu: 1 })] });
    expect([nonZeroMilliCpu, nonZeroMemory]).toEqual([1100, 2 * 200 * 1024 * 1024]);
  });

  it('counts no defaults if pod-level requests and containers cover both resources', () => {
    const spec = { containers: [asks('a'), asks('b', { cpu: 1 })], resources: { requests: { memory: '1Gi' } } };
    const { nonZeroMilliCpu, nonZeroMemory } = podRequests(spec);
    expect([nonZeroMilliCpu, nonZeroMemory]).toEqual([1000, 1024 ** 3]);
  });
});

describe('podRequests during an in-place resize', () => {
  const one = { containers: [asks('a', { cpu: 1 })] };
  const four = { containers: [asks('a', { cpu: 4 })] };

  it.each<[string, RawRequestSpec, RawRequestStatus, number]>([
    ['the actual amount while the pod shrinks', one, { containerStatuses: [shows('a', { cpu: 1 }, { cpu: 4 })] }, 4000],
    [
      'the allocated amount before the actual amount changes',
      one,
      { containerStatuses: [shows('a', { cpu: 3 })] },
      3000,
    ],
    [
      'the requested amount while the pod grows',
      four,
      { containerStatuses: [shows('a', { cpu: 1 }, { cpu: 1 })] },
      4000,
    ],
    [
      'the requested amount if the node defers the resize',
      four,
      { ...pending('Deferred'), containerStatuses: [shows('a', { cpu: 1 }, { cpu: 1 })] },
      4000,
    ],
    [
      'only the actual amount if the resize is infeasible',
      four,
      { ...pending('Infeasible'), containerStatuses: [shows('a', { cpu: 1 }, { cpu: '1500m' })] },
      1500,
    ],
    [
      'the allocated amount if there is no actual amount yet, and never an infeasible request',
      { containers: [asks('a', { cpu: 4 }), asks('b', { cpu: 8 })] },
      { ...pending('Infeasible'), containerStatuses: [shows('a', { cpu: 2 })] },
      2000,
    ],
    [
      'the maximum of the sums, not the sum of the maximums',
      { containers: [asks('a', { cpu: 1 }), asks('b', { cpu: 3 })] },
      { containerStatuses: [shows('a', { cpu: 3 }, { cpu: 3 }), shows('b', { cpu: 1 }, { cpu: 1 })] },
      4000,
    ],
    [
      'the actual amounts of sidecars',
      { containers: [asks('a', { cpu: 1 })], initContainers: [sidecar('s', { cpu: 1 })] },
      { initContainerStatuses: [shows('s', { cpu: 1 }, { cpu: 5 })] },
      6000,
    ],
    [
      'the actual pod-level amount, if the request is at pod level',
      { containers: [asks('a')], resources: { requests: { cpu: 1 } } },
      { resources: { requests: { cpu: 3 } }, allocatedResources: { cpu: 2 } },
      3000,
    ],
    [
      'only the actual pod-level amount, if the pod-level request is infeasible',
      { containers: [asks('a')], resources: { requests: { cpu: 9 } } },
      { ...pending('Infeasible'), resources: { requests: { cpu: 3 } }, allocatedResources: { cpu: 2 } },
      3000,
    ],
    [
      'the pod-level amounts in the status instead of those of the containers',
      one,
      {
        containerStatuses: [shows('a', { cpu: 7 }, { cpu: 7 })],
        resources: { requests: { cpu: 2 } },
        allocatedResources: { cpu: 2 },
      },
      2000,
    ],
    [
      'the requested amount, if the status has only another container',
      one,
      { containerStatuses: [shows('b', { cpu: 9 })] },
      1000,
    ],
  ])('counts %s', (_what, spec, status, expected) => {
    expect(milliCpu(spec, status)).toBe(expected);
  });

  it('keeps the actual amount on the node until the node reports the smaller one', () => {
    const build = new Builders();
    const pod = { uid: 'p', cpu: 1, nodeName: 'a' };
    const cluster = new Cluster(build.resources);
    cluster.setNode(build.projectedNode({ name: 'a', cpu: 8 }));
    const taken = (given: number): number => {
      const containerStatuses = [shows('main', { cpu: given }, { cpu: given })];
      cluster.setPod(build.projectedPod({ ...pod, status: { containerStatuses } }));
      return cluster.node('a')!.requested.of(cpuId);
    };
    expect([taken(4), taken(2), taken(1)]).toEqual([4000, 2000, 1000]);
  });

  it('treats each resource separately', () => {
    const spec = { containers: [asks('a', { cpu: 4, memory: '1Gi' })] };
    const status = { containerStatuses: [shows('a', { cpu: 1, memory: '2Gi' }, { cpu: 1, memory: '2Gi' })] };
    const { sum, nonZeroMemory } = podRequests(spec, status);
    expect([sum.get('cpu'), sum.get('memory'), nonZeroMemory]).toEqual([4000, 2 * 1024 ** 3, 2 * 1024 ** 3]);
  });
});
