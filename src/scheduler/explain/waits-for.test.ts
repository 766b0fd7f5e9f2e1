import { describe, expect, it } from 'vitest';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { AskedExtenders } from '../testing/asked-extender.ts';
import { bigGangWaits } from '../testing/turn-story.ts';
import type { ExplanationPart } from './explainer.ts';

function cluster(...extra: readonly Plugin[]): Scheduling {
  return new Scheduling({ plugins: defaultPlugins, extra });
}

async function explain(scheduling: Scheduling, name: string): Promise<ExplanationPart> {
  while ((await scheduling.attempt()) !== undefined);
  return scheduling.harness.core.explainNow({ namespace: 'default', name })!;
}

describe('WI4: what a group waits for', () => {
  it('is its members, while some do not exist', async () => {
    const c = cluster();
    c.group({ name: 'red', minMember: 3 });
    c.members(1, { group: 'red', cpu: 1 });
    expect(await explain(c, 'red')).toMatchObject({
      state: 'Waiting',
      waitsFor: 'members',
      gang: { minMember: 3, existing: 1 },
      verdict: { reason: 'WaitingForGang', message: expect.stringContaining('1 of the 3 members') as string },
      whatHelps: [],
    });
  });

  it('is its members, while none exists', async () => {
    const c = cluster();
    c.group({ name: 'red', minMember: 3 });
    expect(await explain(c, 'red')).toMatchObject({
      waitsFor: 'members',
      verdict: { message: 'PodGroup default/red has 0 of the 3 members it needs to start.' },
    });
  });

  it('is gates, while too many members have one', async () => {
    const c = cluster();
    c.group({ name: 'red', minMember: 2 });
    c.pod({ name: 'red-0', group: 'red' });
    c.pod({ name: 'red-1', group: 'red', gates: ['example.com/later'] });
    expect(await explain(c, 'red')).toMatchObject({ waitsFor: 'gates', gang: { gated: 1 }, whatHelps: [] });
  });

  it('is its turn, while capacity is reserved for another', async () => {
    const story = await bigGangWaits();
    story.gang('late', 1, { cpu: 1 });
    await story.after(1);
    const explanation = story.queueing.harness.core.explainNow({ namespace: 'default', name: 'late' })!;
    expect(explanation).toMatchObject({ waitsFor: 'turn', verdict: { reason: 'WaitingForTurn' } });
    const codes = explanation.blocker?.funnel.flatMap(({ rejections }) => rejections.map(({ code }) => code));
    expect(codes).toContain('ReservedForOther');
  });

  it('is capacity, while other pods use it', async () => {
    const c = cluster();
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    c.group({ name: 'red', minMember: 2 });
    c.members(2, { group: 'red', cpu: 1 });
    expect(await explain(c, 'red')).toMatchObject({
      waitsFor: 'capacity',
      withoutOtherPods: 'fits',
      placed: 0,
      needed: 2,
      shortages: [{ resource: 'cpu', more: '2', free: '0', total: '2' }],
      whatHelps: expect.arrayContaining([
        { kind: 'podsEnd', pods: [{ kind: 'Pod', namespace: 'default', name: 'old', uid: 'old' }], highestPriority: 0 },
      ]) as unknown[],
    });
  });

  it('is nodes, while they are cordoned', async () => {
    const c = cluster();
    c.node({ name: 'a', cpu: 2, unschedulable: true });
    c.group({ name: 'red', minMember: 1 });
    c.members(1, { group: 'red', cpu: 1 });
    const { waitsFor, whatHelps } = await explain(c, 'red');
    expect(waitsFor).toBe('nodes');
    expect(whatHelps).toContainEqual({ kind: 'uncordon', nodes: ['a'] });
  });

  it('is permit, after a plugin has rejected it there', async () => {
    const c = cluster({ name: 'Gate', permit: () => new Status('Unschedulable', 'shut') });
    c.node({ name: 'a', cpu: 2 });
    c.group({ name: 'red', minMember: 1 });
    c.members(1, { group: 'red', cpu: 1 });
    expect(await explain(c, 'red')).toMatchObject({
      waitsFor: 'permit',
      fitsNow: true,
      verdict: { message: 'PodGroup default/red cannot start: shut.' },
    });
  });

  it('is the end of an error, after a plugin has failed', async () => {
    const c = cluster({
      name: 'Broken',
      filter: () => {
        throw new Error('out of ideas');
      },
    });
    c.node({ name: 'a', cpu: 2 });
    c.group({ name: 'red', minMember: 1 });
    c.members(1, { group: 'red', cpu: 1 });
    const { waitsFor, blocker, whatHelps } = await explain(c, 'red');
    expect([waitsFor, whatHelps]).toEqual(['error', []]);
    expect(blocker).toMatchObject({ funnel: [], rejection: { plugin: 'Broken', code: 'PluginFailed' } });
  });

  it('is unknown, while an extender has yet to agree to what the plugins would accept', async () => {
    const c = new Scheduling({ plugins: defaultPlugins, ports: { extenders: new AskedExtenders({}) } });
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    c.group({ name: 'red', minMember: 1 });
    c.members(1, { group: 'red', cpu: 1 });
    expect(await explain(c, 'red')).toMatchObject({ waitsFor: 'unknown', withoutOtherPods: 'unknown', fitsNow: false });
    c.removePod('old');
    expect(await explain(c, 'red')).toMatchObject({ waitsFor: 'unknown', placed: 1 });
  });
});

