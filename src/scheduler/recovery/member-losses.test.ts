import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

const second = 1000;

/** red runs: three members, two on node a and one on node b, which are full; node c has room for one. */
function running(group: Partial<PodGroupOptions> = {}): Scheduling {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a', cpu: 2 });
  core.node({ name: 'b', cpu: 1 });
  core.group({ name: 'red', minMember: 3, ...group });
  for (const [name, nodeName] of [
    ['red-0', 'a'],
    ['red-1', 'a'],
    ['red-2', 'b'],
  ] as const) {
    core.pod({ name, group: 'red', cpu: 1, nodeName, owner: 'job' });
  }
  return core;
}

function reservations(core: Scheduling): string[] {
  return [...core.harness.cluster.reservations()].map(({ kind, nodeName }) => `${kind} on ${nodeName}`);
}

/** What is to be bound, and where. */
function binds(core: Scheduling): string[] {
  return core.binds.map(({ binding }) => `${binding.name} on ${binding.nodeName}`);
}

async function attemptAll(core: Scheduling): Promise<void> {
  while ((await core.attempt()) !== undefined);
}

async function pass(core: Scheduling, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= second) {
    core.harness.clock.advance(Math.min(second, left));
    await core.settle();
    await attemptAll(core);
  }
}

const rejected: Partial<Pod> = { phase: 'Failed', failedBecause: 'OutOfcpu' };

