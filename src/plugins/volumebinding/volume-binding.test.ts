import { beforeEach, describe, expect, it } from 'vitest';
import { StorageScheduling } from '../testing/storage-scheduling.ts';

let world: StorageScheduling;
beforeEach(() => {
  world = new StorageScheduling();
});

describe('a gang whose members need volumes of their own', () => {
  beforeEach(() => {
    world.hosts('a', 'b');
    world.volume('pv-a', { node: 'a' });
    world.volume('pv-b', { node: 'b' });
    world.claim('c0', { storageClass: 'manual' });
    world.claim('c1', { storageClass: 'manual' });
  });

  it('gets a volume for each claim, and no member is bound before all volumes are', async () => {
    world.gang('work', [['c0'], ['c1']]);
    expect(await world.attempt()).toBe('planned');
    expect(world.written.map((text) => text.slice(0, 4)).toSorted()).toEqual(['pv-a', 'pv-b']);
    const [first, second] = world.written.map((text) => text.split(' for ') as [string, string]);
    expect(world.binding).toEqual([]);
    world.bind(first![1], first![0], { storageClass: 'manual', node: first![0].slice(-1) });
    await world.settle();
    expect(world.binding).toEqual([]);
    world.bind(second![1], second![0], { storageClass: 'manual', node: second![0].slice(-1) });
    await world.settle();
    const nodeOf = new Map([first!, second!].map(([volume, claim]) => [claim, volume.slice(-1)]));
    expect(world.binding).toEqual([`work-0@${nodeOf.get('c0')}`, `work-1@${nodeOf.get('c1')}`]);
  });

  it('takes no volume if there are too few, and waits for one more', async () => {
    world.claim('c2', { storageClass: 'manual' });
    world.gang('work', [['c0'], ['c1'], ['c2']]);
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('work-0')).toContain("2 node(s) didn't find available persistent volumes to bind");
    expect(world.harness.cluster.assumedVolumes.volume('pv-a')?.claim).toBeUndefined();
    expect(world.written).toEqual([]);
    // Volumes of another class don't help.
    world.volume('other', { storageClass: 'wait' });
    expect(world.states()['gang/default/work']).toBe('unschedulable');
    world.volume('pv-c', { node: 'a' });
    expect(world.states()['gang/default/work']).not.toBe('unschedulable');
    await world.advance(60_000);
    expect(await world.attempt()).toBe('planned');
    expect(world.written).toHaveLength(3);
  });

  it('excludes others from its volumes, and from written ones even after it fails', async () => {
    world.gang('work', [['c0'], ['c1']]);
    world.claim('c3', { storageClass: 'manual' });
    expect(await world.attempt()).toBe('planned');
    world.singlePod('late', ['c3']);
    expect(await world.attempt()).toBe('rejected');
    // The member is deleted, so the gang cannot be bound.
    world.removePod('work-1');
    await world.advance(61_000);
    expect(world.binding).toEqual([]);
    // The watch has not delivered the written volumes yet.
    await world.attempt();
    expect(world.written.filter((text) => text.endsWith(' for c3'))).toEqual([]);
  });
});

describe('a gang whose volumes cannot be written', () => {
  it('releases them for others', async () => {
    const rejecting = new StorageScheduling({ rejects: (text) => (text.endsWith(' for c0') ? 'no' : undefined) });
    rejecting.hosts('a');
    rejecting.volume('pv', { node: 'a' });
    for (const name of ['c0', 'c3']) rejecting.claim(name, { storageClass: 'manual' });
    rejecting.singlePod('first', ['c0']);
    expect(await rejecting.attempt()).toBe('planned');
    expect(rejecting.harness.cluster.assumedVolumes.volume('pv')?.claim).toBeUndefined();
    rejecting.singlePod('late', ['c3']);
    expect(await rejecting.attempt()).toBe('planned');
    expect(rejecting.written).toEqual(['pv for c3']);
  });
});

describe('a volume chosen for a pod that failed to bind', () => {
  beforeEach(async () => {
    world.hosts('a');
    world.volume('pv', { node: 'a' });
    for (const name of ['c0', 'c1']) world.claim(name, { storageClass: 'manual' });
    world.singlePod('first', ['c0']);
    expect(await world.attempt()).toBe('planned');
    world.singlePod('late', ['c1']);
    expect(await world.attempt()).toBe('rejected');
  });

  it('is available to others, even if the claim of the first pod is deleted before', async () => {
    world.removeObject('PersistentVolumeClaim', 'c0');
    world.removePod('first');
    await world.settle();
    expect(world.states()).toEqual({ 'pod/late': 'backoff' });
  });

  it('is available to others, even if the claim of the first pod is bound to another volume', async () => {
    world.bind('c0', 'another', { storageClass: 'manual', node: 'a' });
    await world.advance(599_000);
    world.harness.core.attempt();
    expect(world.states()['pod/late']).toBe('unschedulable');
    await world.advance(1_000);
    expect(world.states()['pod/late']).not.toBe('unschedulable');
  });
});

