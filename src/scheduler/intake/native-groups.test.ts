import { afterEach, describe, expect, it } from 'vitest';
import { TestScheduler } from '../../testkit/test-scheduler.ts';

let scheduler: TestScheduler;
afterEach(() => scheduler.stop());

/** A node for four members, with a pod that takes the place of `taken` of them. */
function start(taken = 0): void {
  scheduler = new TestScheduler();
  scheduler.setNode({ name: 'a', cpu: 4 });
  if (taken > 0) scheduler.setPod({ name: 'other', cpu: taken, nodeName: 'a' });
}

function member(index: number, options: object = {}): void {
  scheduler.setPod({ name: `train-${index}`, cpu: 1, schedulingGroup: 'train', ...options });
}

function members(count: number, options: object = {}): void {
  for (let index = 0; index < count; index++) member(index, options);
}

async function bound(): Promise<string[]> {
  await scheduler.run();
  const names = ['train-0', 'train-1', 'train-2', 'train-3', 'train-4'];
  return names.filter((name) => scheduler.stateOf(name).kind === 'bound');
}

describe('a gang of scheduling.k8s.io', () => {
  it('starts as a whole once its PodGroup exists and it fits', async () => {
    start(1);
    members(4);
    await scheduler.expectRejected('train-0', { says: 'PodGroup scheduling.k8s.io/default/train does not exist' });
    scheduler.setNativeGroup({ name: 'train', minCount: 4 });
    await scheduler.expectRejected('train-3', { says: /Insufficient cpu/ });
    expect(await bound()).toEqual([]);
    scheduler.removePod('other');
    expect(await bound()).toEqual(['train-0', 'train-1', 'train-2', 'train-3']);
  });

  it('starts when minCount is lowered while it waits', async () => {
    start(2);
    scheduler.setNativeGroup({ name: 'train', minCount: 4 });
    members(4);
    expect(await bound()).toEqual([]);
    scheduler.setNativeGroup({ name: 'train', minCount: 2 });
    expect(await bound()).toHaveLength(2);
  });

  it('has nothing to do with a PodGroup of the same name in scheduling.x-k8s.io', async () => {
    start();
    scheduler.setGroup({ name: 'train', minMember: 3 });
    scheduler.setNativeGroup({ name: 'train', minCount: 2 });
    member(0);
    scheduler.setPod({ name: 'labeled-0', cpu: 1, group: 'train' });
    scheduler.setPod({ name: 'labeled-1', cpu: 1, group: 'train' });
    await scheduler.expectRejected('train-0', { says: 'scheduling.k8s.io/default/train has 1 of the 2 members' });
    await scheduler.expectRejected('labeled-0', { says: 'PodGroup default/train has 2 of the 3 members' });
    member(1);
    await scheduler.expectBound('train-0');
    await scheduler.expectRejected('labeled-0');
  });

  it('waits until no member has scheduling gates, also with a quorum of others', async () => {
    start();
    scheduler.setNativeGroup({ name: 'train', minCount: 2 });
    members(2);
    // The first two members have already started.
    expect(await bound()).toEqual(['train-0', 'train-1']);
    member(2, { gates: ['quota'] });
    member(3);
    await scheduler.expectRejected('train-3', {
      says: 'waits until no member has scheduling gates',
    });
    member(2);
    expect(await bound()).toEqual(['train-0', 'train-1', 'train-2', 'train-3']);
  });

  it('does not start while a member has scheduling gates', async () => {
    start();
    scheduler.setNativeGroup({ name: 'train', minCount: 2 });
    member(0, { gates: ['quota'] });
    member(1);
    member(2);
    expect(await bound()).toEqual([]);
    scheduler.removePod('train-0');
    expect(await bound()).toEqual(['train-1', 'train-2']);
  });

  it('starts again only with a quorum, although its condition stays True', async () => {
    start();
    scheduler.setNativeGroup({ name: 'train', minCount: 2, scheduledAt: '2026-01-01T00:00:00Z' });
    member(0);
    await scheduler.expectRejected('train-0', { says: 'has 1 of the 2 members' });
    member(1);
    expect(await bound()).toEqual(['train-0', 'train-1']);
  });

  it('counts succeeded members once it has started, so that a retry does not wait for ever', async () => {
    start();
    scheduler.setNativeGroup({ name: 'train', minCount: 3 });
    members(3);
    expect(await bound()).toHaveLength(3);
    member(0, { phase: 'Succeeded', nodeName: 'a' });
    scheduler.removePod('train-1');
    member(4);
    await scheduler.expectBound('train-4');
  });

  it.each([
    [{ topologyKey: 'rack' }, 'asks for one domain of rack, which Tutti does not support yet'],
    [{ resourceClaims: ['gpus'] }, 'shares ResourceClaims among its pods'],
    [{ parentCompositePodGroupName: 'set' }, 'belongs to CompositePodGroup set'],
  ])('gets a verdict for what Tutti does not support: %j', async (options, says) => {
    start();
    for (const policy of [{ minCount: 2 }, {}]) {
      scheduler.setNativeGroup({ name: 'train', ...policy, ...options });
      members(2);
      await scheduler.expectRejected('train-0', { says });
    }
    scheduler.setNativeGroup({ name: 'train', minCount: 2 });
    expect(await bound()).toHaveLength(2);
  });

  it.each([
    [{ priority: 7 }, {}, 'pod train-1 has the priority 0, but PodGroup scheduling.k8s.io/default/train has 7'],
    [
      { preemptionPolicy: 'Never' },
      { spec: { preemptionPolicy: 'Never' } },
      'pod train-1 does not have the preemptionPolicy',
    ],
  ] as const)('does not start with a member that contradicts it: %j', async (group, fitting, says) => {
    start();
    scheduler.setNativeGroup({ name: 'train', minCount: 2, ...group });
    const options = { ...('priority' in group && { priority: group.priority }), ...fitting };
    member(0, options);
    member(1);
    await scheduler.expectRejected('train-0', { says });
    scheduler.removePod('train-1');
    member(2, options);
    expect(await bound()).toEqual(['train-0', 'train-2']);
  });
});

