import { beforeEach, describe, expect, it } from 'vitest';
import { StorageScheduling } from '../testing/storage-scheduling.ts';

const driver = 'csi.example';
let world: StorageScheduling;
beforeEach(() => {
  world = new StorageScheduling();
  world.hosts('a');
  limit(2);
  for (const name of ['c0', 'c1', 'c2']) world.claim(name);
});

function limit(count: number): void {
  world.object('CSINode', {
    metadata: { name: 'a' },
    spec: { drivers: [{ name: driver, nodeID: 'a', allocatable: { count } }] },
  });
}

describe('volumes on a node', () => {
  it('are counted along the plan of a gang, which waits until the limit grows', async () => {
    world.gang('work', [['c0'], ['c1'], ['c2']]);
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('work-0')).toContain('2 of 3 members would fit');
    expect(world.verdictOf('work-0')).toContain('1 node(s) exceed max volume count');
    limit(1);
    expect(world.states()['gang/default/work']).toBe('unschedulable');
    limit(3);
    expect(world.states()['gang/default/work']).not.toBe('unschedulable');
    await world.advance(60_000);
    expect(await world.attempt()).toBe('planned');
  });

  it('count once if pods share them', async () => {
    world.gang('work', [['c0', 'c1'], ['c0'], ['c1']]);
    expect(await world.attempt()).toBe('planned');
  });

  it('count until they are detached', async () => {
    for (const index of [0, 1]) {
      world.volume(`old-${index}`, { storageClass: 'wait', claim: 'gone', csi: { driver, volumeHandle: `h${index}` } });
      world.object('VolumeAttachment', {
        metadata: { name: `at-${index}` },
        spec: { attacher: driver, nodeName: 'a', source: { persistentVolumeName: `old-${index}` } },
      });
    }
    world.singlePod('p', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    world.removeObject('VolumeAttachment', 'at-0');
    expect(world.states()['pod/p']).not.toBe('unschedulable');
    await world.advance(60_000);
    expect(await world.attempt()).toBe('planned');
  });

  it('of a required driver reject nodes without the driver', async () => {
    world.hosts('b');
    world.removeObject('CSINode', 'a');
    const insisting = { metadata: { name: driver }, spec: { preventPodSchedulingIfMissing: true } };
    world.object('CSIDriver', insisting);
    world.singlePod('p', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('p')).toContain(`${driver} CSI driver is not installed on the node`);
    world.object('CSIDriver', { metadata: { name: driver }, spec: {} });
    expect(world.states()['pod/p']).not.toBe('unschedulable');
  });

  it('are limited on a node that is added after its CSINode, and unlimited on one without', async () => {
    limit(0);
    const spec = { drivers: [{ name: driver, nodeID: 'b', allocatable: { count: 1 } }] };
    world.object('CSINode', { metadata: { name: 'b' }, spec });
    world.singlePod('p', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    expect(world.states()).toEqual({ 'pod/p': 'unschedulable' });
    world.hosts('b');
    expect(world.states()).toEqual({ 'pod/p': 'backoff' });
    await world.advance(60_000);
    expect(await world.attempt()).toBe('planned');
  });

  it("count for the driver of the bound volume, not of the claim's class", async () => {
    limit(0);
    for (const name of ['p', 'q']) world.singlePod(name, [name === 'p' ? 'c0' : 'c1']);
    while ((await world.attempt()) !== undefined);
    expect(world.states()).toEqual({ 'pod/p': 'unschedulable', 'pod/q': 'unschedulable' });
    world.volume('pv', { storageClass: 'wait', claim: 'c0' });
    world.claim('c0', { volume: 'pv' });
    expect(world.states()).toEqual({ 'pod/p': 'backoff', 'pod/q': 'unschedulable' });
    await world.advance(60_000);
    expect(await world.attempt()).toBe('planned');
  });

  it('stop counting when a volume of another driver replaces theirs', async () => {
    limit(0);
    world.bind('c0', 'pv', { storageClass: 'wait', csi: { driver, volumeHandle: 'h' } });
    world.singlePod('p', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    world.removeObject('PersistentVolume', 'pv');
    world.volume('pv', { storageClass: 'wait', claim: 'c0' });
    expect(world.states()['pod/p']).not.toBe('unschedulable');
  });

  it('are unlimited on a node whose CSINode is deleted', async () => {
    limit(0);
    world.singlePod('p', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    world.removeObject('CSINode', 'a');
    expect(world.states()['pod/p']).not.toBe('unschedulable');
  });
});
