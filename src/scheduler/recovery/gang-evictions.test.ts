import { describe, expect, it } from 'vitest';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { AskedExtenders } from '../testing/asked-extender.ts';
import type { ReleaseOutcome, RequestTerms } from '../ports.ts';

const second = 1000;
const neverStarted = { conditions: [startedIs('False')] };

function startedIs(status: 'True' | 'False') {
  return { type: 'Started', status, reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
}

/** Two of red's three members are bound to node a, which is then full. The third does not fit. */
function partiallyBound({
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

/** Advances the clock in small steps and runs all attempts. */
async function advance(core: Scheduling, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= second) {
    core.harness.clock.advance(Math.min(second, left));
    await core.settle();
    while ((await core.attempt()) !== undefined);
  }
}

describe('a partially bound gang that the scheduler cannot complete', () => {
  it('is released when its grace period ends, not earlier: members are evicted and Events are recorded', async () => {
    const core = partiallyBound();
    await advance(core, 59 * second);
    expect(core.harness.released).toEqual([]);
    await advance(core, 2 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
    expect(core.harness.events.filter((event) => event.startsWith('Released'))).toEqual([
      'Released red',
      'Released red-0',
      'Released red-1',
    ]);
  });

  it('uses the grace period of its spec', async () => {
    const core = partiallyBound({ repairGraceSeconds: 5 });
    await advance(core, 4 * second);
    expect(core.harness.released).toEqual([]);
    await advance(core, 2 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('stays bound under KeepTrying, and reports it', async () => {
    const core = partiallyBound({ repairPolicy: 'KeepTrying' });
    await advance(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.events).toContain('NotReleased red');
    expect(core.harness.written.at(-1)!.verdict.message).toMatch(
      /2 of 3 required members stay bound: its repairPolicy is KeepTrying\.$/,
    );
  });

  it('is released once its policy changes to Release', async () => {
    const core = partiallyBound({ repairPolicy: 'KeepTrying' });
    await advance(core, 100 * second);
    core.group({ name: 'red', minMember: 3, status: neverStarted, repairPolicy: 'Release' });
    await advance(core, 12 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('drops the reason from its verdict once the reason no longer applies', async () => {
    const core = partiallyBound({ repairPolicy: 'KeepTrying' });
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, nodeName: 'b', deleting: true });
    await advance(core, 100 * second);
    expect(core.harness.core.verdictOf('red-2')!.message).toContain('stay bound');
    core.group({ name: 'red', minMember: 3, status: neverStarted, repairPolicy: 'Release', repairGraceSeconds: 90 });
    await advance(core, 12 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.core.verdictOf('red-2')!.message).not.toContain('stay bound');
  });

  it('keeps members without a controller and releases the others', async () => {
    const core = partiallyBound();
    core.change('red-1', { controller: undefined });
    await advance(core, 70 * second);
    expect(core.harness.released).toEqual(['red-0']);
  });

  it('stays bound if no member has a controller', async () => {
    const core = partiallyBound({ owner: null });
    await advance(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('no controller would recreate red-0');
  });

  it('keeps members that another scheduler bound', async () => {
    const core = partiallyBound();
    for (const name of ['red-0', 'red-1']) core.change(name, { schedulerName: 'another' });
    await advance(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('another scheduler bound them');
  });

  it('gets one Event, however often it is checked', async () => {
    const core = partiallyBound({ repairPolicy: 'KeepTrying' });
    for (let i = 0; i < 30; i++) {
      await advance(core, 30 * second);
      core.change('red-0', { resourceVersion: `x${i}`, labels: { step: `${i}` } });
    }
    expect(core.harness.events.filter((event) => event === 'NotReleased red')).toHaveLength(1);
  });

  it('is not released once the missing member fits', async () => {
    const core = partiallyBound();
    await advance(core, 50 * second);
    core.node({ name: 'b', cpu: 1 });
    await core.attempt();
    await advance(core, 60 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-2']);
  });

  it('is released if its waiting members name different schedulers', async () => {
    const core = partiallyBound();
    core.pod({ name: 'red-3', group: 'red', cpu: 1, schedulerName: 'another' });
    core.node({ name: 'b', cpu: 2 });
    await advance(core, 59 * second);
    expect(core.harness.released).toEqual([]);
    await advance(core, 2 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
    expect(core.binds).toEqual([]);
  });

  it('waits for terminating pods, but not forever', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'b', deleting: true });
    partiallyBound({ core });
    await advance(core, 110 * second);
    expect(core.harness.released).toEqual([]);
    await advance(core, 30 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('waits for pods that are being bound, but not forever', async () => {
    const core = partiallyBound();
    await advance(core, 50 * second);
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'high', cpu: 1, priority: 10 });
    await advance(core, 65 * second);
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['high']);
    expect(core.harness.released).toEqual([]);
    await advance(core, 15 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is released once the pod that takes the capacity is bound', async () => {
    const core = partiallyBound();
    await advance(core, 50 * second);
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'high', cpu: 1, priority: 10 });
    await advance(core, 20 * second);
    expect(core.harness.released).toEqual([]);
    await core.accept('high');
    core.change('high', { nodeName: 'b' });
    await advance(core, 12 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is completed if the pod that took the capacity is not bound', async () => {
    const core = partiallyBound();
    await advance(core, 50 * second);
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'high', cpu: 1, priority: 10 });
    await advance(core, 20 * second);
    core.removePod('high');
    await advance(core, 12 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.binds.map(({ binding }) => binding.name)).toContain('red-2');
  });

  it('waits for a member with an external nomination, but not forever', async () => {
    const core = partiallyBound();
    core.change('red-2', { nominatedNodeName: 'a' });
    await advance(core, 115 * second);
    expect(core.harness.released).toEqual([]);
    await advance(core, 15 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('does not wait for terminating pods on an unreachable node', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.node({ name: 'b', cpu: 1, taints: ['node.kubernetes.io/unreachable:NoSchedule'] });
    core.pod({ name: 'old', cpu: 1, nodeName: 'b', deleting: true });
    partiallyBound({ core });
    await advance(core, 65 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is not released while a plugin fails', async () => {
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
    partiallyBound({ core });
    await advance(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain(
      'a plugin failed while checking whether the other members fit',
    );
  });

  it('is not released after it has started', async () => {
    const core = partiallyBound({ status: { conditions: [startedIs('True')] } });
    await advance(core, 300 * second);
    expect(core.harness.released).toEqual([]);
  });

  it('is not released if it becomes partially bound again after its first member succeeded', async () => {
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
    await advance(core, 300 * second);
    expect(core.harness.released).toEqual([]);
  });

  it('is not released by a new leader while no Started condition exists', async () => {
    const core = partiallyBound({ status: {} });
    await advance(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('it may have started before this scheduler did');
    // The controller writes the condition.
    core.group({ name: 'red', minMember: 3, status: neverStarted });
    await advance(core, 12 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is not released by a new leader if minMember members have ever been bound', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.pod({ name: 'red-x', group: 'red', nodeName: 'a', phase: 'Failed', owner: 'job' });
    partiallyBound({ core });
    await advance(core, 300 * second);
    expect(core.harness.released).toEqual([]);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('so it may have started');
  });

  it('needs no Started condition if this process has seen the gang from its beginning', async () => {
    const core = partiallyBound({ phase: 'running', status: {} });
    await advance(core, 70 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('counts its grace period from its first binding, also after a change of leader', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    partiallyBound({ core, phase: 'running' });
    const since = new Date(core.harness.clock.now() - 50 * second).toISOString();
    const bound = { type: 'PodScheduled', status: 'True', lastTransitionTime: since };
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'a', owner: 'job', conditions: [bound] });
    core.start();
    await advance(core, 12 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is released even if no controller recreates the missing members', async () => {
    const core = partiallyBound();
    core.removePod('red-2');
    await advance(core, 70 * second);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is released even if a node that keeps rejecting its members has free capacity', async () => {
    const core = partiallyBound();
    core.node({ name: 'b', cpu: 1 });
    for (let round = 0; round < 2; round++) {
      await core.attempt();
      await core.reject('red-2', 'the node rejected the pod');
      core.harness.clock.advance(11 * second);
    }
    for (let i = 0; i < 60; i++) {
      core.harness.clock.advance(second);
      await core.settle();
      await core.attempt();
      if (core.binds.length > 0) await core.reject('red-2', 'the node rejected the pod');
    }
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });
});

describe('a partially bound gang whose missing member fits only on a node that an extender rejects', () => {
  /** `accepts`: returns whether the extender accepts the node. */
  async function advanceWith(accepts: (node: string) => boolean, add: readonly string[] = []): Promise<Scheduling> {
    const outside = new AskedExtenders({});
    const core = new Scheduling({ plugins: defaultPlugins, ports: { extenders: outside } }, 'listing');
    core.node({ name: 'b', cpu: 1 });
    partiallyBound({ core });
    for (let i = 0; i < 70; i++) {
      if (i === 50) for (const name of add) core.node({ name, cpu: 1 });
      await advance(core, second);
      for (const { nodes } of [...outside.asked]) outside.next().leave(nodes.filter(accepts));
      await advance(core, 0);
    }
    return core;
  }

  it('is released', async () => {
    const core = await advanceWith(() => false);
    expect(core.harness.released).toEqual(['red-0', 'red-1']);
  });

  it('is completed if the extender accepts another node', async () => {
    const core = await advanceWith((node) => node === 'c', ['c']);
    expect(core.harness.released).toEqual([]);
    expect(core.binds.map(({ binding }) => binding.nodeName)).toEqual(['c']);
  });
});

describe('a gang that is being released', () => {
  it('is on hold until its members are gone, and for a while after', async () => {
    const core = partiallyBound();
    await advance(core, 61 * second);
    expect(core.states()).toEqual({});
    core.node({ name: 'b', cpu: 8 });
    for (const name of ['red-0', 'red-1']) core.change(name, { deleting: true });
    await advance(core, 5 * second);
    expect(core.binds).toEqual([]);
    for (const name of ['red-0', 'red-1']) core.removePod(name);
    for (const name of ['red-3', 'red-4']) core.pod({ name, group: 'red', cpu: 1, owner: 'job' });
    expect(core.harness.written.at(-1)!.verdict.message).toMatch(/it was released once/);
    await advance(core, 6 * second);
    expect(core.binds.map(({ binding }) => binding.name).sort()).toEqual(['red-2', 'red-3', 'red-4']);
  });

  it('is retried after the hold, even if timers fire slightly early', async () => {
    const core = partiallyBound();
    await advance(core, 61 * second);
    const { clock } = core.harness;
    const monotonic = clock.monotonic.bind(clock);
    clock.monotonic = () => monotonic() - 0.5;
    core.node({ name: 'b', cpu: 8 });
    for (const name of ['red-0', 'red-1']) core.removePod(name);
    for (const name of ['red-3', 'red-4']) core.pod({ name, group: 'red', cpu: 1, owner: 'job' });
    await advance(core, 60 * second);
    expect(core.binds.map(({ binding }) => binding.name).sort()).toEqual(['red-2', 'red-3', 'red-4']);
  });

  it('is on hold for longer after each release', async () => {
    const core = partiallyBound({ phase: 'running' });
    const gaps: number[] = [];
    let released = 0;
    let at = 0;
    for (let i = 0; i < 600; i++) {
      await advance(core, second);
      const { length } = core.harness.released;
      if (length === released) continue;
      released = length;
      gaps.push(i - at);
      at = i;
      // Recreate the evicted pods and bind them again as soon as the gang is queued.
      for (const name of ['red-0', 'red-1']) core.removePod(name);
      while (core.harness.core.cluster.gang('default/red')!.count('bound') < 2) {
        if (core.queue.get('gang/default/red') === undefined) {
          await advance(core, second);
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

  it('stays bound while a PodDisruptionBudget protects it; the eviction is retried and scheduling continues', async () => {
    const evictionsOf: string[] = [];
    let outcome: ReleaseOutcome = 'protected';
    const ports = {
      evictor: {
        evict: () => Promise.resolve(),
        release: ({ name }: { readonly name: string }) => {
          evictionsOf.push(name);
          return Promise.resolve(outcome);
        },
      },
    };
    const core = partiallyBound({ core: new Scheduling({ plugins: defaultPlugins, ports }, 'listing') });
    await advance(core, 62 * second);
    expect(evictionsOf).toEqual(['red-0', 'red-1']);
    expect(core.harness.events).toContain('NotReleased red');
    expect(core.harness.events).not.toContain('Released red');
    await advance(core, 2 * second);
    expect(core.harness.written.at(-1)!.verdict.message).toContain('a PodDisruptionBudget protects red-');
    expect(Object.keys(core.states())).toEqual(['gang/default/red']);
    await advance(core, 5 * second);
    expect(evictionsOf).toHaveLength(2);
    outcome = 'going';
    await advance(core, 25 * second);
    expect(evictionsOf).toHaveLength(4);
  });

  it('stays bound and reports it if evictions are forbidden', async () => {
    const ports = {
      evictor: {
        evict: () => Promise.resolve(),
        release: () => Promise.reject(new Error('pods/eviction is forbidden')),
      },
    };
    const core = partiallyBound({ core: new Scheduling({ plugins: defaultPlugins, ports }, 'listing') });
    await advance(core, 65 * second);
    expect(core.harness.written.at(-1)!.verdict.message).toMatch(/red-[01] could not be evicted/);
    expect(core.harness.warnings).toContain('could not release a member');
  });

  it.each<[string, (core: Scheduling) => void]>([
    ['the member is gone', (core) => core.removePod('red-1')],
    ['the member is being deleted', (core) => core.change('red-1', { deleting: true })],
    ['the group needs no more members', (core) => core.group({ name: 'red', minMember: 1, status: neverStarted })],
    [
      'its policy is KeepTrying',
      (core) => core.group({ name: 'red', minMember: 3, status: neverStarted, repairPolicy: 'KeepTrying' }),
    ],
  ])('keeps a member if, by the time the request for it is sent, %s', async (_what, change) => {
    const sent: string[] = [];
    const waiting: (() => void)[] = [];
    const ports = {
      evictor: {
        evict: () => Promise.resolve(),
        release: async ({ name }: { readonly name: string }, { mayBeSent }: RequestTerms): Promise<ReleaseOutcome> => {
          await new Promise<void>((resolve) => waiting.push(resolve));
          mayBeSent();
          sent.push(name);
          return 'going';
        },
      },
    };
    const core = partiallyBound({ core: new Scheduling({ plugins: defaultPlugins, ports }, 'listing') });
    await advance(core, 62 * second);
    expect(waiting).toHaveLength(2);
    waiting[0]!();
    await core.settle();
    change(core);
    waiting[1]!();
    await advance(core, 2 * second);
    expect(sent).toEqual(['red-0']);
    expect(core.harness.warnings).not.toContain('could not release a member');
    expect(core.harness.events).not.toContain('NotReleased red');
  });

  it('is not released once the scheduler stops', async () => {
    const core = partiallyBound();
    await advance(core, 50 * second);
    await core.harness.core.stop();
    core.harness.clock.advance(100 * second);
    await core.settle();
    expect(core.harness.released).toEqual([]);
  });
});

describe('several gangs that the scheduler cannot complete', () => {
  /** Each gang has one member on its own full node and needs another one. high ranks before low. */
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

  it('are released one at a time, the last in QueueSort order first', async () => {
    const core = deadlocked();
    await advance(core, 70 * second);
    expect(core.harness.released).toEqual(['low-0']);
    core.change('low-0', { deleting: true });
    await advance(core, 30 * second);
    expect(core.harness.released).toEqual(['low-0']);
  });

  it('are not released once the freed capacity of one completes the other', async () => {
    const core = deadlocked();
    await advance(core, 70 * second);
    core.change('low-0', { deleting: true });
    core.removePod('low-0');
    await core.attempt();
    expect(core.binds.map(({ binding }) => `${binding.name} on ${binding.nodeName}`)).toEqual(['high-1 on node-low']);
    await core.accept('high-1');
    core.change('high-1', { nodeName: 'node-low' });
    await advance(core, 300 * second);
    expect(core.harness.released).toEqual(['low-0']);
  });

  it('are released one after the other if the freed capacity does not help', async () => {
    const core = deadlocked();
    for (const name of ['low-1', 'high-1']) core.removePod(name);
    await advance(core, 70 * second);
    expect(core.harness.released).toEqual(['low-0']);
    core.change('low-0', { deleting: true });
    await advance(core, 20 * second);
    expect(core.harness.released).toEqual(['low-0']);
    core.removePod('low-0');
    await advance(core, 20 * second);
    expect(core.harness.released).toEqual(['low-0', 'high-0']);
  });

  it('are released although a user keeps members of another group terminating', async () => {
    const core = deadlocked();
    core.removePod('low-0');
    core.group({ name: 'never', namespace: 'tenant', minMember: 2 });
    core.pod({ name: 'stuck', namespace: 'tenant', group: 'never', cpu: 1, nodeName: 'node-low' });
    core.change('stuck', { deleting: true });
    await advance(core, 200 * second);
    expect(core.harness.released).toEqual(['high-0']);
  });

  it('are released although the members of one take too long to terminate', async () => {
    const core = deadlocked();
    for (const name of ['low-1', 'high-1']) core.removePod(name);
    await advance(core, 70 * second);
    core.change('low-0', { deleting: true });
    await advance(core, 40 * second);
    expect(core.harness.released).toEqual(['low-0']);
    await advance(core, 40 * second);
    expect(core.harness.released).toEqual(['low-0', 'high-0']);
  });

  it('after a restart, the release of one is finished before another one starts', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    partiallyBound({ core, phase: 'running' });
    core.change('red-0', { deleting: true, priority: 10 });
    core.change('red-1', { priority: 10 });
    core.change('red-2', { priority: 10 });
    core.node({ name: 'c', cpu: 1 });
    core.group({ name: 'blue', minMember: 2, status: neverStarted });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 1, nodeName: 'c', owner: 'job' });
    core.start();
    await advance(core, 125 * second);
    expect(core.harness.released).toEqual(['red-1']);
  });
});
