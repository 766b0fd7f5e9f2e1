import { describe, expect, it } from 'vitest';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Queueing } from '../../testkit/queueing.ts';

const gpu = 'nvidia.com/gpu';

function newCore(): Queueing {
  return new Queueing({ plugins: defaultPlugins.filter(({ name }) => name !== 'DefaultPreemption') });
}

/** Adds nodes with 8 GPUs each. `used`: the number of GPUs in use on each node. */
function gpuNodes(core: Queueing, ...used: readonly number[]): void {
  for (const [i, count] of used.entries()) {
    core.node({ name: `gpu-${i}`, cpu: 64, allocatable: { [gpu]: 8 } });
    if (count > 0) core.pod({ name: `old-${i}`, nodeName: `gpu-${i}`, requests: { [gpu]: count } });
  }
}

/** Adds a gang and returns what its verdict says of the missing capacity. */
function gangNeeds(core: Queueing, count: number, options: PodOptions): string {
  core.group({ name: 'train', minMember: count });
  core.members(count, { group: 'train', ...options });
  return missing(core, 'train-0');
}

function podNeeds(core: Queueing, options: PodOptions): string {
  core.pod({ name: 'x', ...options });
  return missing(core, 'x');
}

function missing(core: Queueing, name: string): string {
  while (core.harness.core.attempt() !== undefined);
  const message = core.harness.core.verdictOf(name)?.message ?? '';
  return /(?:It needs|It finds|The members that would fit leave) .*?\.(?= |$)/.exec(message)?.[0] ?? '';
}

describe('the verdict on a gang that is short of a resource', () => {
  it('says the missing, the free and the total amount', () => {
    const core = newCore();
    gpuNodes(core, 0, 8, 8, 8, 8);
    expect(gangNeeds(core, 4, { requests: { [gpu]: 8 } })).toBe(
      'It needs 24 more nvidia.com/gpu; 8 free, 40 in total.',
    );
    expect(core.harness.core.verdictOf('train-0')?.message).toMatch(
      /^PodGroup default\/train cannot start: 1 of 4 members would fit; train-\d would not: 0\/5 nodes are available: 5 Insufficient nvidia.com\/gpu\. It needs /,
    );
  });

  it('names the missing amount as the least if what is left on a node may be too little for a member', () => {
    const core = newCore();
    for (const name of ['a', 'b']) core.node({ name, cpu: 6 });
    expect(gangNeeds(core, 4, { cpu: 4 })).toBe('It needs at least 4 more cpu; 12 free, 12 in total.');
  });

  it('claims nothing more is needed if enough is free, but in fragments beside the other members', () => {
    const core = newCore();
    core.node({ name: 'a', cpu: 6 });
    for (const name of ['b', 'c']) {
      core.node({ name, cpu: 8 });
      core.pod({ name: `old-${name}`, nodeName: name, cpu: 5 });
    }
    expect(gangNeeds(core, 3, { cpu: 4 })).toBe('The members that would fit leave 8 cpu free, at most 3 on one node.');
  });

  it('counts only nodes that a member may use', () => {
    const core = newCore();
    gpuNodes(core, 8, 8);
    core.node({ name: 'tainted', allocatable: { [gpu]: 8 }, taints: ['own:NoSchedule'] });
    core.node({ name: 'without', cpu: 64 });
    expect(gangNeeds(core, 2, { requests: { [gpu]: 8 } })).toBe(
      'It needs 16 more nvidia.com/gpu; 0 free, 16 in total.',
    );
  });

  it('counts only the members without a node if members must be apart', () => {
    const core = newCore();
    for (const [name, cpu] of [
      ['a', 8],
      ['b', 8],
      ['c', 1],
    ] as const)
      core.node({ name, cpu });
    // One member per node.
    expect(gangNeeds(core, 3, { cpu: 4, hostPorts: [80] })).toBe('It needs at least 3 more cpu; 1 free, 1 in total.');
  });

  it('leaves out what is reserved for others', () => {
    const core = newCore();
    gpuNodes(core, 0, 6);
    const gates = ['wait'];
    core.pod({ name: 'ahead', priority: 10, nominatedNodeName: 'gpu-0', gates, requests: { [gpu]: 4 } });
    expect(podNeeds(core, { requests: { [gpu]: 8 } })).toBe(
      'It needs at least 4 more nvidia.com/gpu; 6 free, at most 4 on one node, 16 in total.',
    );
  });

  it('WI28: is no part of the cause, and stays the same for equal retries', () => {
    const core = newCore();
    gpuNodes(core, 0, 8);
    const text = gangNeeds(core, 2, { requests: { [gpu]: 8 } });
    expect(core.harness.core.verdictOf('train-0')?.cause).not.toMatch(/\d|needs/);
    core.queue.activate(core.harness.cluster.pod('train-0')!);
    expect(missing(core, 'train-0')).toBe(text);
  });
});

describe('the verdict on a pod that is short of a resource', () => {
  it('says that enough is free, but too little on each node', () => {
    const core = newCore();
    for (const name of ['a', 'b', 'c', 'd']) core.node({ name, cpu: 3 });
    expect(podNeeds(core, { cpu: 4 })).toBe('It finds 12 cpu free, at most 3 on one node.');
  });

  it('says how much more it needs on one node', () => {
    const core = newCore();
    for (const name of ['a', 'b']) core.node({ name, cpu: 1 });
    expect(podNeeds(core, { cpu: 4 })).toBe('It needs at least 3 more cpu; 2 free, at most 1 on one node, 2 in total.');
  });

  it('prints bytes and pod slots as people write them', () => {
    const core = newCore();
    core.node({ name: 'a', memory: '4Gi', cpu: 64, pods: 1 });
    expect(podNeeds(core, { memory: '6Gi' })).toBe('It needs at least 2Gi more memory; 4Gi free, 4Gi in total.');
    core.node({ name: 'a', memory: '64Gi', cpu: 64, pods: 1 });
    core.pod({ name: 'old', nodeName: 'a' });
    core.pod({ name: 'y' });
    expect(missing(core, 'y')).toBe('It needs 1 more pod slot; 0 free, 1 in total.');
  });

  it('prefers a resource of which too little is free in total to one that is only fragmented', () => {
    const core = newCore();
    for (const name of ['a', 'b', 'c']) core.node({ name, cpu: 3, allocatable: { [gpu]: 0 } });
    expect(podNeeds(core, { cpu: 4, requests: { cpu: 4, [gpu]: 1 } })).toBe(
      'It needs 1 more nvidia.com/gpu; 0 free, 0 in total.',
    );
  });

  it('does not depend on a node that rejects it for another reason', () => {
    const core = newCore();
    core.node({ name: 'a', cpu: 8, unschedulable: true });
    expect(podNeeds(core, { cpu: 4 })).toBe('');
  });
});