describe('volumes to provision', () => {
  beforeEach(() => {
    world.hosts('a', 'b');
    world.claim('c0');
    world.claim('c1');
  });

  it('are requested for the nodes of the members, and each claim keeps its node', async () => {
    world.gang('work', [['c0'], ['c1']], '5');
    expect(await world.attempt()).toBe('planned');
    expect(world.written.map((text) => text.slice(-1)).toSorted()).toEqual(['a', 'b']);
    world.claim('c0', { selectedNode: world.written.includes('c0 on a') ? 'a' : 'b' });
    world.claim('c1', { selectedNode: world.written.includes('c1 on a') ? 'a' : 'b' });
    await world.settle();
    expect(world.binding).toEqual([]);
    world.bind('c0', 'made-0', { storageClass: 'wait', selectedNode: 'a' });
    world.bind('c1', 'made-1', { storageClass: 'wait', selectedNode: 'b' });
    await world.settle();
    expect(world.binding).toHaveLength(2);
  });

  it('fail the gang when a provisioner rejects one, and the other stays', async () => {
    world.gang('work', [['c0'], ['c1']], '5');
    await world.attempt();
    const nodeOf0 = world.written.includes('c0 on a') ? 'a' : 'b';
    const nodeOf1 = nodeOf0 === 'a' ? 'b' : 'a';
    world.bind('c0', 'made-0', { storageClass: 'wait', node: nodeOf0, selectedNode: nodeOf0 });
    world.claim('c1', { selectedNode: nodeOf1 });
    await world.settle();
    world.claim('c1');
    await world.settle();
    expect(world.binding).toEqual([]);
    expect(world.verdictOf('work-0')).toContain('provisioning failed for PVC "default/c1"');
    // The volume of the first member fixes its node; both members continue from there.
    await world.advance(60_000);
    expect(await world.attempt()).toBe('planned');
    expect(world.written.at(-1)).toBe(`c1 on ${nodeOf1}`);
    expect(world.written.filter((text) => text.startsWith('c0'))).toHaveLength(1);
    world.bind('c1', 'made-1', { storageClass: 'wait', node: nodeOf1, selectedNode: nodeOf1 });
    await world.settle();
    expect(world.binding).toEqual([`work-0@${nodeOf0}`, `work-1@${nodeOf1}`]);
  });

  it('end the wait as soon as one of them cannot be provisioned', async () => {
    world.gang('work', [['c0'], ['c1']], '5');
    await world.attempt();
    world.claim('c1', { selectedNode: world.written.includes('c1 on a') ? 'a' : 'b' });
    world.claim('c1');
    await world.settle();
    expect(world.verdictOf('work-0')).toContain('provisioning failed for PVC "default/c1"');
    // The write for the other claim stands, even before the watch delivers it.
    const nodeOf0 = world.written.includes('c0 on a') ? 'a' : 'b';
    expect(world.harness.cluster.assumedVolumes.claim('default', 'c0')?.selectedNode).toBe(nodeOf0);
    await world.advance(60_000);
    expect(await world.attempt()).toBe('planned');
    expect(new Set(world.written.filter((text) => text.startsWith('c0')))).toEqual(new Set([`c0 on ${nodeOf0}`]));
  });

  it('time out after the configured time, and the verdict names the missing one', async () => {
    world.gang('work', [['c0'], ['c1']], '5');
    await world.attempt();
    await world.advance(599_000);
    expect(world.verdictOf('work-0')).toBe('');
    await world.advance(1_000);
    expect(world.verdictOf('work-0')).toContain('binding volumes: not bound after 10m: ');
    expect(world.binding).toEqual([]);
  });

  it('may be shared by members, which then share a node', async () => {
    world.gang('work', [['c0'], ['c0']]);
    expect(await world.attempt()).toBe('planned');
    const nodes = new Set(world.written.map((text) => text.slice(-1)));
    expect(nodes.size).toBe(1);
    const [node] = nodes;
    world.bind('c0', 'made', { storageClass: 'wait', node: node!, selectedNode: node! });
    await world.settle();
    expect(world.binding).toEqual([`work-0@${node}`, `work-1@${node}`]);
  });
});

