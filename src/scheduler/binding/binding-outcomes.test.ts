import { describe, expect, it } from 'vitest';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

function coreWith(...extra: Plugin[]): Scheduling {
  const core = new Scheduling({ plugins: defaultPlugins, extra });
  core.node({ name: 'a', cpu: 3 });
  core.group({ name: 'red', minMember: 3 });
  core.members(3, { group: 'red', cpu: 1 });
  return core;
}

describe('a node that keeps rejecting a member', () => {
  /** Node a always has the highest score. */
  async function rejectedByA(rounds: number): Promise<Scheduling> {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 8 });
    core.node({ name: 'b', cpu: 3 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    await core.accept('red-0');
    core.change('red-0', { nodeName: 'a' });
    for (let round = 0; round < rounds; round++) {
      expect(core.binds.map(({ binding }) => binding.nodeName)).toEqual(['a']);
      await core.reject('red-1', 'the node rejected the pod');
      core.harness.clock.advance(20_000);
      await core.attempt();
    }
    return core;
  }

  it('is tried twice, then another node is used', async () => {
    const core = await rejectedByA(2);
    expect(core.binds.map(({ binding }) => binding.nodeName)).toEqual(['b']);
  });

  it('is tried again if no other node fits', async () => {
    const core = await rejectedByA(1);
    core.removeNode('b');
    for (let round = 0; round < 4; round++) {
      await core.reject('red-1', 'the node rejected the pod');
      core.harness.clock.advance(20_000);
      await core.attempt();
      expect(core.binds.map(({ binding }) => binding.nodeName)).toEqual(['a']);
    }
  });
});

describe('a member that cannot be bound', () => {
  it('determines the verdict of all waiting members, also of those beyond minMember', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    core.members(3, { group: 'red', cpu: 1 });
    await core.attempt();
    await core.accept('red-0');
    await core.reject('red-1', 'no');
    expect([...core.harness.verdicts].sort()).toEqual([
      'red-1 PodGroup default/red: binding rejected: no.',
      'red-2 PodGroup default/red: binding rejected: no.',
    ]);
  });

  it('frees its capacity for nothing else and is retried at once, while its siblings stay bound', async () => {
    const core = coreWith();
    expect(await core.attempt()).toBe('planned');
    core.pod({ name: 'important', cpu: 1, priority: 1000 });
    await core.accept('red-0');
    await core.accept('red-2');
    await core.reject('red-1', 'node a rejected it');
    expect(core.harness.events).toEqual([
      'Scheduled red-0',
      'Scheduled red-2',
      'FailedScheduling red-1',
      'FailedScheduling red',
    ]);
    expect(core.harness.cluster.assumedCount).toBe(2);
    expect(core.harness.cluster.node('a')!.free(0)).toBe(1000);
    expect(core.harness.verdicts).toEqual(['red-1 PodGroup default/red: binding rejected: a node rejected it.']);
    // The capacity is reserved, even from a pod with higher priority.
    expect(await core.attempt()).toBe('rejected');
    expect(core.states()['pod/important']).toBe('unschedulable');
    // The watch has not delivered the bound siblings yet.
    expect(await core.attempt()).toBe('planned');
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-1']);
    await core.reject('red-1', 'node a rejected it again');
    // The capacity stays reserved during the gang's backoff.
    expect(core.states()).toEqual({ 'gang/default/red': 'backoff', 'pod/important': 'unschedulable' });
    core.harness.clock.advance(2000);
    expect(core.queue.pop()!.key).toBe('gang/default/red');
  });

  it('loses its reservation when it is deleted', async () => {
    const core = coreWith();
    await core.attempt();
    await core.accept('red-0');
    await core.accept('red-2');
    await core.reject('red-1', 'no');
    core.removePod('red-1');
    core.pod({ name: 'next', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
  });

  it('is queued on its own once other members complete the quorum', async () => {
    const core = coreWith();
    await core.attempt();
    await core.accept('red-0');
    await core.accept('red-2');
    core.pod({ name: 'red-3', group: 'red', nodeName: 'b' });
    await core.reject('red-1', 'node a rejected it');
    expect(core.states()).toEqual({});
    for (const name of ['red-0', 'red-2']) core.change(name, { nodeName: 'a' });
    expect(core.states()).toEqual({ 'pod/red-1': 'active' });
  });

  it('is not requeued if it is deleted', async () => {
    const core = coreWith();
    await core.attempt();
    core.removePod('red-1');
    await core.reject('red-1', 'not found');
    expect(core.states()).toEqual({});
    expect(core.harness.verdicts).toEqual([]);
  });

  it('wakes entities that wait for its capacity', async () => {
    const core = coreWith();
    await core.attempt();
    core.pod({ name: 'waiting', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    expect(core.states()).toEqual({ 'pod/waiting': 'unschedulable' });
    for (const name of ['red-0', 'red-1', 'red-2']) await core.reject(name, 'no');
    expect(core.states()).toEqual({ 'gang/default/red': 'backoff', 'pod/waiting': 'backoff' });
  });

  it('loses its reservation once no member of its group is bound', async () => {
    const core = coreWith();
    await core.attempt();
    await core.reject('red-0', 'no');
    expect([...core.harness.cluster.reservations()].map(({ owner }) => owner.name)).toEqual(['red-0']);
    for (const name of ['red-1', 'red-2']) await core.reject(name, 'no');
    expect([...core.harness.cluster.reservations()]).toEqual([]);
    // No reservation remains during the gang's backoff.
    core.pod({ name: 'other', cpu: 3 });
    expect(await core.attempt()).toBe('planned');
  });

  it('counts for the group that its label names now', async () => {
    const core = coreWith();
    core.group({ name: 'blue', minMember: 1 });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 4 });
    await core.attempt();
    core.change('red-1', { podGroupKey: 'default/blue' });
    expect(await core.attempt()).toBe('rejected');
    expect(core.states()).toMatchObject({ 'gang/default/blue': 'unschedulable' });
    await core.reject('red-1', 'no');
    expect(core.states()).toMatchObject({ 'gang/default/blue': 'backoff' });
  });

  it('without a group returns after the error backoff, with its history', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 3 });
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    await core.reject('x', 'no');
    expect(core.states()).toEqual({ 'pod/x': 'backoff' });
    expect(await core.attempt()).toBeUndefined();
    core.harness.clock.advance(1000);
    expect(core.queue.get('pod/x')).toMatchObject({ attempts: 1, errors: 1, state: { kind: 'active' } });
  });

  it('uses the configured backoff', async () => {
    const core = new Scheduling({ plugins: defaultPlugins, backoff: { initialMs: 3_000, maxMs: 4_000 } });
    core.node({ name: 'a', cpu: 3 });
    core.pod({ name: 'x', cpu: 1 });
    for (const waitMs of [3_000, 4_000]) {
      await core.attempt();
      await core.reject('x', 'no');
      core.harness.clock.advance(waitMs - 1);
      expect(core.states()).toEqual({ 'pod/x': 'backoff' });
      core.harness.clock.advance(1);
      expect(core.states()).toEqual({ 'pod/x': 'active' });
    }
  });

  it('is ignored once the scheduler has stopped', async () => {
    const core = coreWith();
    await core.attempt();
    const stopped = core.harness.core.stop();
    await core.reject('red-0', 'stopping');
    for (const name of ['red-1', 'red-2']) await core.accept(name);
    await stopped;
    expect([core.states(), core.harness.verdicts]).toEqual([{}, []]);
  });
});

