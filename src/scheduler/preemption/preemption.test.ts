import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { Plugin, PostFilterResult } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import type { CoreHarness } from '../../testkit/core-harness.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { preempting, capacityFor } from '../testing/preempting.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';

/** A PostFilter that evicts victims on node a, only for pod x. */
function preemptingForX(harness: () => CoreHarness): Plugin {
  return preempting((schedulingEntity) =>
    schedulingEntity.kind === 'pod' && schedulingEntity.pod.name === 'x' ? capacityFor(harness(), 'x', 'a') : undefined,
  );
}

describe('a nomination by PostFilter', () => {
  const nominating = (result: (core: Queueing) => PostFilterResult | undefined): Queueing => {
    const core: Queueing = new Queueing({ plugins: withoutPreemption, extra: [preempting(() => result(core))] });
    return core;
  };

  it('is rejected if a victim is a bound member of the same gang', async () => {
    const core = nominating(({ harness }) => capacityFor(harness, 'red-1', 'a', ['red-0']));
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-0', group: 'red', cpu: 4, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'red-1', group: 'red', cpu: 2 });
    core.pod({ name: 'red-2', group: 'red', cpu: 2 });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).toEqual([]);
  });

  it('evicts no pod that is not bound', async () => {
    const core = nominating(({ harness }) => capacityFor(harness, 'x', 'a', ['old', 'waiting']));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'waiting', cpu: 1, gates: ['shut'] });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).not.toContain('waiting');
  });

  it('deduplicates victims', async () => {
    const core = nominating(({ harness }) => capacityFor(harness, 'x', 'a', ['old', 'old']));
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'blue', minMember: 1 });
    core.pod({ name: 'old', group: 'blue', cpu: 1, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.cluster.gang('default/blue')!.missing).toBe(0);
    expect(core.harness.evicted).toEqual(['old']);
  });

  it('does not evict a victim that is already being deleted', async () => {
    const core = nominating(({ harness }) => capacityFor(harness, 'x', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a', deleting: true });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).toEqual([]);
  });

  it('is rejected if the nominated pods are not members', async () => {
    const core = nominating(({ harness }) => capacityFor(harness, 'other', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'other', cpu: 1, gates: ['shut'] });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).toEqual([]);
  });

  it('reserves capacity only for the nominated members', async () => {
    const core = nominating(({ harness }) => capacityFor(harness, 'red-1', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'red', minMember: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.members(2, { group: 'red', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    const { cluster } = core.harness;
    expect([cluster.reservationOf('red-0'), cluster.reservationOf('red-1')?.nodeName]).toEqual([undefined, 'a']);
  });

  it('is neither requested nor carried out if a plugin failed', async () => {
    let failing = true;
    const core: Queueing = new Queueing({
      plugins: withoutPreemption,
      extra: [
        preempting(() => {
          failing = false;
          return capacityFor(core.harness, 'x', 'a');
        }),
        {
          name: 'Failing',
          preFilter: () => {
            if (failing) throw new Error('a bug');
            return undefined;
          },
        },
      ],
    });
    core.node({ name: 'a', cpu: 4 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).toEqual([]);
  });

  it('wakes the owner when its reservation ends', async () => {
    const core = nominating(({ harness }) => capacityFor(harness, 'x', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).toHaveLength(1);
    core.harness.clock.advance(90_000);
    expect(core.states()).toEqual({ 'pod/x': 'active' });
  });
});

describe('capacity reserved for a nominated pod', () => {
  it('wakes pods that wait for it when the nominated pod is deleted', async () => {
    const core: Queueing = new Queueing({
      plugins: withoutPreemption,
      extra: [preemptingForX(() => core.harness)],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).toEqual(['old']);
    core.harness.clock.advance(20_000);
    core.removePod('old');
    expect(core.rejectNext('NodeAffinity').key).toBe('pod/x');
    core.harness.core.attempt();
    await core.settle();
    // The capacity is reserved for x, which another plugin rejects.
    expect(core.states()).toEqual({ 'pod/y': 'unschedulable', 'pod/x': 'unschedulable' });
    core.removePod('x');
    expect(core.states()).toEqual({ 'pod/y': 'backoff' });
  });

  it('wakes pods that wait for it when the nominated pod is bound elsewhere', async () => {
    const core: Scheduling = new Scheduling({
      plugins: withoutPreemption,
      extra: [preemptingForX(() => core.harness)],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, priority: 10, tolerations: [{ key: 'only', operator: 'Exists' }] });
    await core.attempt();
    await core.attempt();
    expect(core.harness.evicted).toEqual(['old']);
    core.harness.clock.advance(20_000);
    core.removePod('old');
    core.node({ name: 'b', cpu: 64, taints: ['only=x:NoSchedule'] });
    // y is first in the queue and is rejected: the capacity is reserved for x, which then finds a better node.
    while ((await core.attempt()) !== undefined) await core.settle();
    expect(core.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`)).toContain('x b');
    await core.accept('x');
    core.change('x', { nodeName: 'b', phase: 'Running' });
    core.harness.clock.advance(120_000);
    while ((await core.attempt()) !== undefined) await core.settle();
    expect(core.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`)).toContain('y a');
  });

  it('stays reserved until the victims are gone, so that no other pod is evicted', async () => {
    const core: Queueing = new Queueing({
      plugins: withoutPreemption,
      extra: [
        preempting((schedulingEntity) => {
          const victim = [...core.harness.cluster.pods()].find(
            ({ nodeName, deleting }) => nodeName !== '' && !deleting,
          );
          if (schedulingEntity.kind !== 'pod' || victim === undefined) return undefined;
          const nominations = [{ pod: schedulingEntity.pod, nodeName: victim.nodeName }];
          return { message: 'Preempts pods.', nominations, victims: [victim] };
        }),
      ],
    });
    for (const name of ['a', 'b']) {
      core.node({ name, cpu: 1 });
      core.pod({ name: `old-${name}`, cpu: 1, nodeName: name });
    }
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    // The grace period of the victim is longer than the reservation.
    core.change('old-a', { deleting: true });
    core.harness.clock.advance(60_000);
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).toEqual(['old-a']);
  });
});

describe('preemption', () => {
  it('evicts no pod if Reserve then rejects the preemptor', async () => {
    const core: Queueing = new Queueing({
      plugins: withoutPreemption,
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
    await core.settle();
    expect(core.harness.evicted).toEqual([]);
  });

  const withVictims = (names: readonly string[]): Queueing => {
    const core: Queueing = new Queueing({
      plugins: withoutPreemption,
      extra: [preempting(() => capacityFor(core.harness, 'x', 'a', names))],
    });
    return core;
  };

  it('does not break a group in which one of the victims is already being deleted', async () => {
    const core = withVictims(['blue-0', 'blue-2']);
    core.node({ name: 'a', cpu: 2 });
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'blue', minMember: 2 });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'blue-1', group: 'blue', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'blue-2', group: 'blue', cpu: 1, nodeName: 'a', deleting: true });
    core.pod({ name: 'x', cpu: 2, priority: 10 });
    core.harness.core.attempt();
    await core.settle();
    // Only blue-1 of two required members would remain.
    expect(core.harness.evicted).toEqual([]);
  });

  it('may wait for a terminating member whose group keeps its quorum', async () => {
    const core = withVictims(['blue-2']);
    core.node({ name: 'a', cpu: 1 });
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'blue', minMember: 2 });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'blue-1', group: 'blue', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'blue-2', group: 'blue', cpu: 1, nodeName: 'a', deleting: true });
    core.pod({ name: 'x', cpu: 1, priority: 10, tolerations: [] });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.cluster.reservationOf('x')?.nodeName).toBe('a');
  });

  it('wakes pods that wait for the capacity of a nomination which it replaces', async () => {
    const core: Queueing = new Queueing({
      plugins: withoutPreemption,
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
    await core.settle();
    expect(core.states()['pod/y']).toBe('unschedulable');
    core.harness.clock.advance(20_000);
    core.change('x', { schedulingGates: [] });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.cluster.reservationOf('x')?.nodeName).toBe('b');
    expect(core.states()['pod/y']).not.toBe('unschedulable');
  });

  it('does not weaken a repair reservation to a nomination', async () => {
    const core: Queueing = new Queueing({
      plugins: withoutPreemption,
      extra: [preempting(() => capacityFor(core.harness, 'red-1', 'a'))],
    });
    core.node({ name: 'a', cpu: 1 });
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'b', priority: 10 });
    const owner = core.pod({ name: 'red-1', group: 'red', cpu: 1, priority: 10 });
    // The state after a failed binding.
    core.harness.cluster.reservation({ kind: 'repair', owner, nodeName: 'a', isKept: true });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).toEqual(['old']);
    expect(core.harness.cluster.reservationOf('red-1')?.kind).toBe('repair');
  });

  it('counts succeeded members towards the remaining quorum, as the group does', async () => {
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
    // Fills node b.
    core.pod({ name: 'full', cpu: 1, nodeName: 'b', priority: 20 });
    core.harness.core.attempt();
    await core.settle();
    expect(core.harness.evicted).toEqual(['blue-0']);
    core.removePod('blue-0');
    expect(core.harness.cluster.gang('default/blue')!.missing).toBe(0);
  });

  it('calls PostFilter again if the node of the reservation is gone', async () => {
    const core: Queueing = new Queueing({
      plugins: withoutPreemption,
      extra: [
        preempting((schedulingEntity) => {
          const victim = [...core.harness.cluster.pods()].find(
            ({ nodeName, deleting }) => core.harness.cluster.node(nodeName) !== undefined && !deleting,
          );
          if (schedulingEntity.kind !== 'pod' || victim === undefined) return undefined;
          return {
            message: 'Preempts pods.',
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
    await core.settle();
    const first = core.harness.cluster.reservationOf('x')!.nodeName;
    core.change(`old-${first}`, { deleting: true });
    core.removeNode(first);
    // The kubelet is gone with the node, so the victim never terminates.
    for (let i = 0; i < 20; i++) {
      core.harness.clock.advance(30_000);
      core.harness.core.attempt();
      await core.settle();
    }
    expect(new Set(core.harness.evicted).size).toBe(2);
  });
});

describe('a nomination of another scheduler', () => {
  it('wakes waiting pods when the API shows its pod as failed on that node', async () => {
    const core = new Queueing({ plugins: withoutPreemption });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, priority: 10, schedulerName: 'other', nominatedNodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.harness.core.attempt();
    await core.settle();
    expect(core.states()).toEqual({ 'pod/y': 'unschedulable' });
    core.change('x', { nodeName: 'a', phase: 'Failed' } satisfies Partial<Pod>);
    expect(core.states()).not.toEqual({ 'pod/y': 'unschedulable' });
  });

  it("remains when this scheduler's own reservation on the node ends", async () => {
    const core: Queueing = new Queueing({
      plugins: withoutPreemption,
      extra: [preemptingForX(() => core.harness)],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10, nominatedNodeName: 'a' });
    core.harness.core.attempt();
    await core.settle();
    core.harness.clock.advance(91_000);
    expect(core.harness.cluster.reservationOf('x')?.nodeName).toBe('a');
  });
});
