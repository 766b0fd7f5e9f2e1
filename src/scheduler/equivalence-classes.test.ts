import { describe, expect, it } from 'vitest';
import type { Plugin } from '../framework/plugin.ts';
import { Status } from '../framework/status.ts';
import { Scheduling } from '../testkit/scheduling.ts';
import { AskedExtenders } from './testing/asked-extender.ts';
import { withoutPreemption } from './testing/preemption-plugins.ts';

const core = (...extra: readonly Plugin[]): Scheduling => new Scheduling({ plugins: withoutPreemption, extra });

/** Runs attempts until the active queue is empty. Returns the result of each. */
async function drain(scheduling: Scheduling): Promise<string[]> {
  const kinds: string[] = [];
  for (let kind = await scheduling.attempt(); kind !== undefined; kind = await scheduling.attempt()) {
    kinds.push(kind);
    if (kinds.length > 500) throw new Error('does not end');
  }
  return kinds;
}

/** Lets every backoff end and runs all attempts. */
async function later(scheduling: Scheduling): Promise<void> {
  scheduling.harness.clock.advance(20_000);
  await drain(scheduling);
}

const namesOf = ({ binds }: Scheduling): string[] => binds.map(({ binding }) => binding.name);

describe('members of one equivalence class', () => {
  it('get verdicts that fit their own group', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 4 });
    for (const name of ['red', 'blue']) {
      c.group({ name, minMember: 1 });
      c.members(1, { group: name, cpu: 1, nodeName: 'a' });
    }
    c.pod({ name: 'filler', cpu: 2, nodeName: 'a' });
    c.pod({ name: 'red-1', group: 'red', cpu: 1 });
    await drain(c);
    expect(c.harness.core.verdictOf('red-1')?.message).toContain('Insufficient cpu');
    c.pod({ name: 'blue-1', group: 'blue', cpu: 1, schedulerName: 'default-scheduler' });
    c.pod({ name: 'blue-2', group: 'blue', cpu: 1, schedulerName: 'other' });
    await drain(c);
    expect(c.harness.core.verdictOf('blue-1')?.message).toContain('name different schedulers');
  });

  it('in one group are retried when a sibling with another schedulerName is deleted', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 4 });
    c.group({ name: 'red', minMember: 1 });
    c.members(1, { group: 'red', cpu: 1, nodeName: 'a' });
    c.pod({ name: 'red-1', group: 'red', cpu: 1, schedulerName: 'other' });
    c.pod({ name: 'red-2', group: 'red', cpu: 1 });
    await drain(c);
    expect(c.harness.core.verdictOf('red-2')?.message).toContain('name different schedulers');
    c.removePod('red-1');
    await later(c);
    expect(namesOf(c)).toEqual(['red-2']);
  });

  it('get verdicts about the current nodes, even after an event that helps none of them', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 1, taints: ['own:NoSchedule'] });
    c.node({ name: 'b', cpu: 1 });
    c.pod({ name: 'filler', cpu: 1, nodeName: 'b' });
    c.pod({ name: 'x', cpu: 1 });
    await drain(c);
    c.removeNode('a');
    c.pod({ name: 'y', cpu: 1 });
    expect(await drain(c)).toEqual(['rejected']);
    expect(c.harness.core.verdictOf('y')?.message).toBe(
      '0/1 nodes are available: 1 Insufficient cpu. It needs 1 more cpu; 0 free, 1 in total.',
    );
    c.pod({ name: 'z', cpu: 1 });
    expect(await drain(c)).toEqual(['joined']);
  });

  it('are not equivalent if capacity is reserved for a sibling of one of them', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 4 });
    c.group({ name: 'red', minMember: 1 });
    c.members(1, { group: 'red', cpu: 1, nodeName: 'a' });
    c.pod({ name: 'filler', cpu: 2, nodeName: 'a' });
    c.pod({ name: 'red-9', group: 'red', cpu: 1, nominatedNodeName: 'a', schedulingGates: [] } as never);
    c.change('red-9', { schedulingGates: ['shut'] });
    c.pod({ name: 'x', cpu: 1 });
    await drain(c);
    expect(c.states()['pod/x']).toBe('unschedulable');
    c.pod({ name: 'red-1', group: 'red', cpu: 1 });
    await drain(c);
    expect(namesOf(c)).toEqual(['red-1']);
  });

  it('are no longer equivalent once capacity is reserved for one of them, which is then tried on its own', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 1 });
    c.pod({ name: 'filler', cpu: 1, nodeName: 'a' });
    c.pod({ name: 'x', cpu: 1 });
    c.pod({ name: 'y', cpu: 1 });
    await drain(c);
    c.change('y', { nominatedNodeName: 'a' });
    await later(c);
    c.removePod('filler');
    await later(c);
    expect(namesOf(c)).toEqual(['y']);
  });

  it('are in one namespace if nodes have rejected their pods, because the rejections count for that namespace only', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 4 });
    c.pod({ name: 'refused', namespace: 'mine', cpu: 1 });
    await drain(c);
    await c.accept('refused');
    c.change('refused', { nodeName: 'a' });
    c.change('refused', { phase: 'Failed', failedBecause: 'SysctlForbidden' });
    c.removePod('refused');
    for (const name of ['mine-1', 'mine-2']) c.pod({ name, namespace: 'mine', cpu: 1 });
    expect(await drain(c)).toEqual(['rejected', 'joined']);
    c.pod({ name: 'other-1', namespace: 'other', cpu: 1 });
    await drain(c);
    expect(namesOf(c)).toEqual(['other-1']);
    await later(c);
    c.harness.clock.advance(60_000);
    await drain(c);
    expect(namesOf(c)).toEqual(['other-1', 'mine-1', 'mine-2']);
  });

  it('may be in different namespaces otherwise', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 1 });
    for (const namespace of ['mine', 'other']) c.pod({ name: namespace, namespace, cpu: 2 });
    expect(await drain(c)).toEqual(['rejected', 'joined']);
  });

  it('that arrive later do not overtake one that backs off', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'filler', cpu: 2, nodeName: 'a' });
    for (const name of ['old', 'new']) c.group({ name, minMember: 2 });
    c.members(2, { group: 'old', cpu: 1 });
    await drain(c);
    c.removePod('filler');
    expect(c.states()['gang/default/old']).toBe('backoff');
    c.members(2, { group: 'new', cpu: 1 });
    await drain(c);
    expect(namesOf(c).sort()).toEqual(['old-0', 'old-1']);
    expect(c.states()['gang/default/new']).toBe('unschedulable');
    expect(c.harness.core.verdictOf('new-0')?.message).toContain(
      'PodGroup default/new cannot start: new-0 finds no node',
    );
    await c.accept('old-0');
    await c.accept('old-1');
    c.removePod('old-0');
    c.removePod('old-1');
    await later(c);
    expect(namesOf(c).sort()).toEqual(['new-0', 'new-1']);
  });

  it('all get a new verdict when the cause changes', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 1 });
    c.pod({ name: 'filler', cpu: 1, nodeName: 'a' });
    for (let i = 0; i < 50; i++) c.pod({ name: `x${i}`, cpu: 1 });
    await drain(c);
    const messages = (): Set<string | undefined> =>
      new Set(Array.from({ length: 50 }, (_, i) => c.harness.core.verdictOf(`x${i}`)?.message));
    const message = '0/1 nodes are available: 1 Insufficient cpu. It needs 1 more cpu; 0 free, 1 in total.';
    expect(messages()).toEqual(new Set([`${message} It is first in line for cpu.`, message]));
    expect(c.harness.core.verdictOf('x0')?.message).toContain('first in line');
    const written = c.harness.written.length;
    c.node({ name: 'a', cpu: 1, taints: ['own:NoSchedule'] });
    c.removePod('filler');
    await later(c);
    for (let second = 0; second < 10; second++) {
      c.harness.clock.advance(1_000);
      await c.settle();
    }
    expect(messages()).toEqual(new Set(['0/1 nodes are available: 1 node(s) had untolerated taint(s).']));
    expect(c.harness.written.length - written).toBe(50);
    c.harness.clock.advance(120_000);
    await c.settle();
    expect(c.harness.written.length - written).toBe(50);
  });
});