describe('a plan that times out on Permit', () => {
  it('is undone for every member: unreserved, forgotten, not bound, one verdict, requeued as a gang', async () => {
    const unreserved: string[] = [];
    const core = coreWith({
      name: 'Gate',
      permit: (_state, pod) => ({ waitMs: pod.name === 'red-1' ? 2000 : 60_000 }),
      unreserve: (_state, pod) => void unreserved.push(pod.name),
    });
    await core.attempt();
    expect(core.harness.cluster.assumedCount).toBe(3);
    core.harness.clock.advance(2000);
    await core.settle();
    expect(core.binds).toEqual([]);
    expect(unreserved).toEqual(['red-2', 'red-1', 'red-0']);
    expect(core.harness.cluster.assumedCount).toBe(0);
    expect(core.harness.cluster.node('a')!.free(0)).toBe(3000);
    expect(core.harness.waitingPods.size).toBe(0);
    expect(core.harness.verdicts).toEqual(
      ['red-0', 'red-1', 'red-2'].map(
        (name) => `${name} PodGroup default/red: timed out after 2 s of waiting on Permit.`,
      ),
    );
    expect(core.states()).toEqual({ 'gang/default/red': 'backoff' });
    expect(core.harness.core.binding.running).toBe(0);
  });
});

describe('a pod whose label names another group since it was planned', () => {
  it('is queued with that group if its binding fails', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 9 });
    core.group({ name: 'blue', minMember: 2 });
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    core.change('x', { podGroupKey: 'default/blue' });
    await core.reject('x', 'no');
    expect(core.states()).toEqual({ 'gang/default/blue': 'gated' });
  });

  it('has no reservation, and its old group does not wait for it', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 9 });
    core.group({ name: 'red', minMember: 2 });
    core.group({ name: 'blue', minMember: 2 });
    core.members(3, { group: 'red', cpu: 1 });
    await core.attempt();
    const [stays, moves] = core.binds.map(({ binding }) => binding.name);
    await core.accept(stays!);
    core.change(stays!, { nodeName: 'a' });
    core.change(moves!, { podGroupKey: 'default/blue' });
    await core.reject(moves!, 'no');
    expect([...core.harness.cluster.reservations()]).toEqual([]);
    expect(Object.keys(core.states()).sort()).toEqual(['gang/default/blue', 'gang/default/red']);
  });
});
