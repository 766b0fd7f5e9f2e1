import { describe, expect, it } from 'vitest';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { ReleaseOutcome } from '../ports.ts';

const second = 1000;
const neverStarted = { conditions: [startedIs('False')] };

function startedIs(status: 'True' | 'False') {
  return { type: 'Started', status, reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
}

/** Two of the three members of red are on node a, which is full; the third finds no room. */
function torn({
  phase = 'listing',
  owner = 'job',
  core = new Scheduling({ plugins: defaultPlugins }, phase),
  ...group
}: PodGroupOptions & {
  phase?: 'listing' | 'running';
  owner?: string | null;
  core?: Scheduling;
} = {}): Scheduling {
  core.node({ name: 'a', cpu: 2 });
  core.group({ name: 'red', minMember: 3, status: neverStarted, ...group });
  const controlled = owner === null ? {} : { owner };
  for (const name of ['red-0', 'red-1']) core.pod({ name, group: 'red', cpu: 1, nodeName: 'a', ...controlled });
  core.pod({ name: 'red-2', group: 'red', cpu: 1, ...controlled });
  if (phase === 'listing') core.start();
  return core;
}

/** So much time goes by, in small steps, and whatever can be tried is. */
async function pass(core: Scheduling, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= second) {
    core.harness.clock.advance(Math.min(second, left));
    await core.settle();
    while ((await core.attempt()) !== undefined);
  }
}