describe('a member of two groups', () => {
  it('keeps its labeled group from starting while spec.schedulingGroup names a gang', async () => {
    start();
    scheduler.setGroup({ name: 'label', minMember: 2 });
    scheduler.setNativeGroup({ name: 'train', minCount: 2 });
    members(2, { group: 'label' });
    await scheduler.expectRejected('train-1', {
      says: 'pod train-0 is in PodGroup default/label by its label or annotation scheduling.x-k8s.io/pod-group, and in PodGroup scheduling.k8s.io/default/train',
    });
    scheduler.removeNativeGroup('train');
    expect(await bound()).toEqual(['train-0', 'train-1']);
  });

  it('is scheduled by its labeled group if spec.schedulingGroup names a basic group', async () => {
    start();
    scheduler.setGroup({ name: 'label', minMember: 2 });
    scheduler.setNativeGroup({ name: 'train' });
    member(0, { group: 'label' });
    await scheduler.expectRejected('train-0', { says: 'PodGroup default/label has 1 of the 2 members' });
    member(1, { group: 'label' });
    expect(await bound()).toEqual(['train-0', 'train-1']);
  });

  it('keeps a started group from growing', async () => {
    start();
    scheduler.setGroup({ name: 'label', minMember: 1 });
    scheduler.setNativeGroup({ name: 'train', minCount: 2 });
    member(0, { group: 'label', schedulingGroup: undefined });
    expect(await bound()).toEqual(['train-0']);
    member(1, { group: 'label' });
    member(2, { group: 'label', schedulingGroup: undefined });
    await scheduler.expectRejected('train-2', { says: 'pod train-1 is in PodGroup default/label' });
    scheduler.removePod('train-1');
    expect(await bound()).toEqual(['train-0', 'train-2']);
  });
});

describe('a basic group', () => {
  it('starts its pods one by one, as they fit', async () => {
    start(2);
    scheduler.setNativeGroup({ name: 'train' });
    members(3);
    expect(await bound()).toHaveLength(2);
    member(4, { cpu: 0.1, gates: ['quota'] });
    scheduler.removePod('other');
    expect(await bound()).toEqual(['train-0', 'train-1', 'train-2']);
  });

  it('starts its other pods if one contradicts it or names another scheduler', async () => {
    start();
    scheduler.setNativeGroup({ name: 'train' });
    member(0, { priority: 7 });
    member(1, { schedulerName: 'other' });
    member(2);
    expect(await bound()).toEqual(['train-2']);
    await scheduler.expectRejected('train-0', { says: 'pod train-0 has the priority 7' });
    scheduler.removeNativeGroup('train');
    scheduler.setNativeGroup({ name: 'train', uid: 'other', priority: 7 });
    expect(await bound()).toEqual(['train-0', 'train-2']);
  });

  it('waits for its PodGroup', async () => {
    start();
    members(1);
    await scheduler.expectRejected('train-0', { says: 'does not exist; the pod starts when it is created' });
    scheduler.setNativeGroup({ name: 'train' });
    await scheduler.expectBound('train-0');
  });
});