describe('the room of a member that is gone', () => {
  it('is kept for the one that comes instead, from everybody else, and is told of', async () => {
    const core = running();
    core.removePod('red-1');
    expect(reservations(core)).toEqual(['repair on a']);
    expect(core.harness.events).toEqual(['MemberLost red']);
    core.pod({ name: 'important', cpu: 1, priority: 1000 });
    await attemptAll(core);
    expect(binds(core)).toEqual([]);
    core.pod({ name: 'red-9', group: 'red', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['red-9 on a']);
    await core.accept('red-9');
    core.change('red-9', { nodeName: 'a' });
    expect(reservations(core)).toEqual([]);
  });

  it('is kept while the member leaves by nobody but itself', () => {
    const core = running();
    core.change('red-1', { deleting: true });
    expect(reservations(core)).toEqual([]);
    core.removePod('red-1');
    expect(reservations(core)).toEqual(['repair on a']);
  });

  it('is kept for no longer than the grace; then those hear of it that wait', async () => {
    const core = running({ repairGraceSeconds: 20 });
    core.removePod('red-1');
    core.pod({ name: 'other', cpu: 1 });
    await attemptAll(core);
    expect(core.states()['pod/other']).toBe('unschedulable');
    await pass(core, 19 * second);
    expect(binds(core)).toEqual([]);
    await pass(core, 2 * second);
    expect(reservations(core)).toEqual([]);
    expect(binds(core)).toEqual(['other on a']);
  });

  it('is not kept where the group wants none to be', () => {
    const core = running({ repairGraceSeconds: 0 });
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
    expect(core.harness.events).toEqual(['MemberLost red']);
  });

  it('is not kept for a member beyond the quorum', () => {
    const core = running({ minMember: 2 });
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
    expect(core.harness.events).toEqual([]);
  });

  it('is not kept for members that have finished', () => {
    const core = running();
    core.change('red-1', { phase: 'Succeeded' });
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
    core.change('red-0', { phase: 'Succeeded' });
    core.change('red-2', { phase: 'Succeeded' });
    expect(reservations(core)).toEqual([]);
  });

  it('is given back when the group asks for fewer', async () => {
    const core = running();
    core.removePod('red-1');
    core.pod({ name: 'other', cpu: 1 });
    await attemptAll(core);
    core.group({ name: 'red', minMember: 2 });
    expect(reservations(core)).toEqual([]);
    await pass(core, 2 * second);
    expect(binds(core)).toEqual(['other on a']);
  });

  it('is given back when the rest of the group goes too, or the group itself', () => {
    const core = running();
    core.removePod('red-1');
    for (const name of ['red-0', 'red-2']) core.change(name, { deleting: true });
    expect(reservations(core)).toEqual([]);
    const other = running();
    other.removePod('red-1');
    other.removeGroup('default/red');
    expect(reservations(other)).toEqual([]);
  });

  it('is somebody else’s when it was preempted', () => {
    const core = running();
    core.change('red-1', { deleting: true, disruptedBy: 'PreemptionByScheduler' });
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
  });

  it('is kept once for each that is missing, and ends one by one', async () => {
    const core = running();
    core.removePod('red-1');
    core.removePod('red-2');
    expect(reservations(core)).toEqual(['repair on a', 'repair on b']);
    core.pod({ name: 'red-8', group: 'red', owner: 'job', cpu: 1, nodeName: 'b' });
    expect(reservations(core)).toEqual(['repair on a']);
    core.pod({ name: 'red-9', group: 'red', owner: 'job', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['red-9 on a']);
  });

  it('can be used by a sibling that waited all the time', async () => {
    const core = running();
    core.pod({ name: 'red-3', group: 'red', cpu: 1 });
    await attemptAll(core);
    core.removePod('red-1');
    await pass(core, 2 * second);
    expect(binds(core)).toEqual(['red-3 on a']);
  });

  it('ends when a sibling uses it that another scheduler has bound', () => {
    const core = running();
    core.removePod('red-1');
    core.pod({ name: 'red-7', group: 'red', cpu: 1, nodeName: 'a', schedulerName: 'another' });
    expect(reservations(core)).toEqual([]);
  });

  it('of a failed member is kept as well', () => {
    const core = running();
    core.change('red-1', { phase: 'Failed' });
    expect(reservations(core)).toEqual(['repair on a']);
  });
});

describe('a member whose node is no use any more', () => {
  it('has as much room kept elsewhere, where a trial finds it', async () => {
    const core = running();
    core.node({ name: 'c', cpu: 1 });
    core.removeNode('b');
    core.removePod('red-2');
    expect(reservations(core)).toEqual(['repair on c']);
    core.pod({ name: 'other', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual([]);
    core.pod({ name: 'red-9', group: 'red', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['red-9 on c']);
  });

  it('has nothing kept where there is nothing', () => {
    const core = running();
    core.removeNode('b');
    core.removePod('red-2');
    expect(reservations(core)).toEqual([]);
    expect(core.harness.events).toEqual(['NodeLost red', 'MemberLost red']);
  });

  it('leaves nothing of the trial behind', () => {
    const core = running();
    core.node({ name: 'c', cpu: 1 });
    core.removeNode('b');
    const before = core.harness.cluster.podCount;
    core.removePod('red-2');
    expect(core.harness.cluster.podCount).toBe(before - 1);
    expect([...core.harness.cluster.gang('default/red')!.members.keys()]).toEqual(['red-0', 'red-1']);
  });

  it('moves its claim with the node, when that is cordoned after', () => {
    const core = running();
    core.removePod('red-2');
    expect(reservations(core)).toEqual(['repair on b']);
    core.node({ name: 'c', cpu: 1 });
    core.node({ name: 'b', cpu: 1, unschedulable: true });
    expect(reservations(core)).toEqual(['repair on c']);
    core.removeNode('c');
    expect(reservations(core)).toEqual([]);
  });

  it('has room kept for two of them on one node only if it fits both', () => {
    const core = running();
    core.node({ name: 'c', cpu: 1 });
    core.removeNode('a');
    core.removePod('red-0');
    core.removePod('red-1');
    expect(reservations(core)).toEqual(['repair on c']);
  });
});

describe('a node that does not admit a member', () => {
  it('gets none like it for a while: the one that comes instead goes elsewhere', async () => {
    const core = running();
    core.node({ name: 'c', cpu: 1 });
    core.change('red-1', rejected);
    expect(core.harness.events).toEqual(['MemberLost red']);
    expect(reservations(core)).toEqual(['repair on c']);
    core.pod({ name: 'red-9', group: 'red', owner: 'job', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['red-9 on c']);
  });

  it('gets none though there is no other; it is tried again after a minute, then later each time', async () => {
    const core = running();
    core.change('red-1', rejected);
    let name = 'red-1';
    const waited: number[] = [];
    for (let round = 0; round < 4; round++) {
      core.removePod(name);
      name = `red-${10 + round}`;
      core.pod({ name, group: 'red', cpu: 1, owner: 'job' });
      let seconds = 0;
      for (; core.binds.length === 0; seconds++) await pass(core, second);
      waited.push(Math.round(seconds / 60));
      expect(binds(core)).toEqual([`${name} on a`]);
      await core.accept(name);
      core.change(name, { nodeName: 'a' });
      core.change(name, rejected);
    }
    expect(waited).toEqual([1, 2, 4, 8]);
  });

  it('says so to those that wait', async () => {
    const core = running();
    core.change('red-1', rejected);
    core.pod({ name: 'red-9', group: 'red', owner: 'job', cpu: 1 });
    await attemptAll(core);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('1 node(s) did not admit a pod like this one');
  });

  it('is tried at once when it changes, and with pods of other shapes', async () => {
    const core = running();
    core.change('red-1', rejected);
    core.pod({ name: 'small', cpu: '500m' });
    await attemptAll(core);
    expect(binds(core)).toEqual(['small on a']);
    core.pod({ name: 'red-9', group: 'red', cpu: 1 });
    await attemptAll(core);
    core.node({ name: 'a', cpu: 4 });
    await pass(core, 2 * second);
    expect(binds(core)).toEqual(['small on a', 'red-9 on a']);
  });

  it('is tried as soon as another pod has left it, and not because a pod has that it did not admit', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 3 });
    core.pod({ name: 'theirs', cpu: 1, nodeName: 'a', schedulerName: 'another' });
    core.pod({ name: 'large', cpu: 1, memory: '1Gi', nodeName: 'a' });
    core.pod({ name: 'ours', cpu: 1, nodeName: 'a' });
    core.change('ours', rejected);
    core.change('large', rejected);
    core.removePod('ours');
    core.pod({ name: 'next', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual([]);
    core.removePod('theirs');
    await pass(core, 2 * second);
    expect(binds(core)).toEqual(['next on a']);
  });

  it('is learnt from lone pods too, and from those of others not', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'theirs', cpu: 1, nodeName: 'a', schedulerName: 'another' });
    core.change('theirs', rejected);
    core.pod({ name: 'ours', cpu: 1, nodeName: 'a' });
    await attemptAll(core);
    core.change('ours', { phase: 'Failed', failedBecause: 'NodeAffinity' });
    core.pod({ name: 'next', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual([]);
  });

  it('is not learnt from a pod that ran and failed', async () => {
    const core = running();
    core.change('red-1', { phase: 'Failed', failedBecause: 'Evicted' });
    core.pod({ name: 'red-9', group: 'red', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['red-9 on a']);
  });
});

describe('a node that goes or does not run pods', () => {
  function halfBound(): Scheduling {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 1 });
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'red', minMember: 3 });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'a', owner: 'job' });
    for (const name of ['red-1', 'red-2']) core.pod({ name, group: 'red', cpu: 1 });
    return core;
  }

  it.each([
    [
      'is not ready',
      (core: Scheduling) => core.node({ name: 'a', cpu: 1, taints: ['node.kubernetes.io/not-ready:NoExecute'] }),
    ],
    ['is gone', (core: Scheduling) => core.removeNode('a')],
  ])(
    'when it %s: no more members are bound to a quorum of which one is there, and an Event says so',
    async (_how, lose) => {
      const core = new Scheduling({ plugins: defaultPlugins });
      core.node({ name: 'a', cpu: 1 });
      core.node({ name: 'b', cpu: 2 });
      core.group({ name: 'red', minMember: 3 });
      core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'a', owner: 'job' });
      lose(core);
      for (const name of ['red-1', 'red-2']) core.pod({ name, group: 'red', cpu: 1 });
      await attemptAll(core);
      expect(binds(core)).toEqual([]);
      expect(core.harness.events).toContain('NodeLost red');
      await pass(core, 2 * second);
      expect(core.harness.verdicts.at(-1)).toMatch(
        /has 2 of the 3 members it needs to start; 1 of the others is on lost nodes/,
      );
      // It is back.
      core.node({ name: 'a', cpu: 1 });
      await pass(core, 2 * second);
      expect(binds(core)).toEqual(['red-1 on b', 'red-2 on b']);
    },
  );

  it('stops the Bindings that are not sent yet', async () => {
    const core = halfBound();
    await attemptAll(core);
    const [first, next] = core.binds;
    expect(first!.binding.mayBeSent).toBeDefined();
    first!.binding.mayBeSent!();
    core.node({ name: 'a', cpu: 1, taints: ['node.kubernetes.io/unreachable:NoSchedule'] });
    expect(() => next!.binding.mayBeSent!()).toThrow(/has only 2 of the 3 members/);
  });

  it('stops a Binding to it', async () => {
    const core = halfBound();
    await attemptAll(core);
    const { binding } = core.binds[0]!;
    core.node({ name: 'b', cpu: 2, taints: ['node.kubernetes.io/not-ready:NoSchedule'] });
    expect(() => binding.mayBeSent!()).toThrow('node b is not ready');
  });

  it('takes nothing from a group that runs: what is lost, and when, Kubernetes decides', async () => {
    const core = running();
    core.node({ name: 'c', cpu: 1 });
    core.pod({ name: 'red-3', group: 'red', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['red-3 on c']);
    core.removeNode('b');
    expect(core.harness.cluster.gang('default/red')!.missing).toBe(0);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.events.filter((event) => event === 'NodeLost red')).toHaveLength(1);
  });

  it('is no such node to a pod that wants to be there', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 3, taints: ['node.kubernetes.io/not-ready:NoSchedule'] });
    core.group({ name: 'red', minMember: 2 });
    const tolerations = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }];
    core.members(2, { group: 'red', cpu: 1, tolerations });
    await attemptAll(core);
    for (const name of ['red-0', 'red-1']) {
      await core.accept(name);
      core.change(name, { nodeName: 'a' });
    }
    expect(core.harness.cluster.gang('default/red')!.started).toBe(true);
  });

  it('counts as gone when it is not there at the start', () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'red', minMember: 3 });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'a' });
    core.start();
    expect(core.harness.cluster.gang('default/red')!.count('stranded')).toBe(1);
  });
});
