import { describe, expect, it } from 'vitest';
import { defaultPlugins } from '../plugins/registry.ts';
import { Scheduling } from '../testkit/scheduling.ts';

const core = (): Scheduling => new Scheduling({ plugins: defaultPlugins });

/** Runs attempts until the active queue is empty. Returns their number. */
async function drain(scheduling: Scheduling): Promise<number> {
  let attempts = 0;
  while ((await scheduling.attempt()) !== undefined) if (++attempts > 500) throw new Error('does not end');
  return attempts;
}

/** Lets every backoff end and runs all attempts. */
async function later(scheduling: Scheduling): Promise<void> {
  scheduling.harness.clock.advance(20_000);
  await drain(scheduling);
}

const namesOf = ({ binds }: Scheduling): string[] => binds.map(({ binding }) => binding.name).sort();

describe('a gang is not woken by the scheduler’s own writes', () => {
  it('of the verdict to its members: one rejection is one attempt', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 1 });
    c.group({ name: 'red', minMember: 50 });
    c.members(50, { group: 'red', cpu: 1 });
    let attempts = await drain(c);
    for (let i = 0; i < 50; i++) {
      const podScheduled = { status: 'False', reason: 'Unschedulable', message: 'x' };
      c.change(`red-${i}`, { resourceVersion: `9${i}`, podScheduled });
      c.harness.clock.advance(1_000);
      attempts += await drain(c);
    }
    expect(attempts).toBe(1);
  });

  it('of the status of its PodGroup', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 1 });
    c.group({ name: 'red', minMember: 3 });
    c.members(3, { group: 'red', cpu: 1 });
    await drain(c);
    c.group({ name: 'red', minMember: 3, resourceVersion: '1000' });
    expect(c.states()).toEqual({ 'gang/default/red': 'unschedulable' });
  });
});

describe('capacity that is no longer reserved', () => {
  async function waiting(): Promise<Scheduling> {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.node({ name: 'b', cpu: 1 });
    c.pod({ name: 'vip', cpu: 2, priority: 10, nominatedNodeName: 'a', schedulerName: 'other' });
    c.pod({ name: 'x', cpu: 2 });
    await drain(c);
    expect(c.states()).toEqual({ 'pod/x': 'unschedulable' });
    c.harness.clock.advance(20_000);
    return c;
  }

  it.each<[string, (c: Scheduling) => void]>([
    ['is deleted', (c) => c.removePod('vip')],
    ['begins to be deleted', (c) => c.change('vip', { deleting: true })],
    ['is nominated elsewhere', (c) => c.change('vip', { nominatedNodeName: 'elsewhere' })],
    ['is bound elsewhere', (c) => c.change('vip', { nodeName: 'elsewhere', nominatedNodeName: '' })],
    ['ends', (c) => c.change('vip', { phase: 'Failed' })],
  ])('wakes waiting pods: the nominated pod %s', async (_change, apply) => {
    const c = await waiting();
    apply(c);
    expect(c.states()['pod/x']).toBe('active');
  });

  it('wakes waiting pods when the member with the reservation is deleted', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.group({ name: 'red', minMember: 2 });
    c.members(2, { group: 'red', cpu: 1 });
    await c.attempt();
    await c.accept('red-0');
    await c.reject('red-1', 'the node rejected the pod');
    c.change('red-0', { nodeName: 'a', phase: 'Running', plannedGroupUid: 'red' });
    await c.attempt();
    await c.reject('red-1', 'the node rejected the pod');
    c.pod({ name: 'x', cpu: 1 });
    await drain(c);
    expect(c.states()['pod/x']).toBe('unschedulable');
    c.removePod('red-1');
    await later(c);
    expect(c.states()['pod/x']).toBeUndefined();
  });
});

describe('a reduced demand', () => {
  it('of a bound pod (in-place resize) wakes pods that wait for its capacity', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 4 });
    const big = { name: 'big', uid: 'big', nodeName: 'a' };
    c.pod({ ...big, cpu: 4 });
    c.pod({ name: 'x', cpu: 2 });
    await drain(c);
    c.pod({ ...big, cpu: 1 });
    await later(c);
    expect(namesOf(c)).toEqual(['x']);
  });

  it('of a waiting pod wakes that pod', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'x', cpu: 4 });
    await drain(c);
    c.pod({ name: 'x', cpu: 1 });
    await later(c);
    expect(namesOf(c)).toEqual(['x']);
  });

  it('of a gang wakes the gang: another process bound one of its members', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.node({ name: 'b', cpu: 2, taints: ['own:NoSchedule'] });
    c.group({ name: 'red', minMember: 3 });
    c.members(3, { group: 'red', cpu: 1 });
    await drain(c);
    c.change('red-2', { nodeName: 'b', phase: 'Running' });
    await later(c);
    expect(namesOf(c)).toEqual(['red-0', 'red-1']);
  });

  it('of a gang wakes the gang: minMember decreased', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.group({ name: 'red', minMember: 3 });
    c.members(3, { group: 'red', cpu: 1 });
    await drain(c);
    c.group({ name: 'red', minMember: 2 });
    await later(c);
    expect(namesOf(c)).toHaveLength(3 - 1);
  });

  it('of a gang wakes the gang: the member that blocked the others was deleted', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 4, allocatable: { 'example.com/gpu': '1' } });
    c.group({ name: 'red', minMember: 2 });
    for (const name of ['red-0', 'red-1']) c.pod({ name, group: 'red', cpu: 1, requests: { 'example.com/gpu': '1' } });
    await drain(c);
    expect(c.states()).toEqual({ 'gang/default/red': 'unschedulable' });
    c.removePod('red-1');
    c.pod({ name: 'red-2', group: 'red', cpu: 1 });
    await later(c);
    expect(namesOf(c)).toEqual(['red-0', 'red-2']);
  });
});

describe('no entity is woken', () => {
  it('by a heartbeat', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.group({ name: 'red', minMember: 2, minResources: { cpu: 8 } });
    c.members(2, { group: 'red', cpu: 1 });
    await drain(c);
    c.node({ name: 'a', cpu: 2 });
    expect(c.states()).toEqual({ 'gang/default/red': 'unschedulable' });
  });

  it('by a failed binding on a node on which it does not fit', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.node({ name: 'b', cpu: 8 });
    c.pod({ name: 'filler', cpu: 6, nodeName: 'b' });
    c.pod({ name: 'huge', cpu: 5 });
    await drain(c);
    c.pod({ name: 'x', cpu: 1 });
    await drain(c);
    await c.reject('x', 'no');
    expect(c.states()['pod/huge']).toBe('unschedulable');
  });

  it('by an event in an equivalence class, except its representative, until that one is scheduled', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'filler', cpu: 2, nodeName: 'a' });
    for (let i = 0; i < 5; i++) {
      c.group({ name: `g${i}`, minMember: 2 });
      c.members(2, { group: `g${i}`, cpu: 1 });
    }
    await drain(c);
    c.harness.clock.advance(20_000);
    c.removePod('filler');
    expect(Object.values(c.states()).filter((state) => state === 'active')).toHaveLength(1);
    await drain(c);
    expect(namesOf(c)).toEqual(['g0-0', 'g0-1']);
    expect(Object.values(c.states())).toEqual(Array(4).fill('unschedulable'));
  });
});
