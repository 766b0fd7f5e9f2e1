import { describe, expect, it } from 'vitest';
import type { PluginHandle } from '../../framework/plugin-handle.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { AskedExtenders } from '../testing/asked-extender.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { PendingBind } from '../../testkit/scheduling.ts';
import { stillHolds } from '../binding/still-holds.ts';

/** Returns a core with two nodes. */
function open(
  ...plugins: readonly { readonly name: string; readonly factory: (args: unknown, handle: PluginHandle) => Plugin }[]
): Scheduling {
  const core = new Scheduling({ plugins: [...defaultPlugins, ...plugins] });
  for (const name of ['a', 'b']) core.node({ name, cpu: 8 });
  return core;
}

function addGang(core: Scheduling, cpu = 0): void {
  core.group({ name: 'red', minMember: 6 });
  for (let i = 0; i < 6; i++) core.pod({ name: `red-${i}`, group: 'red', cpu: `${100 + i + cpu}m` });
}

/** Makes this many of the shortest steps, after which the attempt is still unfinished. */
function take(core: Scheduling, steps: number): void {
  for (let i = 0; i < steps; i++) expect(core.harness.core.attempt(0)).toEqual({ kind: 'paused' });
}

/** Finishes the attempt and returns its result. */
function finish(core: Scheduling): string | undefined {
  for (;;) {
    const result = core.harness.core.attempt(0);
    if (result?.kind !== 'paused') return result?.kind;
  }
}

