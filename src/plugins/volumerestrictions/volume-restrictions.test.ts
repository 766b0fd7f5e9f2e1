import { beforeEach, describe, expect, it } from 'vitest';
import { StorageScheduling } from '../testing/storage-scheduling.ts';

const taken = 'ReadWriteOncePod access mode already in-use by another pod';
let world: StorageScheduling;
beforeEach(() => {
  world = new StorageScheduling();
  world.hosts('a', 'b');
});

describe('a ReadWriteOncePod claim', () => {
  beforeEach(() => world.bind('c0', 'pv', { modes: ['ReadWriteOncePod'] }));

  it('serves one member of a gang, so that a gang in which two members use it never starts', async () => {
    world.gang('work', [['c0'], ['c0']]);
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('work-0')).toContain(taken);
    expect(world.binding).toEqual([]);
  });

  it('is free again when the pod that uses it is deleted, on whatever node', async () => {
    world.singlePod('first', ['c0']);
    await world.attempt();
    await world.accept('first');
    world.change('first', { nodeName: 'a', phase: 'Running' });
    world.singlePod('second', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('second')).toContain(`2 node(s) unavailable due to PersistentVolumeClaim with ${taken}`);
    world.pod({ name: 'other', nodeName: 'b', namespace: 'elsewhere' });
    world.removePod('other');
    expect(world.states()['pod/second']).toBe('unschedulable');
    world.removePod('first');
    expect(world.states()['pod/second']).not.toBe('unschedulable');
  });
});

describe('a disk that only one pod may write to', () => {
  const disk = { name: 'd', gcePersistentDisk: { pdName: 'd' } };

  it('keeps members of a gang on different nodes', async () => {
    world.group({ name: 'work', minMember: 2 });
    world.members(2, { group: 'work', cpu: '1', spec: { volumes: [disk] } });
    expect(await world.attempt()).toBe('planned');
    expect(world.binding.map((text) => text.slice(-1)).toSorted()).toEqual(['a', 'b']);
  });

  it('may be read by any number of pods', async () => {
    const reading = { name: 'd', gcePersistentDisk: { pdName: 'd', readOnly: true } };
    world.group({ name: 'work', minMember: 3 });
    world.members(3, { group: 'work', cpu: '1', spec: { volumes: [reading] } });
    expect(await world.attempt()).toBe('planned');
  });

  it('requeues waiting pods when a pod in any namespace releases it', async () => {
    for (const nodeName of ['a', 'b']) {
      world.pod({ name: `on-${nodeName}`, nodeName, namespace: 'other', spec: { volumes: [disk] } });
    }
    world.pod({ name: 'late', cpu: '1', spec: { volumes: [disk] } });
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('late')).toContain('2 node(s) had no available disk');
    world.removePod('on-a');
    expect(world.states()['pod/late']).not.toBe('unschedulable');
  });
});
