import { beforeEach, describe, expect, it } from 'vitest';
import { StorageScheduling } from '../testing/storage-scheduling.ts';

const zone = 'topology.kubernetes.io/zone';
let world: StorageScheduling;
beforeEach(() => {
  world = new StorageScheduling();
  world.node({ name: 'a', cpu: '8', labels: { [zone]: 'east' } });
  world.node({ name: 'b', cpu: '8', labels: { [zone]: 'west' } });
});

describe('a volume with a zone', () => {
  it('restricts its pod to the zone, and no other pod', async () => {
    world.bind('c0', 'pv', { labels: { [zone]: 'west' } });
    world.singlePod('p', ['c0']);
    await world.attempt();
    expect(world.binding).toEqual(['p@b']);
  });

  it('makes its pod unschedulable until the volume’s labels change or a node is added in the zone', async () => {
    world.bind('c0', 'pv', { labels: { [zone]: 'north' } });
    world.singlePod('p', ['c0']);
    expect(await world.attempt()).toBe('rejected');
    expect(world.verdictOf('p')).toContain('2 node(s) had no available volume zone');
    world.bind('c1', 'of-another', { labels: { [zone]: 'north' } });
    world.bind('c1', 'of-another', { labels: { [zone]: 'east' } });
    expect(world.states()['pod/p']).toBe('unschedulable');
    // Cached results must not outlive the state they depend on.
    world.bind('c0', 'pv', { labels: { [zone]: 'east' } });
    expect(world.states()['pod/p']).not.toBe('unschedulable');
    await world.advance(60_000);
    await world.attempt();
    expect(world.binding).toEqual(['p@a']);
  });
});