describe('while an attempt is paused', () => {
  it('an expired reservation stays until the attempt has ended, and is released right after it', async () => {
    const core = open();
    core.pod({ name: 'x', cpu: 1 });
    await core.attempt();
    await core.accept('x');
    const { cluster, clock } = core.harness;
    core.group({ name: 'blue', minMember: 2 });
    core.members(2, { group: 'blue', cpu: 1 });
    await core.attempt();
    await core.accept('blue-0');
    const { name: nodeName } = cluster.nodeOf(cluster.pod('blue-0')!)!;
    core.change('blue-0', { nodeName, plannedGroupUid: 'blue' });
    await core.reject('blue-1', 'no');
    expect(cluster.reservationOf('blue-1')?.kind).toBe('repair');
    core.change('blue-1', { schedulingGates: ['later'] });
    addGang(core);
    take(core, 5);
    clock.advance(30_000);
    expect(cluster.reservationOf('blue-1')?.kind).toBe('repair');
    expect(finish(core)).toBe('planned');
    expect(cluster.reservationOf('blue-1')).toBeUndefined();
  });

  it('a timer that is cancelled before its turn does not fire', () => {
    const fired: string[] = [];
    let handle!: PluginHandle;
    const core = open({
      name: 'Timing',
      factory: (_, pluginHandle) => (
        (handle = pluginHandle),
        { name: 'Timing', preBind: () => Promise.resolve(undefined) }
      ),
    });
    addGang(core);
    const timer = handle.clock.setTimer(1_000, () => fired.push('cancelled'));
    handle.clock.setTimer(1_000, () => fired.push('rings'));
    take(core, 3);
    core.harness.clock.advance(2_000);
    expect(fired).toEqual([]);
    timer.cancel();
    finish(core);
    expect(fired).toEqual(['rings']);
  });

  it('updates from plugins wait, in order with the changes of the cluster cache', () => {
    const done: string[] = [];
    let handle!: PluginHandle;
    const core = open({
      name: 'Learning',
      factory: (_, pluginHandle) => ((handle = pluginHandle), { name: 'Learning', filter: () => undefined }),
    });
    const nodes = (): string => handle.cluster.nodes.map(({ name }) => name).join('');
    handle.betweenAttempts(() => done.push('at once'));
    addGang(core);
    take(core, 3);
    core.node({ name: 'c', cpu: 1 });
    handle.betweenAttempts(() => done.push(nodes()));
    core.removeNode('c');
    expect([done, nodes()]).toEqual([['at once'], 'ab']);
    finish(core);
    expect([done, nodes()]).toEqual([['at once', 'abc'], 'ab']);
  });

  it('half-planned members do not count for a Binding that is about to be sent', async () => {
    const core = open();
    addGang(core);
    await core.attempt();
    const gang = core.harness.cluster.gang('default/red')!;
    const bindingTerms = { gang, groupSpec: gang.spec, startsGang: true, profile: core.harness.core.profiles.all[0]! };
    // Two members fail. The others are still being bound while the gang is planned again.
    core.binds[0]!.binding.mayBeSent!();
    for (const { binding } of [...core.binds].slice(0, 2)) await core.reject(binding.name, 'no');
    const left = core.binds.map(({ binding }) => binding);
    const holds = (): (string | undefined)[] =>
      left.map(({ uid, nodeName }) => {
        const pod = core.harness.cluster.pod(uid)!;
        return stillHolds(core.harness.cluster, bindingTerms, { pod, nodeName })?.message;
      });
    const tooFew = 'PodGroup default/red has only 4 of the 6 members it needs bound or planned';
    expect(new Set(holds())).toEqual(new Set([tooFew]));
    let pauses = 0;
    while (core.harness.core.attempt(0)?.kind === 'paused') {
      if (core.queue.get('gang/default/red')?.state.kind === 'inFlight')
        expect(new Set(holds())).toEqual(new Set([tooFew]));
      pauses++;
    }
    expect(pauses).toBeGreaterThan(2);
    expect(holds()).toEqual(left.map(() => undefined));
  });

  it('deleted members of the gang itself stop its Bindings, and no member is bound', async () => {
    const core = open({ name: 'Slow', factory: () => ({ name: 'Slow', preBind: () => Promise.resolve(undefined) }) });
    addGang(core);
    take(core, 8);
    core.removePod('red-3');
    expect(core.harness.cluster.pod('red-3')).toBeDefined();
    let kind = core.harness.core.attempt(0)?.kind;
    while (kind === 'paused') kind = core.harness.core.attempt(0)?.kind;
    await core.settle();
    expect([kind, core.binds, core.harness.cluster.assumedCount]).toEqual(['planned', [], 0]);
  });

  it('changes of its nodes are checked before a Binding is sent', async () => {
    const core = open();
    addGang(core, 2_000);
    take(core, 5);
    core.node({ name: 'a', cpu: 1 });
    expect(finish(core)).toBe('planned');
    await core.settle();
    expect(core.binds).toHaveLength(6);
    for (const { binding } of core.binds) expect(() => binding.mayBeSent!()).toThrow('Insufficient cpu');
    expect(core.harness.cluster.assumedCount).toBe(0);
  });

  it('a Binding is not sent to a node that was full before the attempt', async () => {
    const core = open();
    core.removeNode('b');
    core.pod({ name: 'x', cpu: 2 });
    await core.attempt();
    const [{ binding }] = core.binds as [PendingBind];
    core.pod({ name: 'foreign', cpu: 7, nodeName: 'a' });
    core.node({ name: 'b', cpu: 8 });
    addGang(core);
    take(core, 5);
    const before = core.harness.capacities();
    expect(() => binding.mayBeSent!()).toThrow('Insufficient cpu');
    expect(core.harness.capacities()).toEqual(before);
    expect(finish(core)).toBe('planned');
  });

  it('a member that fails does not count, although the cluster cache learns of it later', async () => {
    const core = open();
    core.group({ name: 'blue', minMember: 2 });
    core.members(2, { group: 'blue', cpu: 6 });
    await core.attempt();
    const [first, second] = core.binds.map(({ binding }) => binding);
    core.removeNode(second!.nodeName);
    addGang(core);
    take(core, 4);
    expect(() => first!.mayBeSent!()).toThrow('the chosen node is gone');
    expect(core.harness.cluster.isAssumed('blue-0')).toBe(true);
    finish(core);
    expect(core.harness.cluster.isAssumed('blue-0')).toBe(false);
  });

  it('no other entity is tried, however much work a call allows', () => {
    const core = open();
    addGang(core);
    core.pod({ name: 'urgent', cpu: 1, priority: 100 });
    core.pod({ name: 'later', cpu: 1 });
    expect(core.harness.core.attempt(Infinity)?.kind).toBe('planned');
    take(core, 5);
    core.pod({ name: 'most-urgent', cpu: 1, priority: 1_000 });
    expect(core.states()).toMatchObject({ 'gang/default/red': 'inFlight', 'pod/later': 'active' });
    expect(core.states()).not.toHaveProperty('pod/most-urgent');
    expect(finish(core)).toBe('planned');
    expect(core.states()).toEqual({ 'pod/later': 'active', 'pod/most-urgent': 'active' });
    expect(core.queue.pop()?.key).toBe('pod/most-urgent');
  });

  it('many changes are applied in batches, and none is lost', () => {
    const core = open();
    addGang(core);
    take(core, 5);
    for (let i = 0; i < 500; i++) core.node({ name: `n${i}`, cpu: 1 });
    const { harness } = core;
    let [pauses, max] = [0, 0];
    for (let before = harness.cluster.nodes.length; ; before = harness.cluster.nodes.length) {
      const result = harness.core.attempt(50_000);
      max = Math.max(max, harness.cluster.nodes.length - before);
      if (result?.kind !== 'paused') break;
      pauses++;
      if (pauses === 3) core.node({ name: 'last', cpu: 1 });
    }
    expect([harness.cluster.nodes.length, max, harness.cluster.nodes.at(-1)!.name]).toEqual([503, 100, 'last']);
    expect(pauses).toBeGreaterThan(4);
  });
});

