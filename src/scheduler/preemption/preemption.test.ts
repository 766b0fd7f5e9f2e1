import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { Plugin, PostFilterResult } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { CoreHarness } from '../../testkit/core-harness.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { preempting, capacityFor } from '../testing/preempting.ts';

/** A PostFilter that makes room for pod x alone, on node a. */
function preemptingForX(harness: () => CoreHarness): Plugin {
  return preempting((schedulingEntity) =>
    schedulingEntity.kind === 'pod' && schedulingEntity.pod.name === 'x' ? capacityFor(harness(), 'x', 'a') : undefined,
  );
}

describe('a nomination by PostFilter', () => {
  const crowded = (answer: (core: Queueing) => PostFilterResult | undefined): Queueing => {
    const core: Queueing = new Queueing({ plugins: defaultPlugins, extra: [preempting(() => answer(core))] });
    return core;
  };

  it('is rejected where a bound member of the same gang would have to go', () => {
    const core = crowded(({ harness }) => capacityFor(harness, 'red-1', 'a', ['red-0']));
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-0', group: 'red', cpu: 4, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'red-1', group: 'red', cpu: 2 });
    core.pod({ name: 'red-2', group: 'red', cpu: 2 });
    core.harness.core.attempt();
    expect(core.harness.evicted).toEqual([]);
  });

  it('evicts nobody who is on no node', () => {
    const core = crowded(({ harness }) => capacityFor(harness, 'x', 'a', ['old', 'waiting']));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'waiting', cpu: 1, gates: ['shut'] });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    expect(core.harness.evicted).not.toContain('waiting for pod default/x');
  });

  it('evicts each victim once, also one that is named twice', () => {
    const core = crowded(({ harness }) => capacityFor(harness, 'x', 'a', ['old', 'old']));
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'blue', minMember: 1 });
    core.pod({ name: 'old', group: 'blue', cpu: 1, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    expect(core.harness.cluster.gang('default/blue')!.missing).toBe(0);
    expect(core.harness.evicted).toEqual(['old for pod default/x']);
  });

  it('does not evict again one that is going already', () => {
    const core = crowded(({ harness }) => capacityFor(harness, 'x', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a', deleting: true });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    expect(core.harness.evicted).toEqual([]);
  });

  it('is rejected when those that are nominated are not its members', () => {
    const core = crowded(({ harness }) => capacityFor(harness, 'other', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'other', cpu: 1, gates: ['shut'] });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    expect(core.harness.evicted).toEqual([]);
  });

  it('keeps no room for members other than those that were nominated', () => {
    const core = crowded(({ harness }) => capacityFor(harness, 'red-1', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'red', minMember: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.members(2, { group: 'red', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    const { cluster } = core.harness;
    expect([cluster.reservationOf('red-0'), cluster.reservationOf('red-1')?.nodeName]).toEqual([undefined, 'a']);
  });

  it('is not asked for, nor carried out, when a plugin failed', () => {
    let failing = true;
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        preempting(() => {
          failing = false;
          return capacityFor(core.harness, 'x', 'a');
        }),
        {
          name: 'Failing',
          preFilter: () => {
            if (failing) throw new Error('no answer');
            return undefined;
          },
        },
      ],
    });
    core.node({ name: 'a', cpu: 4 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    expect(core.harness.evicted).toEqual([]);
  });

  it('wakes its own claimant when the time of the room is over', () => {
    const core = crowded(({ harness }) => capacityFor(harness, 'x', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    expect(core.harness.evicted).toHaveLength(1);
    core.harness.clock.advance(60_000);
    expect(core.states()).toEqual({ 'pod/x': 'active' });
  });
});

describe('capacity reserved for a nominated pod', () => {
  it('is heard of by those that wait for it when the pod is deleted', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [preemptingForX(() => core.harness)],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    core.harness.core.attempt();
    expect(core.harness.evicted).toEqual(['old for pod default/x']);
    core.harness.clock.advance(20_000);
    core.removePod('old');
    expect(core.rejectNext('NodeAffinity').key).toBe('pod/x');
    core.harness.core.attempt();
    // The room is kept for x, which something else keeps from it.
    expect(core.states()).toEqual({ 'pod/y': 'unschedulable', 'pod/x': 'unschedulable' });
    core.removePod('x');
    expect(core.states()).toEqual({ 'pod/y': 'backoff' });
  });

  it('is heard of by those that wait for it when the pod went elsewhere', async () => {
    const core: Scheduling = new Scheduling({
      plugins: defaultPlugins,
      extra: [preemptingForX(() => core.harness)],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, priority: 10, tolerations: [{ key: 'only', operator: 'Exists' }] });
    await core.attempt();
    await core.attempt();
    expect(core.harness.evicted).toEqual(['old for pod default/x']);
    core.harness.clock.advance(20_000);
    core.removePod('old');
    core.node({ name: 'b', cpu: 64, taints: ['only=x:NoSchedule'] });
    // y was first in the queue and is rejected: the room is kept for x, which then finds a better node.
    while ((await core.attempt()) !== undefined) await core.settle();
    expect(core.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`)).toContain('x b');
    await core.accept('x');
    core.change('x', { nodeName: 'b', phase: 'Running' });
    core.harness.clock.advance(120_000);
    while ((await core.attempt()) !== undefined) await core.settle();
    expect(core.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`)).toContain('y a');
  });

  it('is kept until the victims have gone, so that nobody else has to go meanwhile', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        preempting((schedulingEntity) => {
          const victim = [...core.harness.cluster.pods()].find(
            ({ nodeName, deleting }) => nodeName !== '' && !deleting,
          );
          if (schedulingEntity.kind !== 'pod' || victim === undefined) return undefined;
          const nominations = [{ pod: schedulingEntity.pod, nodeName: victim.nodeName }];
          return { message: 'makes room', nominations, victims: [victim] };
        }),
      ],
    });
    for (const name of ['a', 'b']) {
      core.node({ name, cpu: 1 });
      core.pod({ name: `old-${name}`, cpu: 1, nodeName: name });
    }
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    // Its grace period is longer than the room is kept.
    core.change('old-a', { deleting: true });
    core.harness.clock.advance(60_000);
    core.harness.core.attempt();
    expect(core.harness.evicted).toEqual(['old-a for pod default/x']);
  });
});

