import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../api/pod.ts';
import type { Pod } from '../../api/pod.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { LogLines } from '../../../test/scenarios/log-lines.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

const second = 1000;

/** red runs with three members: two on node a, one on node b. Both nodes are full. They have run for a minute. */
function running(group: Partial<PodGroupOptions> = {}, logger?: LogLines): Scheduling {
  const core = new Scheduling({ plugins: defaultPlugins, ...(logger && { logger }) });
  core.node({ name: 'a', cpu: 2 });
  core.node({ name: 'b', cpu: 1 });
  core.group({ name: 'red', minMember: 3, ...group });
  for (const [name, nodeName] of [
    ['red-0', 'a'],
    ['red-1', 'a'],
    ['red-2', 'b'],
  ] as const) {
    core.pod({ name, group: 'red', cpu: 1, owner: 'job' });
    core.change(name, { nodeName });
  }
  core.harness.clock.advance(60 * second);
  return core;
}

function reservations(core: Scheduling): string[] {
  return [...core.harness.cluster.reservations()].map(({ kind, nodeName }) => `${kind} on ${nodeName}`);
}

/** Pending bindings: pod and node. */
function binds(core: Scheduling): string[] {
  return core.binds.map(({ binding }) => `${binding.name} on ${binding.nodeName}`);
}

async function attemptAll(core: Scheduling): Promise<void> {
  while ((await core.attempt()) !== undefined);
}

async function advance(core: Scheduling, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= second) {
    core.harness.clock.advance(Math.min(second, left));
    await core.settle();
    await attemptAll(core);
  }
}

const rejected: Partial<Pod> = { phase: 'Failed', failedBecause: 'OutOfcpu' };

describe('the log line about a lost member', () => {
  const losses: readonly (readonly [string, string, (core: Scheduling) => unknown])[] = [
    ['info', 'a user deleted it', (core) => core.removePod('red-1')],
    [
      'info',
      'a user deleted it and its containers failed',
      (core) => core.change('red-1', { deleting: true, phase: 'Failed' }),
    ],
    ['warn', 'it failed', (core) => core.change('red-1', { phase: 'Failed' })],
    ['warn', 'its node rejected it', (core) => core.change('red-1', rejected)],
    [
      'warn',
      'it was evicted',
      (core) => {
        core.change('red-1', { deleting: true, disruptedBy: 'EvictionByEvictionAPI' });
        core.removePod('red-1');
      },
    ],
  ];

  it.each(losses)('has level %s if %s', (level, _why, lose) => {
    const logs = new LogLines();
    const core = running({}, logs);
    lose(core);
    const lines = logs.lines.filter(({ message }) => message === 'a group lost a member');
    expect(lines.map((line) => line.level)).toEqual([level]);
  });
});