describe('WI5: never or capacity', () => {
  it.each([
    ['a label that no node has', 1, { cpu: 1, nodeSelector: { zone: 'none' } }],
    ['more than any node has', 1, { cpu: 8 }],
    ['more than the cluster has', 3, { cpu: 1 }],
  ])('is never, if it asks for %s', async (_what, minMember, request) => {
    const c = cluster();
    c.node({ name: 'a', cpu: 2, labels: { zone: 'x' } });
    c.group({ name: 'red', minMember });
    c.members(minMember, { group: 'red', ...request });
    expect(await explain(c, 'red')).toMatchObject({ waitsFor: 'never', withoutOtherPods: 'never' });
  });

  it('is capacity, if the emptied cluster is just large enough', async () => {
    const c = cluster();
    for (const name of ['a', 'b']) {
      c.node({ name, cpu: 2 });
      c.pod({ name: `on-${name}`, cpu: 0.1, nodeName: name });
    }
    c.group({ name: 'red', minMember: 2 });
    c.members(2, { group: 'red', cpu: 2 });
    expect(await explain(c, 'red')).toMatchObject({ waitsFor: 'capacity', withoutOtherPods: 'fits' });
  });
});

describe('WI9: an explanation of one pod is about', () => {
  it('a pod without a group', async () => {
    const c = cluster();
    c.node({ name: 'a', cpu: 1 });
    c.pod({ name: 'lone', cpu: 2 });
    expect(await explain(c, 'lone')).toMatchObject({
      subject: { kind: 'Pod', name: 'lone' },
      needed: 1,
      blocker: { member: 'lone', alike: 1 },
      shortages: [{ resource: 'cpu', more: '1', isAtLeast: true, free: '1', total: '1' }],
    });
  });

  it('a member beyond the quorum of a started group', async () => {
    const c = cluster();
    c.node({ name: 'a', cpu: 2 });
    c.group({ name: 'red', minMember: 1 });
    c.pod({ name: 'red-0', group: 'red', cpu: 2, nodeName: 'a' });
    c.pod({ name: 'red-1', group: 'red', cpu: 1 });
    expect(await explain(c, 'red-1')).toMatchObject({ subject: { kind: 'Pod' }, state: 'Waiting', needed: 1 });
    expect(await explain(c, 'red')).toMatchObject({ subject: { kind: 'PodGroup' }, state: 'Running' });
  });

  it('a replacement that is larger than the capacity that is reserved for the lost member', async () => {
    const c = cluster();
    c.node({ name: 'a', cpu: 2 });
    c.group({ name: 'red', minMember: 2 });
    for (const name of ['red-0', 'red-1']) {
      c.pod({ name, group: 'red', cpu: 1, owner: 'job' });
      c.change(name, { nodeName: 'a' });
    }
    c.harness.clock.advance(60_000);
    c.removePod('red-1');
    expect([...c.harness.cluster.reservations()].map(({ kind }) => kind)).toEqual(['repair']);
    c.pod({ name: 'red-2', group: 'red', cpu: 2, owner: 'job' });
    c.pod({ name: 'other', cpu: 1 });
    expect(await explain(c, 'red')).toMatchObject({
      state: 'Degraded',
      needed: 1,
      blocker: { member: 'red-2', funnel: [{ rejections: [{ code: 'InsufficientResource', mostFree: '1' }] }] },
    });
    expect(await explain(c, 'other')).toMatchObject({
      blocker: { member: 'other', funnel: [{ rejections: [{ code: 'ReservedForOther' }] }] },
    });
  });
});

it('an explanation counts reservations as the attempts of the entity do: those of its own turn do not matter', async () => {
  const story = await bigGangWaits();
  expect(Object.keys(story.reserved)).toEqual(['a', 'b']);
  const { placed, blocker } = story.queueing.harness.core.explainNow({ namespace: 'default', name: 'big' })!;
  expect(placed).toBe(1);
  expect(blocker?.funnel.map(({ rejections }) => rejections[0]!.code)).toEqual([
    'InsufficientResource',
    'TakenBySiblings',
  ]);
});