describe('gangs with equal minResources', () => {
  async function parked(count: number): Promise<Scheduling> {
    const c = core();
    c.node({ name: 'a', cpu: 8 });
    for (const name of ['small', 'large']) c.pod({ name, cpu: name === 'small' ? 2 : 6, nodeName: 'a' });
    for (let i = 0; i < count; i++) {
      c.group({ name: `g${i}`, minMember: 2, minResources: { cpu: '6' } });
      c.members(2, { group: `g${i}`, cpu: 3 });
    }
    return c;
  }

  it('share one attempt and its verdict', async () => {
    const c = await parked(30);
    expect(await drain(c)).toEqual(['rejected', ...Array.from({ length: 29 }, () => 'joined')]);
    expect(c.harness.core.verdictOf('g29-1')?.message).toContain(
      'PodGroup default/g29 cannot start: its minResources request 6 cpu, but only 0 is free in the whole cluster.',
    );
    c.harness.clock.advance(20_000);
    c.removePod('small');
    expect(await drain(c)).toEqual([]);
    c.removePod('large');
    expect(await drain(c)).toEqual(['planned', 'rejected']);
    expect(namesOf(c).sort()).toEqual(['g0-0', 'g0-1']);
  });

  it('are retried by their own minResources after the one that was tried requests more', async () => {
    const c = await parked(3);
    await drain(c);
    c.group({ name: 'g0', minMember: 2, minResources: { cpu: '100' } });
    await later(c);
    c.removePod('large');
    await later(c);
    expect(namesOf(c).sort()).toEqual(['g1-0', 'g1-1']);
  });

  it('are not tried after the one that was tried is gone', async () => {
    const c = await parked(3);
    await drain(c);
    c.removeGroup('default/g0');
    for (const name of ['g0-0', 'g0-1']) c.removePod(name);
    c.harness.clock.advance(20_000);
    c.removePod('small');
    expect(await drain(c)).toEqual([]);
  });
});