describe('the capacity of a lost member', () => {
  it('is reserved for its replacement only, and an Event reports the loss', async () => {
    const core = running();
    core.removePod('red-1');
    expect(reservations(core)).toEqual(['repair on a']);
    expect(core.harness.events).toEqual(['MemberLost red']);
    core.pod({ name: 'other', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual([]);
    expect(core.harness.verdicts.at(-1)).toContain('Insufficient cpu (capacity reserved for other pods)');
    core.pod({ name: 'red-9', group: 'red', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['red-9 on a']);
    await core.accept('red-9');
    core.change('red-9', { nodeName: 'a' });
    expect(reservations(core)).toEqual([]);
  });

  it('is reserved once the deletion has finished', () => {
    const core = running();
    core.change('red-1', { deleting: true });
    expect(reservations(core)).toEqual([]);
    core.removePod('red-1');
    expect(reservations(core)).toEqual(['repair on a']);
  });

  it('is reserved until the grace period ends; then waiting pods are requeued', async () => {
    const core = running({ repairGraceSeconds: 20 });
    core.removePod('red-1');
    core.pod({ name: 'other', cpu: 1 });
    await attemptAll(core);
    expect(core.states()['pod/other']).toBe('unschedulable');
    await advance(core, 19 * second);
    expect(binds(core)).toEqual([]);
    await advance(core, 2 * second);
    expect(reservations(core)).toEqual([]);
    expect(binds(core)).toEqual(['other on a']);
  });

  it('is not reserved if the grace period is 0', () => {
    const core = running({ repairGraceSeconds: 0 });
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
    expect(core.harness.events).toEqual(['MemberLost red']);
  });

  it('is not reserved for a member beyond minMember', () => {
    const core = running({ minMember: 2 });
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
    expect(core.harness.events).toEqual([]);
  });

  it('is not reserved for members that have succeeded', () => {
    const core = running();
    core.change('red-1', { phase: 'Succeeded' });
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
    core.change('red-0', { phase: 'Succeeded' });
    core.change('red-2', { phase: 'Succeeded' });
    expect(reservations(core)).toEqual([]);
  });

  it('is freed when minMember decreases', async () => {
    const core = running();
    core.removePod('red-1');
    core.pod({ name: 'other', cpu: 1 });
    await attemptAll(core);
    core.group({ name: 'red', minMember: 2 });
    expect(reservations(core)).toEqual([]);
    await advance(core, 2 * second);
    expect(binds(core)).toEqual(['other on a']);
  });

  it('is freed when the remaining members or the group are deleted', () => {
    const core = running();
    core.removePod('red-1');
    for (const name of ['red-0', 'red-2']) core.change(name, { deleting: true });
    expect(reservations(core)).toEqual([]);
    const other = running();
    other.removePod('red-1');
    other.removeGroup('default/red');
    expect(reservations(other)).toEqual([]);
  });

  it('is not reserved if the member was preempted', () => {
    const core = running();
    core.change('red-1', { deleting: true, disruptedBy: 'PreemptionByScheduler' });
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
  });

  it('is reserved once per missing member, and each reservation ends on its own', async () => {
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

  it('can be used by a sibling that was already waiting', async () => {
    const core = running();
    core.pod({ name: 'red-3', group: 'red', cpu: 1 });
    await attemptAll(core);
    core.removePod('red-1');
    await advance(core, 2 * second);
    expect(binds(core)).toEqual(['red-3 on a']);
  });

  it('is freed when a sibling that another scheduler bound uses it', () => {
    const core = running();
    core.removePod('red-1');
    core.pod({ name: 'red-7', group: 'red', cpu: 1, nodeName: 'a', schedulerName: 'another' });
    expect(reservations(core)).toEqual([]);
  });

  it('is reserved if the member failed', () => {
    const core = running();
    core.change('red-1', { phase: 'Failed' });
    expect(reservations(core)).toEqual(['repair on a']);
  });
});

describe('a lost member whose node is unusable', () => {
  it('gets its capacity reserved on another node if a dry run finds one', async () => {
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

  it('gets no reservation if no other node fits', () => {
    const core = running();
    core.removeNode('b');
    core.removePod('red-2');
    expect(reservations(core)).toEqual([]);
    expect(core.harness.events).toEqual(['NodeLost red', 'MemberLost red']);
  });

  it('leaves no trace of the dry run', () => {
    const core = running();
    core.node({ name: 'c', cpu: 1 });
    core.removeNode('b');
    const before = core.harness.cluster.podCount;
    core.removePod('red-2');
    expect(core.harness.cluster.podCount).toBe(before - 1);
    expect([...core.harness.cluster.gang('default/red')!.members.keys()]).toEqual(['red-0', 'red-1']);
  });

  it('moves its reservation if the node is cordoned later', () => {
    const core = running();
    core.removePod('red-2');
    expect(reservations(core)).toEqual(['repair on b']);
    core.node({ name: 'c', cpu: 1 });
    core.node({ name: 'b', cpu: 1, unschedulable: true });
    expect(reservations(core)).toEqual(['repair on c']);
    core.removeNode('c');
    expect(reservations(core)).toEqual([]);
  });

  it('gets one reservation per node that fits, not two on a node with capacity for one', () => {
    const core = running();
    core.node({ name: 'c', cpu: 1 });
    core.removeNode('a');
    core.removePod('red-0');
    core.removePod('red-1');
    expect(reservations(core)).toEqual(['repair on c']);
  });
});

describe('a node that rejects a member at admission', () => {
  it('gets no pods like it for a while: the replacement uses another node', async () => {
    const core = running();
    core.node({ name: 'c', cpu: 1 });
    core.change('red-1', rejected);
    expect(core.harness.events).toEqual(['MemberLost red']);
    expect(reservations(core)).toEqual(['repair on c']);
    core.pod({ name: 'red-9', group: 'red', owner: 'job', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['red-9 on c']);
  });

  it('stays closed even if no other node fits; it is retried after a minute, then later each time', async () => {
    const core = running();
    core.change('red-1', rejected);
    let name = 'red-1';
    const waited: number[] = [];
    for (let round = 0; round < 4; round++) {
      core.removePod(name);
      name = `red-${10 + round}`;
      core.pod({ name, group: 'red', cpu: 1, owner: 'job' });
      let seconds = 0;
      for (; core.binds.length === 0; seconds++) await advance(core, second);
      waited.push(Math.round(seconds / 60));
      expect(binds(core)).toEqual([`${name} on a`]);
      await core.accept(name);
      core.change(name, { nodeName: 'a' });
      core.change(name, rejected);
    }
    expect(waited).toEqual([1, 2, 4, 8]);
  });

  it('is named in the verdict of waiting pods', async () => {
    const core = running();
    core.change('red-1', rejected);
    core.pod({ name: 'red-9', group: 'red', owner: 'job', cpu: 1 });
    await attemptAll(core);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('1 node(s) did not admit a pod like this one');
  });

  it('is open again once it changes, and for pods with another template at any time', async () => {
    const core = running();
    core.change('red-1', rejected);
    core.pod({ name: 'small', cpu: '500m' });
    await attemptAll(core);
    expect(binds(core)).toEqual(['small on a']);
    core.pod({ name: 'red-9', group: 'red', cpu: 1 });
    await attemptAll(core);
    core.node({ name: 'a', cpu: 4 });
    await advance(core, 2 * second);
    expect(binds(core)).toEqual(['small on a', 'red-9 on a']);
  });

  it.each<[string, (core: Scheduling) => unknown]>([
    ['it changes', (core) => core.node({ name: 'a', cpu: 4, labels: { zone: 'x', changed: 'yes' } })],
    ['an admitted pod has left it', (core) => core.removePod('theirs')],
    ['a minute has passed', (core) => advance(core, 61 * second)],
  ])(
    'wakes the pods that waited for it once %s, although other plugins rejected all other nodes',
    async (_how, open) => {
      const core = new Scheduling({ plugins: defaultPlugins });
      core.node({ name: 'a', cpu: 4, labels: { zone: 'x' } });
      core.node({ name: 'b', cpu: 4, labels: { zone: 'y' } });
      core.pod({ name: 'theirs', cpu: 1, nodeName: 'a', schedulerName: 'another' });
      const nodeSelector = { zone: 'x' };
      core.pod({ name: 'first', cpu: 1, nodeName: 'a', nodeSelector });
      core.change('first', rejected);
      core.pod({ name: 'second', cpu: 1, nodeSelector });
      await attemptAll(core);
      expect(binds(core)).toEqual([]);
      await open(core);
      await advance(core, 2 * second);
      expect(binds(core)).toEqual(['second on a']);
    },
  );

  it('is open again once an admitted pod has left it; a rejected pod does not count', async () => {
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
    await advance(core, 2 * second);
    expect(binds(core)).toEqual(['next on a']);
  });

  it('is closed after the rejection of a pod without a group too, but not of a foreign pod', async () => {
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

  it('is not closed by a pod that ran and failed', async () => {
    const core = running();
    core.change('red-1', { phase: 'Failed', failedBecause: 'Evicted' });
    core.pod({ name: 'red-9', group: 'red', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['red-9 on a']);
  });
});

describe('a node that is gone or not ready', () => {
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
    'when it %s: no more members are bound while the quorum needs its member, and an Event reports it',
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
      await advance(core, 2 * second);
      expect(core.harness.verdicts.at(-1)).toMatch(
        /has 2 of the 3 members it needs to start; 1 of the others is on lost nodes/,
      );
      // The node is ready again.
      core.node({ name: 'a', cpu: 1 });
      await advance(core, 2 * second);
      expect(binds(core)).toEqual(['red-1 on b', 'red-2 on b']);
    },
  );

  it('stops unsent bindings of the gang', async () => {
    const core = halfBound();
    await attemptAll(core);
    const [first, next] = core.binds;
    expect(first!.binding.mayBeSent).toBeDefined();
    first!.binding.mayBeSent!();
    core.node({ name: 'a', cpu: 1, taints: ['node.kubernetes.io/unreachable:NoSchedule'] });
    expect(() => next!.binding.mayBeSent!()).toThrow(/has only 2 of the 3 members/);
  });

  it('stops a binding to it', async () => {
    const core = halfBound();
    await attemptAll(core);
    const { binding } = core.binds[0]!;
    core.node({ name: 'b', cpu: 2, taints: ['node.kubernetes.io/not-ready:NoSchedule'] });
    expect(() => binding.mayBeSent!()).toThrow('the chosen node is not ready');
  });

  it('changes nothing for a running gang: Kubernetes decides when its members are lost', async () => {
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

  it('does not count as lost for a pod that tolerates the taint', async () => {
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

  it('counts as gone if it does not exist when the scheduler starts', () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'red', minMember: 3 });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'a' });
    core.start();
    expect(core.harness.cluster.gang('default/red')!.count('stranded')).toBe(1);
  });
});

describe('a reservation of another namespace', () => {
  /** A pod of the tenant takes more than the node has. Then its node rejects it. */
  async function overcommit(take: (core: Scheduling) => void): Promise<Scheduling> {
    const core = running();
    core.removePod('red-1');
    take(core);
    // Any other update of a pod on the node.
    core.change('red-0', { resourceVersion: 'x' });
    expect(reservations(core)).toEqual(['repair on a']);
    core.change('huge', { phase: 'Failed', failedBecause: 'OutOfcpu' });
    core.removePod('huge');
    core.pod({ name: 'other', namespace: 'tenant', cpu: 1 });
    await attemptAll(core);
    return core;
  }

  it('survives a pod with a nodeName that its node cannot admit', async () => {
    const core = await overcommit((c) => c.pod({ name: 'huge', namespace: 'tenant', cpu: 100, nodeName: 'a' }));
    expect(binds(core)).toEqual([]);
    expect(reservations(core)).toEqual(['repair on a']);
  });

  it('survives a pod that requests more than its node has after it was bound', async () => {
    const core = await overcommit((c) => {
      c.pod({ name: 'huge', namespace: 'tenant', nodeName: 'a' });
      c.change('huge', { template: c.harness.build.projectedPod({ cpu: 100 }).template });
    });
    expect(binds(core)).toEqual([]);
    expect(reservations(core)).toEqual(['repair on a']);
  });
});

describe('what a user can reserve by deleting members', () => {
  /** The Binding of a scheduler. */
  function bind(core: Scheduling, name: string, nodeName: string): void {
    core.change(name, { nodeName });
  }

  function owners(core: Scheduling): string[] {
    return [...core.harness.cluster.reservations()].map(({ owner }) => owner.name);
  }

  /** The resources of each reservation. */
  function reservedAmounts(core: Scheduling): Record<string, number>[] {
    const { resources } = core.harness.build;
    return [...core.harness.cluster.reservations()].map(({ owner }) => {
      const { ids, amounts } = owner.template.requests;
      return Object.fromEntries(ids.map((id, i) => [resources.nameOf(id), amounts[i]!]));
    });
  }

  /** red runs with two members of 2 cpu and 1Gi, bound a moment ago. */
  function resizable(): Scheduling {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 32, memory: '32Gi' });
    core.group({ name: 'red', minMember: 2, repairGraceSeconds: 60 });
    core.members(2, { group: 'red', cpu: 2, memory: '1Gi' });
    for (const name of ['red-0', 'red-1']) bind(core, name, 'a');
    return core;
  }

  it('is nothing for members that were created with a nodeName, whatever their annotations say', () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    const annotations = { [planAnnotations.groupUid]: 'red', [planAnnotations.quorum]: '2' };
    for (const name of ['red-0', 'red-1']) core.pod({ name, group: 'red', cpu: 1, nodeName: 'a', annotations });
    core.harness.clock.advance(60 * second);
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
    expect(core.harness.events).toEqual(['MemberLost red']);
  });

  it('is nothing for members that were bound before the scheduler started', () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    for (const name of ['red-0', 'red-1']) core.pod({ name, group: 'red', cpu: 1, nodeName: 'a' });
    core.start();
    core.harness.clock.advance(60 * second);
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
  });

  it('includes members that a standby saw being bound', () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    for (const name of ['red-0', 'red-1']) bind(core, name, 'a');
    core.start();
    core.harness.clock.advance(60 * second);
    core.removePod('red-1');
    expect(reservations(core)).toEqual(['repair on a']);
  });

  it('is nothing for pods that became members after they were bound', () => {
    const core = running();
    core.node({ name: 'big', cpu: 8 });
    core.pod({ name: 'stranger', cpu: 8 });
    bind(core, 'stranger', 'big');
    const { labels } = core.harness.cluster.pod('red-0')!;
    core.group({ name: 'red', minMember: 4 });
    core.change('stranger', { labels, podGroupKey: 'default/red' });
    core.removePod('stranger');
    expect(reservations(core)).toEqual([]);
  });

  it('does not keep a higher priority out, and ends for good when one takes it', async () => {
    const core = running();
    core.removePod('red-1');
    core.pod({ name: 'important', cpu: 1, priority: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['important on a']);
    await core.accept('important');
    bind(core, 'important', 'a');
    expect(reservations(core)).toEqual([]);
    core.removePod('important');
    core.pod({ name: 'other', cpu: 1 });
    await attemptAll(core);
    expect(binds(core)).toEqual(['other on a']);
  });

  it('ends for all lost members of the group when a higher priority takes the capacity for one of them', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    for (const [name, cpu] of [
      ['a', 1],
      ['b', 1],
      ['c', 2],
    ] as const)
      core.node({ name, cpu });
    core.group({ name: 'red', minMember: 4, repairGraceSeconds: 60 });
    core.members(4, { group: 'red', cpu: 1 });
    for (const [i, node] of ['a', 'b', 'c', 'c'].entries()) bind(core, `red-${i}`, node);
    await advance(core, 60 * second);
    for (const name of ['red-0', 'red-1']) core.removePod(name);
    expect(reservations(core)).toEqual(['repair on a', 'repair on b']);
    core.pod({ name: 'important', cpu: 1, priority: 1 });
    await attemptAll(core);
    const [{ binding }] = core.binds as [(typeof core.binds)[0]];
    await core.accept('important');
    bind(core, 'important', binding.nodeName);
    expect(reservations(core)).toEqual([]);
  });

  it('excludes all other pods while the group has never started, but not after its grace period', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 3 });
    core.group({ name: 'red', minMember: 4, repairGraceSeconds: 60, repairPolicy: 'KeepTrying' });
    core.members(3, { group: 'red', cpu: 1 });
    for (const name of ['red-0', 'red-1', 'red-2']) bind(core, name, 'a');
    await advance(core, 40 * second);
    core.removePod('red-1');
    core.pod({ name: 'important', cpu: 1, priority: 1, spec: { preemptionPolicy: 'Never' } });
    await advance(core, 19 * second);
    expect(reservations(core)).toEqual(['repair on a']);
    expect(binds(core)).toEqual([]);
    await advance(core, 2 * second);
    expect(binds(core)).toEqual(['important on a']);
  });

  it('lasts no longer than the lost member had been bound, unless a member like it is still bound', async () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 8 });
    core.group({ name: 'red', minMember: 3, repairGraceSeconds: 60 });
    core.pod({ name: 'small', group: 'red', cpu: '1m' });
    for (const name of ['big-0', 'big-1']) core.pod({ name, group: 'red', cpu: 3 });
    for (const name of ['small', 'big-0', 'big-1']) bind(core, name, 'a');
    await advance(core, 5 * second);
    core.removePod('big-0');
    await advance(core, 30 * second);
    expect(reservations(core)).toEqual(['repair on a']);
    core.removePod('big-1');
    // big-0 had been bound for 5 s, and nothing like it is left.
    expect(reservations(core)).toEqual(['repair on a']);
    await advance(core, 34 * second);
    expect(reservations(core)).toEqual(['repair on a']);
    await advance(core, 2 * second);
    expect(reservations(core)).toEqual([]);
  });

  it('is never more than the group had bound at the same time, even if its minMember is raised', () => {
    const core = running();
    core.node({ name: 'c', cpu: 8 });
    core.group({ name: 'red', minMember: 100 });
    for (const name of ['red-0', 'red-1']) core.removePod(name);
    expect(reservations(core)).toHaveLength(2);
    for (const name of ['red-3', 'red-4']) {
      core.pod({ name, group: 'red', cpu: 1 });
      bind(core, name, 'c');
    }
    expect(reservations(core)).toEqual([]);
    core.harness.clock.advance(10 * second);
    for (const name of ['red-3', 'red-4']) core.removePod(name);
    expect(reservations(core)).toHaveLength(2);
  });

  it.each([
    ['cpu', { cpu: 8 }, { cpu: '1m' }],
    ['memory', { memory: '8Gi' }, { memory: '1Mi' }],
    ['an extended resource', { requests: { 'example.com/gpu': 8 } }, {}],
  ] as const)(
    'is never more of %s than the members in its namespace had bound at the same time',
    (_what, big, small) => {
      const core = new Scheduling({ plugins: defaultPlugins });
      core.node({ name: 'a', cpu: 32, memory: '32Gi', allocatable: { 'example.com/gpu': 32 } });
      for (const [group, seconds] of [
        ['one', 60],
        ['two', 5],
      ] as const) {
        core.group({ name: group, minMember: 2 });
        core.pod({ name: `${group}-small`, group, ...small });
        core.pod({ name: `${group}-big`, group, ...big });
        for (const size of ['small', 'big']) bind(core, `${group}-${size}`, 'a');
        core.harness.clock.advance(seconds * second);
        // The namespace never has more than one big pod.
        core.removePod(`${group}-big`);
      }
      expect(owners(core)).toEqual(['one-big']);
    },
  );

  it('is never more pods than the namespace had bound at the same time, even if they request nothing', () => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 1 });
    for (const [group, seconds] of [
      ['one', 60],
      ['two', 10],
      ['three', 5],
    ] as const) {
      core.group({ name: group, minMember: 3, repairGraceSeconds: 300 });
      core.members(3, { group });
      for (let i = 0; i < 3; i++) bind(core, `${group}-${i}`, 'a');
      core.harness.clock.advance(seconds * second);
      for (let i = 0; i < 2; i++) core.removePod(`${group}-${i}`);
    }
    // Group three was bound together with one member of each other group.
    expect(owners(core)).toEqual(['one-0', 'one-1', 'two-0', 'two-1', 'three-0']);
  });

  it('does not exceed the requests with which a member was bound, if it was resized to more', () => {
    const core = resizable();
    core.change('red-1', { template: core.harness.build.projectedPod({ cpu: 8, memory: '8Gi' }).template });
    core.harness.clock.advance(60 * second);
    core.removePod('red-1');
    expect(reservedAmounts(core)).toEqual([{ cpu: 2000, memory: 2 ** 30, pods: 1 }]);
  });

  it('is the least that a resized member had requested, in each resource', () => {
    const core = resizable();
    const { build } = core.harness;
    core.change('red-1', { template: build.projectedPod({ cpu: '500m', memory: '4Gi' }).template });
    core.change('red-1', { template: build.projectedPod({ cpu: 4 }).template });
    core.change('red-1', { template: build.projectedPod({ cpu: 2, memory: '1Gi' }).template });
    core.removePod('red-1');
    expect(reservedAmounts(core)).toEqual([{ cpu: 500, pods: 1 }]);
  });

  it('lasts no longer for a member whose siblings were resized to less', async () => {
    const core = resizable();
    core.change('red-0', { template: core.harness.build.projectedPod({ cpu: '1m', memory: '1Gi' }).template });
    await advance(core, 5 * second);
    core.removePod('red-1');
    expect(reservations(core)).toEqual(['repair on a']);
    await advance(core, 6 * second);
    expect(reservations(core)).toEqual([]);
  });

  it('is nothing for a member that was created with a nodeName in the place of a preempted one', () => {
    const core = running();
    core.change('red-1', { deleting: true, disruptedBy: 'PreemptionByScheduler' });
    core.removePod('red-1');
    core.pod({ name: 'red-9', group: 'red', cpu: 1, nodeName: 'a' });
    core.harness.clock.advance(10 * second);
    core.removePod('red-9');
    expect(reservations(core)).toEqual([]);
  });

  it('is nothing for a group that was created again', () => {
    const core = running();
    core.removeGroup('default/red');
    core.group({ name: 'red', uid: 'another', minMember: 3 });
    core.removePod('red-1');
    expect(reservations(core)).toEqual([]);
  });
});
