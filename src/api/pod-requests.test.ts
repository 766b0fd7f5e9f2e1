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

/** What a node says of a container: what it has promised, and what it gives. */
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

describe('a pod asks for', () => {
  it.each<[string, RawRequestSpec, number]>([
    ['the sum of its containers', { containers: [asks('a', { cpu: 1 }), asks('b', { cpu: 2 })] }, 3000],
    [
      'what an init container needs, if that is more',
      { containers: [asks('a', { cpu: 1 })], initContainers: [asks('i', { cpu: 4 }), asks('j', { cpu: 3 })] },
      4000,
    ],
    [
      'its sidecars as well, and while an init container runs those before it',
      {
        containers: [asks('a', { cpu: 1 })],
        initContainers: [sidecar('s', { cpu: 2 }), asks('i', { cpu: 4 }), sidecar('t', { cpu: 1 })],
      },
      6000,
    ],
    [
      'what is set for it as a whole, in place of its containers',
      { containers: [asks('a', { cpu: 1 })], resources: { requests: { cpu: 5, 'example.com/gpu': 1 } } },
      5000,
    ],
    ['its overhead on top', { containers: [asks('a', { cpu: 1 })], overhead: { cpu: '250m' } }, 1250],
  ])('%s', (_what, spec, expected) => {
    expect(milliCpu(spec)).toBe(expected);
  });

  it('only cpu, memory and huge pages as a whole', () => {
    const spec = { containers: [], resources: { requests: { 'hugepages-2Mi': '4Mi', 'example.com/gpu': 1 } } };
    const { sum } = podRequests(spec);
    expect([...sum.keys()]).toEqual(['hugepages-2Mi']);
  });

  it('a little cpu and memory for every container that names none, when nodes are scored', () => {
    const { nonZeroMilliCpu, nonZeroMemory } = podRequests({ containers: [asks('a'), asks('b', { cpu: 1 })] });
    expect([nonZeroMilliCpu, nonZeroMemory]).toEqual([1100, 2 * 200 * 1024 * 1024]);
  });

  it('no such little where something is set for the pod as a whole and its containers name the rest', () => {
    const spec = { containers: [asks('a'), asks('b', { cpu: 1 })], resources: { requests: { memory: '1Gi' } } };
    const { nonZeroMilliCpu, nonZeroMemory } = podRequests(spec);
    expect([nonZeroMilliCpu, nonZeroMemory]).toEqual([1000, 1024 ** 3]);
  });
});

describe('a pod that is resized in place counts', () => {
  const one = { containers: [asks('a', { cpu: 1 })] };
  const four = { containers: [asks('a', { cpu: 4 })] };

  it.each<[string, RawRequestSpec, RawRequestStatus, number]>([
    ['what it still has while it shrinks', one, { containerStatuses: [shows('a', { cpu: 1 }, { cpu: 4 })] }, 4000],
    ['what it was promised, before it has less', one, { containerStatuses: [shows('a', { cpu: 3 })] }, 3000],
    ['what it asks for while it grows', four, { containerStatuses: [shows('a', { cpu: 1 }, { cpu: 1 })] }, 4000],
    [
      'what it asks for when its node has to put that off',
      four,
      { ...pending('Deferred'), containerStatuses: [shows('a', { cpu: 1 }, { cpu: 1 })] },
      4000,
    ],
    [
      'only what it has when its node can never give what it asks for',
      four,
      { ...pending('Infeasible'), containerStatuses: [shows('a', { cpu: 1 }, { cpu: '1500m' })] },
      1500,
    ],
    [
      'what it was promised where it has nothing yet, and never what is infeasible',
      { containers: [asks('a', { cpu: 4 }), asks('b', { cpu: 8 })] },
      { ...pending('Infeasible'), containerStatuses: [shows('a', { cpu: 2 })] },
      2000,
    ],
    [
      'the most of the sums, not the sum of the most',
      { containers: [asks('a', { cpu: 1 }), asks('b', { cpu: 3 })] },
      { containerStatuses: [shows('a', { cpu: 3 }, { cpu: 3 }), shows('b', { cpu: 1 }, { cpu: 1 })] },
      4000,
    ],
    [
      'what its sidecars have',
      { containers: [asks('a', { cpu: 1 })], initContainers: [sidecar('s', { cpu: 1 })] },
      { initContainerStatuses: [shows('s', { cpu: 1 }, { cpu: 5 })] },
      6000,
    ],
    [
      'what it has as a whole, where it asks as a whole',
      { containers: [asks('a')], resources: { requests: { cpu: 1 } } },
      { resources: { requests: { cpu: 3 } }, allocatedResources: { cpu: 2 } },
      3000,
    ],
    [
      'as a whole only what it has, when what it asks for is infeasible',
      { containers: [asks('a')], resources: { requests: { cpu: 9 } } },
      { ...pending('Infeasible'), resources: { requests: { cpu: 3 } }, allocatedResources: { cpu: 2 } },
      3000,
    ],
    [
      'the sums that the node gives for the pod, in place of its containers',
      one,
      {
        containerStatuses: [shows('a', { cpu: 7 }, { cpu: 7 })],
        resources: { requests: { cpu: 2 } },
        allocatedResources: { cpu: 2 },
      },
      2000,
    ],
    ['what it asks for where another container is shown', one, { containerStatuses: [shows('b', { cpu: 9 })] }, 1000],
  ])('%s', (_what, spec, status, expected) => {
    expect(milliCpu(spec, status)).toBe(expected);
  });

  it('on its node as well, until the node shows that it has given the room up', () => {
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

  it('each resource by itself', () => {
    const spec = { containers: [asks('a', { cpu: 4, memory: '1Gi' })] };
    const status = { containerStatuses: [shows('a', { cpu: 1, memory: '2Gi' }, { cpu: 1, memory: '2Gi' })] };
    const { sum, nonZeroMemory } = podRequests(spec, status);
    expect([sum.get('cpu'), sum.get('memory'), nonZeroMemory]).toEqual([4000, 2 * 1024 ** 3, 2 * 1024 ** 3]);
  });
});