describe('a group on nodes in part that cannot be completed', () => {
  it('is released when its grace is over, and not before: its members are evicted, and Events say why', async () => {
    const core = torn();
    await pass(core, 59 * second);
    expect(core.harness.released).toEqual([]);
    await pass(core, 2 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
    expect(core.harness.events.filter((event) => event.startsWith('Released'))).toEqual([
      'Released red',
      'Released red-0',
      'Released red-1',
    ]);
  });

  it('has the grace that its spec says', async () => {
    const core = torn({ repairGraceSeconds: 5 });
    await pass(core, 4 * second);
    expect(core.harness.released).toEqual([]);
    await pass(core, 2 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('stays where it is when its policy says so, and says that it does', async () => {
    const core = torn({ repairPolicy: 'KeepTrying' });
    await pass(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.events).toContain('NotReleased red');
    expect(core.harness.written.at(-1)!.verdict.message).toMatch(
      /2 of the 3 members that it needs keep their nodes: it keeps trying, as its repairPolicy says\.$/,
    );
  });

  it('is released as soon as its policy says so', async () => {
    const core = torn({ repairPolicy: 'KeepTrying' });
    await pass(core, 100 * second);
    core.group({ name: 'red', minMember: 3, status: neverStarted, repairPolicy: 'Release' });
    await pass(core, 12 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('does not say any more why it stays once that is not why', async () => {
    const core = torn({ repairPolicy: 'KeepTrying' });
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, nodeName: 'b', deleting: true });
    await pass(core, 100 * second);
    expect(core.harness.core.verdictOf('red-2')!.message).toContain('keep their nodes');
    core.group({ name: 'red', minMember: 3, status: neverStarted, repairPolicy: 'Release', repairGraceSeconds: 90 });
    await pass(core, 12 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.core.verdictOf('red-2')!.message).not.toContain('keep their nodes');
  });

  it('keeps those that nobody would make again, and lets the others go', async () => {
    const core = torn();
    core.change('red-1', { isControlled: false });
    await pass(core, 70 * second);
    expect(core.harness.released).toEqual(['red-0']);
  });

  it('stays when nobody would make any of it again', async () => {
    const core = torn({ owner: null });
    await pass(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('no controller would make red-0 again');
  });

  it('keeps those that another scheduler has bound', async () => {
    const core = torn();
    for (const name of ['red-0', 'red-1']) core.change(name, { schedulerName: 'another' });
    await pass(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('another scheduler has bound them');
  });

  it('is told of once, however often it is looked at', async () => {
    const core = torn({ repairPolicy: 'KeepTrying' });
    for (let i = 0; i < 30; i++) {
      await pass(core, 30 * second);
      core.change('red-0', { resourceVersion: `x${i}`, labels: { step: `${i}` } });
    }
    expect(core.harness.events.filter((event) => event === 'NotReleased red')).toHaveLength(1);
  });

  it('is not released once it can be completed', async () => {
    const core = torn();
    await pass(core, 50 * second);
    core.node({ name: 'b', cpu: 1 });
    await core.attempt();
    await pass(core, 60 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-2']);
  });

  it('waits for pods that are on their way out, though not for ever', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'b', deleting: true });
    torn({ core });
    await pass(core, 110 * second);
    expect(core.harness.released).toEqual([]);
    await pass(core, 30 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('waits for a member that somebody has nominated, though not for ever', async () => {
    const core = torn();
    core.change('red-2', { nominatedNodeName: 'a' });
    await pass(core, 115 * second);
    expect(core.harness.released).toEqual([]);
    await pass(core, 15 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('does not wait for pods on a node that does not answer', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'b', cpu: 1, taints: ['node.kubernetes.io/unreachable:NoSchedule'] });
    core.pod({ name: 'old', cpu: 1, nodeName: 'b', deleting: true });
    torn({ core });
    await pass(core, 65 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is not released while a plugin fails on it: nothing is known then', async () => {
    const core = new Scheduling(
      {
        plugins: defaultPlugins,
        extra: [
          {
            name: 'Broken',
            preFilter: (): undefined => {
              throw new Error('no');
            },
          },
        ],
      },
      'listing',
    );
    torn({ core });
    await pass(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain(
      'a plugin failed when it was asked where the others fit',
    );
  });

  it('is not released when it has started', async () => {
    const core = torn({ status: { conditions: [startedIs('True')] } });
    await pass(core, 300 * second);
    expect(core.harness.released).toEqual([]);
  });

  it('nor when it is in part anew, after the one that was there at the start has succeeded', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'a', cpu: 3 });
    core.group({ name: 'red', minMember: 3, status: {} });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'a', owner: 'job' });
    for (const name of ['red-1', 'red-2']) core.pod({ name, group: 'red', cpu: 1, owner: 'job' });
    core.start();
    await core.attempt();
    core.change('red-0', { phase: 'Succeeded' });
    await core.accept('red-1');
    core.change('red-1', { nodeName: 'a' });
    await core.reject('red-2', 'no');
    await pass(core, 300 * second);
    expect(core.harness.released).toEqual([]);
  });

  it('is not released by a process that took over while nobody says whether it has started', async () => {
    const core = torn({ status: {} });
    await pass(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('it may have started before this scheduler did');
    // The controller has come.
    core.group({ name: 'red', minMember: 3, status: neverStarted });
    await pass(core, 12 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is not released by a process that took over when as many members have been on nodes as it needs', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.pod({ name: 'red-x', group: 'red', nodeName: 'a', phase: 'Failed', owner: 'job' });
    torn({ core });
    await pass(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('so it may have started');
  });

  it('needs nobody to say so when this process has seen it from the beginning', async () => {
    const core = torn({ phase: 'running', status: {} });
    await pass(core, 70 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('counts its grace from when its first member was bound, whoever then led', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    torn({ core, phase: 'running' });
    const since = new Date(core.harness.clock.now() - 50 * second).toISOString();
    const bound = { type: 'PodScheduled', status: 'True', lastTransitionTime: since };
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'a', owner: 'job', conditions: [bound] });
    core.start();
    await pass(core, 12 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is released though members are missing that nobody makes', async () => {
    const core = torn();
    core.removePod('red-2');
    await pass(core, 70 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is released though some node would fit that has rejected its members', async () => {
    const core = torn();
    core.node({ name: 'b', cpu: 1 });
    for (let round = 0; round < 2; round++) {
      await core.attempt();
      await core.reject('red-2', 'the node said no');
      core.harness.clock.advance(11 * second);
    }
    for (let i = 0; i < 60; i++) {
      core.harness.clock.advance(second);
      await core.settle();
      await core.attempt();
      if (core.binds.length > 0) await core.reject('red-2', 'the node said no');
    }
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });
});

describe('a group that is being released', () => {
  it('is left alone until its members go, and for a while', async () => {
    const core = torn();
    await pass(core, 61 * second);
    expect(core.states()).toEqual({});
    core.node({ name: 'b', cpu: 8 });
    for (const name of ['red-0', 'red-1']) core.change(name, { deleting: true });
    await pass(core, 5 * second);
    expect(core.binds).toEqual([]);
    for (const name of ['red-0', 'red-1']) core.removePod(name);
    for (const name of ['red-3', 'red-4']) core.pod({ name, group: 'red', cpu: 1, owner: 'job' });
    expect(core.harness.written.at(-1)!.verdict.message).toMatch(/it was released once/);
    await pass(core, 6 * second);
    expect(core.binds.map(({ binding }) => binding.name).sort()).toEqual(['red-2', 'red-3', 'red-4']);
  });

  it('is tried again after that, also where timers ring a moment before the clock says so', async () => {
    const core = torn();
    await pass(core, 61 * second);
    const { clock } = core.harness;
    const monotonic = clock.monotonic.bind(clock);
    clock.monotonic = () => monotonic() - 0.5;
    core.node({ name: 'b', cpu: 8 });
    for (const name of ['red-0', 'red-1']) core.removePod(name);
    for (const name of ['red-3', 'red-4']) core.pod({ name, group: 'red', cpu: 1, owner: 'job' });
    await pass(core, 60 * second);
    expect(core.binds.map(({ binding }) => binding.name).sort()).toEqual(['red-2', 'red-3', 'red-4']);
  });

  it('is left alone for longer each time', async () => {
    const core = torn({ phase: 'running' });
    const gaps: number[] = [];
    let released = 0;
    let at = 0;
    for (let i = 0; i < 600; i++) {
      await pass(core, second);
      const { length } = core.harness.released;
      if (length === released) continue;
      released = length;
      gaps.push(i - at);
      at = i;
      // Whatever goes comes again, and is bound in part again as soon as it may be.
      for (const name of ['red-0', 'red-1']) core.removePod(name);
      while (core.harness.core.cluster.gang('default/red')!.count('bound') < 2) {
        if (core.queue.get('gang/default/red') === undefined) {
          await pass(core, second);
          i++;
        } else {
          for (const name of ['red-0', 'red-1']) core.pod({ name, group: 'red', cpu: 1, nodeName: 'a', owner: 'job' });
        }
      }
    }
    expect(gaps.length).toBeGreaterThan(3);
    expect(gaps.slice(1)).toEqual([...gaps.slice(1)].sort((a, b) => a - b));
    expect(gaps.at(-1)!).toBeGreaterThan(gaps[0]! + 30);
  });

  it('is let off by a budget, and asked again later; it is tried meanwhile', async () => {
    const asked: string[] = [];
    let answer: ReleaseOutcome = 'protected';
    const ports = {
      evictor: {
        evict: () => Promise.resolve(),
        release: ({ name }: { readonly name: string }) => {
          asked.push(name);
          return Promise.resolve(answer);
        },
      },
    };
    const core = torn({ core: new Scheduling({ plugins: defaultPlugins, ports }, 'listing') });
    await pass(core, 62 * second);
    expect(asked).toEqual(['red-0', 'red-1']);
    expect(core.harness.events).toContain('NotReleased red');
    expect(core.harness.events).not.toContain('Released red');
    await pass(core, 2 * second);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('a disruption budget protects red-');
    expect(Object.keys(core.states())).toEqual(['gang/default/red']);
    await pass(core, 5 * second);
    expect(asked).toHaveLength(2);
    answer = 'going';
    await pass(core, 25 * second);
    expect(asked).toHaveLength(4);
  });

  it('stays when it may not be evicted, which is said', async () => {
    const ports = {
      evictor: {
        evict: () => Promise.resolve(),
        release: () => Promise.reject(new Error('pods/eviction is forbidden')),
      },
    };
    const core = torn({ core: new Scheduling({ plugins: defaultPlugins, ports }, 'listing') });
    await pass(core, 65 * second);
    expect(core.harness.written.at(-1)!.verdict.message).toMatch(/red-[01] could not be evicted/);
    expect(core.harness.warnings).toContain('could not release a member');
  });

  it('is not released any more when the scheduler stops', async () => {
    const core = torn();
    await pass(core, 50 * second);
    await core.harness.core.stop();
    core.harness.clock.advance(100 * second);
    await core.settle();
    expect(core.harness.released).toEqual([]);
  });
});

describe('several groups that cannot be completed', () => {
  /** Each has one member on a node of its own, and needs another on a node that has no room for it; high goes before low. */
  function deadlocked(): Scheduling {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    for (const [name, priority] of [
      ['low', 1],
      ['high', 10],
    ] as const) {
      core.node({ name: `node-${name}`, cpu: 1 });
      core.group({ name, minMember: 2, status: neverStarted });
      core.pod({ name: `${name}-0`, group: name, cpu: 1, priority, nodeName: `node-${name}`, owner: 'job' });
      core.pod({ name: `${name}-1`, group: name, cpu: 1, priority, owner: 'job' });
    }
    core.start();
    return core;
  }

  it('are released one at a time, the last in the order of the queue first', async () => {
    const core = deadlocked();
    await pass(core, 70 * second);
    expect(core.harness.released).toEqual(['low-0']);
    core.change('low-0', { deleting: true });
    await pass(core, 30 * second);
    expect(core.harness.released).toEqual(['low-0']);
  });

  it('are not released when the room of one completes the other', async () => {
    const core = deadlocked();
    await pass(core, 70 * second);
    core.change('low-0', { deleting: true });
    core.removePod('low-0');
    await core.attempt();
    expect(core.binds.map(({ binding }) => `${binding.name} on ${binding.nodeName}`)).toEqual(['high-1 on node-low']);
    await core.accept('high-1');
    core.change('high-1', { nodeName: 'node-low' });
    await pass(core, 300 * second);
    expect(core.harness.released).toEqual(['low-0']);
  });

  it('are released one after the other when the room of one helps nobody', async () => {
    const core = deadlocked();
    for (const name of ['low-1', 'high-1']) core.removePod(name);
    await pass(core, 70 * second);
    expect(core.harness.released).toEqual(['low-0']);
    core.change('low-0', { deleting: true });
    await pass(core, 20 * second);
    expect(core.harness.released).toEqual(['low-0']);
    core.removePod('low-0');
    await pass(core, 20 * second);
    expect(core.harness.released).toEqual(['low-0', 'high-0']);
  });

  it('have the release of one finished by the next process, which begins with no other', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    torn({ core, phase: 'running' });
    core.change('red-0', { deleting: true, priority: 10 });
    core.change('red-1', { priority: 10 });
    core.change('red-2', { priority: 10 });
    core.node({ name: 'c', cpu: 1 });
    core.group({ name: 'blue', minMember: 2, status: neverStarted });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 1, nodeName: 'c', owner: 'job' });
    core.start();
    await pass(core, 125 * second);
    expect(core.harness.released).toEqual(['red-1']);
  });
});