it('a plugin that stops the scheduler during a step leaves nothing behind', async () => {
  let ended: Promise<unknown> | undefined;
  const reserved = new Set<string>();
  const stopping: Plugin = {
    name: 'Stopping',
    filter: () => {
      if (reserved.size === 2) ended ??= core.harness.core.stop();
      return undefined;
    },
    reserve: (_state, { uid }) => void reserved.add(uid),
    unreserve: (_state, { uid }) => void reserved.delete(uid),
  };
  const core = open({ name: 'Stopping', factory: () => stopping });
  addGang(core);
  for (let i = 0; i < 100 && ended === undefined; i++) core.harness.core.attempt(0);
  expect(ended).toBeDefined();
  core.node({ name: 'c', cpu: 1 });
  const { cluster } = core.harness;
  expect([cluster.isPlanning, cluster.assumedCount, reserved.size, cluster.nodes.length]).toEqual([false, 0, 0, 3]);
  expect(core.harness.core.attempt(0)).toBeUndefined();
  core.harness.clock.advance(10_000);
  await ended;
});

it('extenders get the same requests whether the attempt runs in steps or at once', async () => {
  const requestsWith = async (work: number): Promise<readonly unknown[]> => {
    const outside = new AskedExtenders({});
    const core = new Scheduling({ plugins: defaultPlugins, ports: { extenders: outside } });
    for (const name of ['a', 'b', 'c']) core.node({ name, cpu: 8 });
    addGang(core);
    let pauses = 0;
    for (let round = 0; round < 2; round++) {
      let kind = core.harness.core.attempt(work)?.kind;
      for (; kind === 'paused'; kind = core.harness.core.attempt(work)?.kind) {
        expect(core.harness.cluster.assumedCount).toBe(0);
        pauses++;
      }
      await core.settle();
      while (outside.open.length > 0) {
        outside.next().leave(['b']);
        await core.settle();
      }
    }
    expect(pauses > 4).toBe(work < Infinity);
    return [outside.history, core.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`)];
  };
  const atOnce = await requestsWith(Infinity);
  expect(atOnce[1]).toHaveLength(6);
  expect(await requestsWith(0)).toEqual(atOnce);
});

it('a gang preempts the same pods whether the attempt runs in steps or at once', async () => {
  const preemptedWith = async (work: number): Promise<readonly unknown[]> => {
    const core = new Scheduling({ plugins: defaultPlugins });
    for (const name of ['a', 'b']) {
      core.node({ name, cpu: 4 });
      for (let i = 0; i < 4; i++) core.pod({ name: `${name}-${i}`, cpu: 1, priority: i, nodeName: name });
    }
    core.group({ name: 'red', minMember: 5 });
    core.members(5, { group: 'red', cpu: 1, priority: 10 });
    let pauses = 0;
    let kind = core.harness.core.attempt(work)?.kind;
    for (; kind === 'paused'; kind = core.harness.core.attempt(work)?.kind) pauses++;
    expect(pauses > 20).toBe(work < Infinity);
    await core.settle();
    const reservations = [...core.harness.cluster.reservations()].map(
      ({ owner, nodeName }) => `${owner.name} ${nodeName}`,
    );
    return [kind, core.harness.preempted, reservations, core.harness.core.verdictOf('red-0')?.message];
  };
  const atOnce = await preemptedWith(Infinity);
  expect(atOnce[1]).toHaveLength(5);
  expect(await preemptedWith(0)).toEqual(atOnce);
});

it('the algorithm duration excludes pauses, and the attempt duration includes them', async () => {
  const core = open();
  addGang(core);
  take(core, 5);
  core.harness.clock.advance(3_000);
  expect(finish(core)).toBe('planned');
  await core.settle();
  for (const { binding } of [...core.binds]) await core.accept(binding.name);
  const text = await core.harness.registry.metrics();
  const valueOf = (name: string): number => Number(new RegExp(`^${name}(?:{[^}]*})? (.*)$`, 'm').exec(text)?.[1]);
  expect(valueOf('scheduler_scheduling_algorithm_duration_seconds_sum')).toBe(0);
  expect(valueOf('scheduler_podgroup_scheduling_attempt_duration_seconds_sum')).toBe(3);
});