describe('a pod', () => {
  it('goes to a node that can access its bound volume, and is rejected with the reason if there is none', async () => {
    world.hosts('a', 'b');
    world.bind('c0', 'pv', { node: 'b' });
    world.singlePod('p', ['c0']);
    await world.attempt();
    expect(world.binding).toEqual(['p@b']);
    world.bind('c1', 'lost', { node: 'c' });
    world.singlePod('q', ['c1']);
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('q')).toContain("2 node(s) didn't match PersistentVolume's node affinity");
  });

  it('waits for a missing claim, and is retried when the claim is created', async () => {
    world.hosts('a');
    world.singlePod('p', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('p')).toContain('persistentvolumeclaim "c0" not found');
    world.claim('other');
    expect(world.states()['pod/p']).toBe('unschedulable');
    world.claim('c0');
    expect(world.states()['pod/p']).not.toBe('unschedulable');
  });

  it('waits for its own claim, even if other waiting pods have equal claims', async () => {
    const world = new StorageScheduling();
    world.hosts('a');
    for (const name of ['x', 'y', 'z']) {
      world.claim(`data-of-${name}`, { storageClass: 'manual' });
      world.singlePod(name, [`data-of-${name}`]);
    }
    while ((await world.attempt()) !== undefined);
    expect(Object.values(world.states())).toEqual(['unschedulable', 'unschedulable', 'unschedulable']);
    world.harness.clock.advance(60_000);
    // A user binds the claim to a volume.
    world.bind('data-of-y', 'pv-y', { storageClass: 'other' });
    expect(await world.attempt()).toBe('planned');
    await world.settle();
    expect([world.binding, world.states()]).toEqual([['y@a'], { 'pod/x': 'unschedulable', 'pod/z': 'unschedulable' }]);
  });

  it('waits for storage capacity as long as the driver publishes it', async () => {
    world.hosts('a');
    world.object('CSIDriver', { metadata: { name: 'csi.example' }, spec: { storageCapacity: true } });
    world.claim('c0');
    world.singlePod('p', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('p')).toContain('did not have enough free storage');
    world.removeObject('CSIDriver', 'csi.example');
    expect(world.states()['pod/p']).not.toBe('unschedulable');
  });

  it('is requeued for volumes that match its claims, but not for volumes of other claims', async () => {
    world.hosts('a');
    world.volume('pv', { node: 'a' });
    for (const name of ['c0', 'c1']) world.claim(name, { storageClass: 'manual' });
    world.singlePod('first', ['c0']);
    await world.attempt();
    world.singlePod('late', ['c1']);
    expect(await world.attempt()).toBe('rejected');
    world.bind('c0', 'pv', { storageClass: 'manual', node: 'a' });
    world.volume('of-another', { claim: 'c0' });
    world.removeObject('PersistentVolume', 'of-another');
    await world.settle();
    expect([world.binding, world.states()]).toEqual([['first@a'], { 'pod/late': 'unschedulable' }]);
    world.volume('its-own', { node: 'a', claim: 'c1' });
    expect(world.states()).toEqual({ 'pod/late': 'backoff' });
  });

  it('may get another volume when the one reserved for it is deleted', async () => {
    world.hosts('a');
    world.volume('reserved', { node: 'b', claim: 'c0' });
    world.volume('free', { node: 'a' });
    world.claim('c0', { storageClass: 'manual' });
    world.singlePod('p', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    world.removeObject('PersistentVolume', 'reserved');
    expect(world.states()).toEqual({ 'pod/p': 'backoff' });
    await world.advance(60_000);
    expect(await world.attempt()).toBe('planned');
  });

  it('of a gang waits for its own claim, whichever member it is', async () => {
    world.hosts('a');
    world.claim('c0');
    world.claim('c2');
    world.gang('work', [['c0'], ['c1'], ['c2']]);
    expect(await world.attempt()).toBe('rejected');
    world.claim('c1');
    expect(world.states()['gang/default/work']).not.toBe('unschedulable');
  });

  it('without volumes and claims is bound without waiting', async () => {
    world.hosts('a');
    world.pod({ name: 'plain', cpu: '1' });
    expect(await world.attempt()).toBe('planned');
    expect(world.binding).toEqual(['plain@a']);
  });
});