describe('preemption', () => {
  it('takes nobody away for a pod that Reserve then rejects', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        { name: 'Devices', reserve: () => new Status('Unschedulable', 'no device is left') },
        preempting((schedulingEntity) =>
          schedulingEntity.kind === 'pod' ? capacityFor(core.harness, 'x', 'a') : undefined,
        ),
      ],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    expect(core.harness.evicted).toEqual([]);
  });

  const withVictims = (names: readonly string[]): Queueing => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [preempting(() => capacityFor(core.harness, 'x', 'a', names))],
    });
    return core;
  };

  it('tears no group of which a member that is named is going already', () => {
    const core = withVictims(['blue-0', 'blue-2']);
    core.node({ name: 'a', cpu: 2 });
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'blue', minMember: 2 });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'blue-1', group: 'blue', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'blue-2', group: 'blue', cpu: 1, nodeName: 'a', deleting: true });
    core.pod({ name: 'x', cpu: 2, priority: 10 });
    core.harness.core.attempt();
    // blue-1 would be left, one of two.
    expect(core.harness.evicted).toEqual([]);
  });

  it('may wait for a member that is going already, whose group keeps its quorum', () => {
    const core = withVictims(['blue-2']);
    core.node({ name: 'a', cpu: 1 });
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'blue', minMember: 2 });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'blue-1', group: 'blue', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'blue-2', group: 'blue', cpu: 1, nodeName: 'a', deleting: true });
    core.pod({ name: 'x', cpu: 1, priority: 10, tolerations: [] });
    core.harness.core.attempt();
    expect(core.harness.cluster.reservationOf('x')?.nodeName).toBe('a');
  });

  it('of room elsewhere frees the room of a nomination that it replaces, and those who wait for it hear of it', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        preempting((schedulingEntity) =>
          schedulingEntity.kind === 'pod' && schedulingEntity.pod.name === 'x'
            ? capacityFor(core.harness, 'x', 'b')
            : undefined,
        ),
      ],
    });
    core.node({ name: 'a', cpu: 1, taints: ['only=y:NoSchedule'] });
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'x', cpu: 1, priority: 10, nominatedNodeName: 'a', gates: ['shut'] });
    core.pod({ name: 'y', cpu: 1, tolerations: [{ key: 'only', operator: 'Exists' }] });
    core.harness.core.attempt();
    expect(core.states()['pod/y']).toBe('unschedulable');
    core.harness.clock.advance(20_000);
    core.change('x', { schedulingGates: [] });
    core.harness.core.attempt();
    expect(core.harness.cluster.reservationOf('x')?.nodeName).toBe('b');
    expect(core.states()['pod/y']).not.toBe('unschedulable');
  });

  it('does not turn room that is kept from everybody into room that is kept from some', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [preempting(() => capacityFor(core.harness, 'red-1', 'a'))],
    });
    core.node({ name: 'a', cpu: 1 });
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'b', priority: 10 });
    const owner = core.pod({ name: 'red-1', group: 'red', cpu: 1, priority: 10 });
    // As after a Binding that failed.
    core.harness.cluster.reservation({ kind: 'repair', owner, nodeName: 'a', isKept: true });
    core.harness.core.attempt();
    expect(core.harness.evicted).toEqual(['old for PodGroup default/red']);
    expect(core.harness.cluster.reservationOf('red-1')?.kind).toBe('repair');
  });

  it('counts members that have succeeded towards the quorum that is left, as the group does', () => {
    const core = withVictims(['blue-0']);
    core.node({ name: 'a', cpu: 1 });
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'blue', minMember: 2 });
    for (const [name, nodeName] of [
      ['blue-0', 'a'],
      ['blue-1', 'b'],
      ['blue-2', 'b'],
    ] as const)
      core.pod({ name, group: 'blue', cpu: 1, nodeName });
    core.change('blue-2', { phase: 'Succeeded' });
    core.pod({ name: 'x', cpu: 1, priority: 10, nodeSelector: {} });
    // Keeps b full.
    core.pod({ name: 'full', cpu: 1, nodeName: 'b', priority: 20 });
    core.harness.core.attempt();
    expect(core.harness.evicted).toEqual(['blue-0 for pod default/x']);
    core.removePod('blue-0');
    expect(core.harness.cluster.gang('default/blue')!.missing).toBe(0);
  });

  it('is asked for anew when the node where room is kept is gone', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        preempting((schedulingEntity) => {
          const victim = [...core.harness.cluster.pods()].find(
            ({ nodeName, deleting }) => core.harness.cluster.node(nodeName) !== undefined && !deleting,
          );
          if (schedulingEntity.kind !== 'pod' || victim === undefined) return undefined;
          return {
            message: 'makes room',
            nominations: [{ pod: schedulingEntity.pod, nodeName: victim.nodeName }],
            victims: [victim],
          };
        }),
      ],
    });
    for (const name of ['a', 'b']) {
      core.node({ name, cpu: 1 });
      core.pod({ name: `old-${name}`, cpu: 1, nodeName: name });
    }
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    const first = core.harness.cluster.reservationOf('x')!.nodeName;
    core.change(`old-${first}`, { deleting: true });
    core.removeNode(first);
    // Its kubelet is gone with it: the pod stays as it is.
    for (let i = 0; i < 20; i++) {
      core.harness.clock.advance(30_000);
      core.harness.core.attempt();
    }
    expect(new Set(core.harness.evicted).size).toBe(2);
  });
});

describe('the reservation of a nomination', () => {
  it('is heard of when its pod is next seen as having ended there', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, priority: 10, schedulerName: 'other', nominatedNodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.harness.core.attempt();
    expect(core.states()).toEqual({ 'pod/y': 'unschedulable' });
    core.change('x', { nodeName: 'a', phase: 'Failed' } satisfies Partial<Pod>);
    expect(core.states()).not.toEqual({ 'pod/y': 'unschedulable' });
  });

  it('that the API told of still stands when the time of ours is over', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [preemptingForX(() => core.harness)],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10, nominatedNodeName: 'a' });
    core.harness.core.attempt();
    core.harness.clock.advance(61_000);
    expect(core.harness.cluster.reservationOf('x')?.nodeName).toBe('a');
  });
});