describe('many entities that an event may help', () => {
  it('do not delay one with higher priority, whatever is added in the meantime', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 8 });
    for (const name of ['one', 'two']) c.pod({ name, cpu: 4, nodeName: 'a' });
    for (let i = 0; i < 100; i++) c.pod({ name: `low${i}`, cpu: `${1000 + i}m` });
    c.pod({ name: 'high', cpu: 5, priority: 10 });
    await drain(c);
    c.harness.clock.advance(20_000);
    c.removePod('one');
    const active = Object.entries(c.states()).filter(([, state]) => state === 'active');
    expect(active.map(([key]) => key)).not.toContain('pod/high');
    c.pod({ name: 'middle', cpu: 1, priority: 5 });
    c.removePod('two');
    await c.attempt();
    await c.attempt();
    expect(namesOf(c)).toEqual(['high', 'middle']);
  });

  it('are all tried in order, one of each class first', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 1000, pods: 1000 });
    c.pod({ name: 'filler', cpu: 1000, nodeName: 'a' });
    for (let i = 0; i < 300; i++) c.pod({ name: `x${i}`, cpu: `${1000 + (i % 150)}m` });
    await drain(c);
    c.harness.clock.advance(20_000);
    c.removePod('filler');
    await drain(c);
    expect(namesOf(c).slice(0, 64)).toEqual(Array.from({ length: 64 }, (_, i) => `x${i}`));
    expect(new Set(namesOf(c)).size).toBe(300);
  });
});

describe('the representative of an equivalence class', () => {
  /** Five equivalent pods, of which the first is active. */
  async function withActiveRepresentative(): Promise<Scheduling> {
    const c = core();
    c.node({ name: 'a', cpu: 5 });
    c.pod({ name: 'filler', cpu: 5, nodeName: 'a' });
    for (let i = 0; i < 5; i++) c.pod({ name: `x${i}`, cpu: 1 });
    await drain(c);
    c.harness.clock.advance(20_000);
    c.removePod('filler');
    expect(c.states()['pod/x0']).toBe('active');
    return c;
  }

  it.each<[string, (c: Scheduling) => void, string[]]>([
    ['is deleted', (c) => c.removePod('x0'), ['x1', 'x2', 'x3', 'x4']],
    ['is gated', (c) => c.change('x0', { schedulingGates: ['shut'] }), ['x1', 'x2', 'x3', 'x4']],
    ['is bound by another process', (c) => c.change('x0', { nodeName: 'a' }), ['x1', 'x2', 'x3', 'x4']],
    ['requests more', (c) => c.pod({ name: 'x0', cpu: 9 }), ['x1', 'x2', 'x3', 'x4']],
    ['requests less', (c) => c.pod({ name: 'x0', cpu: '10m' }), ['x0', 'x1', 'x2', 'x3', 'x4']],
    ['joins a group', (c) => c.change('x0', { podGroupKey: 'default/none' }), ['x1', 'x2', 'x3', 'x4']],
  ])('%s: the other pods are tried', async (_change, apply, scheduled) => {
    const c = await withActiveRepresentative();
    apply(c);
    await drain(c);
    expect(namesOf(c).sort()).toEqual(scheduled);
  });

  it('is deleted with all other pods: the next equivalent pod is tried', async () => {
    const c = await withActiveRepresentative();
    for (let i = 4; i >= 0; i--) c.removePod(`x${i}`);
    expect(await drain(c)).toEqual([]);
    c.pod({ name: 'y', cpu: 1 });
    expect(await drain(c)).toEqual(['planned']);
  });

  it('fails because of a plugin error: the other pods are still tried', async () => {
    let isBroken = false;
    const c = core({
      name: 'Fragile',
      sign: () => '',
      filter: (_, pod) => {
        if (isBroken && pod.name === 'x0') throw new Error('broken');
        return undefined;
      },
    });
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'filler', cpu: 2, nodeName: 'a' });
    for (let i = 0; i < 3; i++) c.pod({ name: `x${i}`, cpu: 1 });
    await drain(c);
    isBroken = true;
    c.harness.clock.advance(20_000);
    c.removePod('filler');
    await drain(c);
    expect(namesOf(c)).toEqual(['x1', 'x2']);
  });

  it('can no longer be signed: it fails alone', async () => {
    let isBroken = false;
    const c = core({
      name: 'Fragile',
      sign: ({ labels }) => {
        if (isBroken && labels.odd === 'yes') throw new Error('broken');
        return '';
      },
      filter: () => undefined,
    });
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'filler', cpu: 2, nodeName: 'a' });
    for (let i = 0; i < 3; i++) c.pod({ name: `x${i}`, cpu: 1 });
    await drain(c);
    isBroken = true;
    c.change('x0', { labels: { odd: 'yes' } });
    await later(c);
    expect(c.harness.core.verdictOf('x0')?.reason).toBe('SchedulerError');
    c.removePod('filler');
    await later(c);
    expect(namesOf(c).sort()).toEqual(['x1', 'x2']);
  });
});

