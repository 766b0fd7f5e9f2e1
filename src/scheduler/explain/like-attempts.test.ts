import { describe, expect, it } from 'vitest';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { AskedExtenders } from '../testing/asked-extender.ts';
import type { ExplanationPart } from './explainer.ts';

async function attemptAll(scheduling: Scheduling): Promise<void> {
  while ((await scheduling.attempt()) !== undefined);
}

function explain(scheduling: Scheduling, name: string): ExplanationPart {
  return scheduling.harness.core.explainNow({ namespace: 'default', name })!;
}

function codesOf({ blocker }: ExplanationPart): readonly string[] {
  return blocker!.funnel.flatMap(({ rejections }) => rejections.map(({ code }) => code));
}

describe('nodes that have rejected members before', () => {
  /** A pod that node a, the only one with capacity, has failed to bind twice. */
  async function failedTwice(): Promise<Scheduling> {
    const c = new Scheduling({ plugins: defaultPlugins });
    c.node({ name: 'a', cpu: 2 });
    c.node({ name: 'b', cpu: 2 });
    c.pod({ name: 'old', cpu: 2, nodeName: 'b', priority: -1 });
    c.pod({ name: 'lone', cpu: 2 });
    for (let i = 0; i < 2; i++) {
      await attemptAll(c);
      await c.reject('lone', 'refused');
      c.harness.clock.advance(60_000);
    }
    return c;
  }

  it('count as fitting while no other node fits: the next attempt tries them again', async () => {
    expect(explain(await failedTwice(), 'lone')).toMatchObject({ fitsNow: true, placed: 1, needed: 1 });
  });

  it('do not count while the pod waits for its victims', async () => {
    const c = await failedTwice();
    c.pod({ name: 'filler', cpu: 2, nodeName: 'a', priority: 9 });
    await attemptAll(c);
    expect(c.harness.preempted).toHaveLength(1);
    c.removePod('filler');
    c.harness.clock.advance(60_000);
    await attemptAll(c);
    expect(codesOf(explain(c, 'lone'))).toEqual(['InsufficientResource', 'BindFailed']);
    expect(c.harness.core.verdictOf('lone')?.message).toContain('1 node(s) where binding the pod failed');
  });

  it('have different codes: a node that did not admit a pod is no node where binding failed', async () => {
    const c = new Scheduling({ plugins: defaultPlugins });
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'first', cpu: 1, nodeName: 'a' });
    c.change('first', { phase: 'Failed', failedBecause: 'OutOfcpu' });
    c.pod({ name: 'second', cpu: 1 });
    await attemptAll(c);
    expect(codesOf(explain(c, 'second'))).toEqual(['NotAdmitted']);
  });
});

it('a node that a plugin rejects in Reserve is in the funnel, after all filters', async () => {
  const slots: Plugin = {
    name: 'Slots',
    reserve: (_state, _pod, { name }) =>
      name === 'a' ? new Status('Unschedulable', 'node(s) without a slot') : undefined,
    unreserve: () => undefined,
  };
  const c = new Scheduling({ plugins: defaultPlugins, extra: [slots] });
  c.node({ name: 'a', cpu: 2 });
  c.node({ name: 'b', cpu: 1 });
  c.pod({ name: 'lone', cpu: 2 });
  await attemptAll(c);
  const before = c.harness.capacities();
  const { blocker } = explain(c, 'lone');
  expect(blocker?.funnel.map(({ rejections, left }) => [rejections[0]!.message, left])).toEqual([
    ['Insufficient cpu', 1],
    ['node(s) without a slot', 0],
  ]);
  expect(blocker?.nearest.map(({ node, rejections }) => [node, rejections.map(({ plugin }) => plugin)])).toEqual([
    ['a', ['Slots']],
    ['b', ['NodeResourcesFit']],
  ]);
  expect(c.harness.capacities()).toEqual(before);
});

describe('a pod whose nodes an extender may reject', () => {
  async function leftToExtender(cpu: number): Promise<ExplanationPart> {
    const outside = new AskedExtenders({});
    const c = new Scheduling({ plugins: defaultPlugins, ports: { extenders: outside } });
    c.node({ name: 'a', cpu: 2 });
    c.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    c.pod({ name: 'lone', cpu });
    await attemptAll(c);
    if (outside.asked.length > 0) outside.next().leave([], { failed: new Map([['a', 'no license']]) });
    await c.settle();
    await attemptAll(c);
    return explain(c, 'lone');
  }

  it('does not count as fitting when the plugins agree', async () => {
    const explanation = await leftToExtender(1);
    expect(explanation).toMatchObject({ placed: 1, needed: 1, unknowns: ['extenders'] });
    expect(explanation.verdict?.message).toContain('1 extender outside: no license');
    expect(explanation).not.toHaveProperty('fitsNow');
  });

  it('has no advice: the extender would have to agree to it', async () => {
    expect(await leftToExtender(2)).toMatchObject({ fitsNow: false, whatHelps: [], unknowns: ['extenders'] });
  });
});

it('several resources that are short are listed, and the verdict says the first', async () => {
  const c = new Scheduling({ plugins: defaultPlugins });
  for (const name of ['a', 'b']) c.node({ name, cpu: 3, memory: '4Gi' });
  c.pod({ name: 'lone', cpu: 4, memory: '10Gi' });
  await attemptAll(c);
  const { shortages, verdict } = explain(c, 'lone');
  expect(shortages).toEqual([
    { resource: 'memory', more: '6Gi', isAtLeast: true, free: '8Gi', left: '8Gi', mostLeft: '4Gi', total: '8Gi' },
    { resource: 'cpu', free: '6', left: '6', mostLeft: '3', total: '6' },
  ]);
  expect(verdict?.message).toContain(
    'It needs at least 6Gi more memory; 8Gi free, at most 4Gi on one node, 8Gi in total.',
  );
});