describe('profiles', () => {
  it('have separate equivalence classes', async () => {
    const c = new Scheduling({
      plugins: withoutPreemption,
      profiles: { 'default-scheduler': () => true, lax: ({ name }) => name !== 'TaintToleration' },
    });
    c.node({ name: 'a', cpu: 1, taints: ['own:NoSchedule'] });
    c.pod({ name: 'x', cpu: 1 });
    c.pod({ name: 'y', cpu: 1, schedulerName: 'lax' });
    await drain(c);
    expect(namesOf(c)).toEqual(['y']);
  });
});

describe('freed capacity wakes waiting pods', () => {
  it('when the pod with the reservation requests less', async () => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    const vip = { name: 'vip', priority: 10, nominatedNodeName: 'a', schedulerName: 'other' };
    c.pod({ ...vip, cpu: 2 });
    c.pod({ name: 'x', cpu: 1 });
    await drain(c);
    c.pod({ ...vip, cpu: 1 });
    await later(c);
    expect(namesOf(c)).toEqual(['x']);
  });

  it.each(['before', 'when'])('when a pod requests less %s the watch shows it bound', async (moment) => {
    const c = core();
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'big', cpu: 2 });
    await drain(c);
    c.pod({ name: 'x', cpu: 1 });
    await drain(c);
    await c.accept('big');
    c.pod({ name: 'big', cpu: 1, ...(moment === 'when' && { nodeName: 'a' }) });
    if (moment === 'before') c.pod({ name: 'big', cpu: 1, nodeName: 'a' });
    await later(c);
    expect(namesOf(c)).toEqual(['x']);
  });
});

describe('a changed pod is retried', () => {
  it('if a Permit plugin may read unsigned fields', async () => {
    const shut = new Status('Unschedulable', 'the door is shut');
    const c = core({ name: 'Door', permit: (_, pod) => (pod.labels.door === 'shut' ? shut : undefined) });
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'x', cpu: 1, labels: { door: 'shut' } });
    await drain(c);
    c.pod({ name: 'x', cpu: 1 });
    await later(c);
    expect(namesOf(c)).toEqual(['x']);
  });

  it('if an extender may read the changed fields, unless only the verdict changed', async () => {
    const outside = new AskedExtenders({ name: 'outside' });
    const c = new Scheduling({ plugins: withoutPreemption, ports: { extenders: outside } });
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'x', cpu: 1 });
    const reject = async (): Promise<void> => {
      await drain(c);
      outside.next().leave([]);
      await c.settle();
      await drain(c);
    };
    await reject();
    c.harness.clock.advance(20_000);
    c.change('x', {
      resourceVersion: '900',
      podScheduled: { status: 'False', reason: 'Unschedulable', message: 'whatever' },
    });
    expect(await drain(c)).toEqual([]);
    c.change('x', { resourceVersion: '901' });
    await reject();
    expect(outside.history).toHaveLength(2);
  });
});
