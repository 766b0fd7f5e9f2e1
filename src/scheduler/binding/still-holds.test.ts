import { describe, expect, it } from 'vitest';
import { WithdrawnError } from '../../client/api-errors.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

/** A gang of two, planned on two nodes, whose bindings are about to be sent. */
async function planned(): Promise<Scheduling> {
  const core = new Scheduling({ plugins: defaultPlugins });
  for (const name of ['a', 'b']) core.node({ name, cpu: 1 });
  core.group({ name: 'red', uid: 'first', minMember: 2 });
  core.members(2, { group: 'red', cpu: 1 });
  expect(await core.attempt()).toBe('planned');
  return core;
}

/** A started gang with a new member that fits on another node. */
async function joined(): Promise<Scheduling> {
  const core = await planned();
  for (const { binding } of [...core.binds]) {
    await core.accept(binding.name);
    core.change(binding.name, { nodeName: binding.nodeName });
  }
  core.node({ name: 'c', cpu: 1 });
  core.pod({ name: 'red-2', group: 'red', cpu: 1 });
  return core;
}

/** pod -> why its binding must not be sent now */
function withheld({ binds }: Scheduling): Record<string, string> {
  const reasons: Record<string, string> = {};
  for (const { binding } of binds) {
    try {
      binding.mayBeSent!();
    } catch (error) {
      expect(error).toBeInstanceOf(WithdrawnError);
      reasons[binding.name] = (error as Error).message;
    }
  }
  return reasons;
}

describe('a binding that is about to be sent', () => {
  it('is sent if nothing has changed since it was planned', async () => {
    expect(withheld(await planned())).toEqual({});
  });

  it.each<[string, (core: Scheduling) => void, string]>([
    ['another member is gone', (core) => core.removePod('red-1'), 'PodGroup default/red has only 1 of the 2 members'],
    [
      'another member is being deleted',
      (core) => core.change('red-1', { deleting: true }),
      'PodGroup default/red has only 1',
    ],
    [
      'another member has failed',
      (core) => core.change('red-1', { phase: 'Failed' }),
      'PodGroup default/red has only 1 of',
    ],
    ['minMember has grown', (core) => core.group({ name: 'red', uid: 'first', minMember: 3 }), 'only 2 of the 3'],
    ['the group is gone', (core) => core.removeGroup('default/red'), 'PodGroup default/red was deleted'],
    [
      'the group was recreated',
      (core) => {
        core.removeGroup('default/red');
        core.group({ name: 'red', uid: 'second', minMember: 2 });
      },
      'PodGroup default/red was deleted and recreated',
    ],
  ])('is withdrawn if %s', async (_change, apply, reason) => {
    const core = await planned();
    apply(core);
    expect(withheld(core)['red-0']).toContain(reason);
  });

  it('is withdrawn if too few members remain, and the verdict names the group once', async () => {
    const core = await planned();
    core.removePod('red-1');
    withheld(core);
    expect(core.harness.written.at(-1)?.verdict.message).toBe(
      'PodGroup default/red has only 1 of the 2 members it needs bound or planned.',
    );
  });

  describe.each([
    { which: 'its own', of: 0 },
    { which: "another member's", of: 1 },
  ])('is withdrawn if $which node', ({ of }) => {
    it.each<[string, (core: Scheduling, node: string) => void, string]>([
      ['is gone', (core, node) => core.removeNode(node), 'is gone'],
      ['has no capacity left', (core, name) => core.node({ name, cpu: '500m' }), 'Insufficient cpu'],
      ['is cordoned', (core, name) => core.node({ name, cpu: 1, unschedulable: true }), 'node(s) were unschedulable'],
    ])('%s', async (_change, apply, reason) => {
      const core = await planned();
      apply(core, core.binds[of]!.binding.nodeName);
      const why = expect.stringContaining(reason) as string;
      expect(withheld(core)).toEqual({ 'red-0': why, 'red-1': why });
    });
  });

  it('is sent in a group that has started, even if other members are gone', async () => {
    const core = await joined();
    await core.attempt();
    core.removePod('red-0');
    expect(withheld(core)).toEqual({});
  });

  it('is withdrawn for members beyond minMember if the group starts over, although they are as many as it needs', async () => {
    const core = await joined();
    core.node({ name: 'd', cpu: 1 });
    core.pod({ name: 'red-3', group: 'red', cpu: 1 });
    expect([await core.attempt(), await core.attempt()]).toEqual(['planned', 'planned']);
    for (const name of ['red-0', 'red-1']) core.removePod(name);
    const why = 'PodGroup default/red starts over, and its minMember members start together';
    expect(withheld(core)).toEqual({ 'red-2': why, 'red-3': why });
  });

  it('is withdrawn for members that replace lost ones if the group starts over', async () => {
    const core = await joined();
    core.removePod('red-0');
    expect(await core.attempt()).toBe('planned');
    core.removePod('red-1');
    core.pod({ name: 'red-3', group: 'red', cpu: 1 });
    await core.attempt();
    const why = 'PodGroup default/red starts over, and its minMember members start together';
    expect(withheld(core)['red-2']).toBe(why);
  });

  it('is withdrawn for a member beyond minMember if the group is deleted or recreated', async () => {
    const core = await joined();
    expect(await core.attempt()).toBe('planned');
    core.removeGroup('default/red');
    expect(withheld(core)).toEqual({ 'red-2': 'PodGroup default/red was deleted' });
    core.group({ name: 'red', uid: 'second', minMember: 2 });
    expect(withheld(core)).toEqual({ 'red-2': 'PodGroup default/red was deleted and recreated' });
  });
});

it('a member that arrives before the first binding of its group is sent waits for that plan, then is planned with the others', async () => {
  const core = await planned();
  core.removePod('red-1');
  core.pod({ name: 'red-2', group: 'red', cpu: 1 });
  expect(await core.attempt()).toBeUndefined();
  expect(Object.keys(withheld(core))).toEqual(['red-0', 'red-1']);
  for (const { binding } of [...core.binds]) await core.reject(binding.name, 'withdrawn');
  core.harness.clock.advance(10_000);
  expect(await core.attempt()).toBe('planned');
  expect(core.binds.map(({ binding }) => binding.name).sort()).toEqual(['red-0', 'red-2']);
  expect(withheld(core)).toEqual({});
});

it.each(['is bound', 'fails'])(
  'a new member is planned at once if the member of the starting plan has left the group, and stays planned when that one %s',
  async (outcome) => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', uid: 'first', minMember: 1 });
    core.members(1, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    core.change('red-0', { podGroupKey: undefined });
    core.pod({ name: 'red-1', group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    if (outcome === 'fails') await core.reject('red-0', 'the node rejected the pod');
    else await core.accept('red-0');
    expect(core.binds.some(({ binding }) => binding.name === 'red-1')).toBe(true);
  },
);

describe('a plan that is about to start a group, with one member that fails before any binding is sent', () => {
  it('keeps the replacement waiting until the other members are rechecked', async () => {
    const core = await planned();
    core.node({ name: 'c', cpu: 1 });
    // As if no connection could be made.
    await core.reject('red-1', 'no route');
    core.harness.clock.advance(10_000);
    expect(await core.attempt()).toBeUndefined();
    expect(Object.keys(withheld(core))).toEqual(['red-0']);
    await core.reject('red-0', 'withdrawn');
    core.harness.clock.advance(10_000);
    expect(await core.attempt()).toBe('planned');
    expect(withheld(core)).toEqual({});
  });

  it('is given up as a whole if minMember has grown, so that no member is bound with a later plan', async () => {
    const core = await planned();
    core.node({ name: 'c', cpu: 1 });
    core.group({ name: 'red', uid: 'first', minMember: 3 });
    const [first] = core.binds;
    expect(() => first!.binding.mayBeSent!()).toThrow('has only 2 of the 3 members');
    expect(core.harness.cluster.assumedCount).toBe(0);
    core.pod({ name: 'red-2', group: 'red', cpu: 1 });
    core.harness.clock.advance(10_000);
    expect(await core.attempt()).toBe('planned');
    expect(core.harness.cluster.assumedCount).toBe(3);
    expect(Object.keys(withheld(core))).toEqual(['red-0', 'red-1']);
  });
});

it('a pod that joins a group after it was planned does not count for the group until it is bound', async () => {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a', cpu: 4 });
  core.group({ name: 'red', uid: 'first', minMember: 2 });
  core.pod({ name: 'x', cpu: 1 });
  expect(await core.attempt()).toBe('planned');
  core.change('x', { podGroupKey: 'default/red' });
  core.pod({ name: 'red-0', group: 'red', cpu: 1 });
  expect(await core.attempt()).toBeUndefined();
  expect(withheld(core)).toEqual({ x: 'pod default/x has left its PodGroup' });
  await core.reject('x', 'withdrawn');
  core.harness.clock.advance(10_000);
  expect(await core.attempt()).toBe('planned');
  expect(core.binds.map(({ binding }) => binding.name).sort()).toEqual(['red-0', 'x']);
  expect(withheld(core)).toEqual({});
});

it('a failed member is planned again while its sibling is still binding', async () => {
  const core = await planned();
  core.node({ name: 'c', cpu: 1 });
  expect(withheld(core)).toEqual({});
  await core.reject('red-1', 'the node rejected the pod');
  expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-0']);
  expect(await core.attempt()).toBe('planned');
  expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-0', 'red-1']);
});

it('a gang with members beyond minMember backs off between attempts while bindings fail', async () => {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a', cpu: 32 });
  core.group({ name: 'red', minMember: 2 });
  core.members(3, { group: 'red', cpu: 1 });
  let calls = 0;
  for (let tenth = 0; tenth < 100; tenth++) {
    for (let i = 0; i < 100 && (await core.attempt()) !== undefined; i++);
    for (const { binding } of [...core.binds]) {
      calls++;
      if (binding.name === 'red-0') {
        await core.accept('red-0');
        core.change('red-0', { nodeName: 'a' });
      } else {
        await core.reject(binding.name, 'quota');
      }
    }
    core.harness.clock.advance(100);
  }
  expect(calls).toBeLessThan(30);
});

it('a started gang backs off between attempts too, even if its members fail in turns', async () => {
  const core = new Scheduling({ plugins: defaultPlugins });
  core.node({ name: 'a', cpu: 32 });
  core.group({ name: 'red', minMember: 1 });
  core.pod({ name: 'red-0', group: 'red', cpu: 1 });
  await core.attempt();
  await core.accept('red-0');
  core.change('red-0', { nodeName: 'a' });
  core.removePod('red-0');
  core.pod({ name: 'red-1', group: 'red', cpu: 1 });
  core.pod({ name: 'red-2', group: 'red', cpu: 1 });
  let calls = 0;
  for (let tenth = 0; tenth < 100; tenth++) {
    for (let i = 0; i < 100 && (await core.attempt()) !== undefined; i++);
    // One of the two is binding whenever the other one is rejected.
    const [binding] = core.binds;
    if (binding !== undefined) {
      calls++;
      await core.reject(binding.binding.name, 'quota');
    }
    core.harness.clock.advance(100);
  }
  expect(calls).toBeGreaterThan(3);
  expect(calls).toBeLessThan(10);
});

describe('a group whose starting plan waits for a PreBind that does not return', () => {
  const slow: Plugin = {
    name: 'Slow',
    preBind: (_state, { name }) =>
      name.startsWith('red') ? new Promise<undefined>(() => undefined) : Promise.resolve(undefined),
  };

  async function waiting(): Promise<Scheduling> {
    const core = new Scheduling({ plugins: defaultPlugins, extra: [slow] });
    for (const name of ['a', 'b', 'c', 'd']) core.node({ name, cpu: 1 });
    core.group({ name: 'red', uid: 'first', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    return core;
  }

  it.each<[string, (core: Scheduling, pod: string) => unknown]>([
    ['are deleted', (core, pod) => core.removePod(pod)],
    ['are being deleted', (core, pod) => core.change(pod, { deleting: true })],
    ['lose its label', (core, pod) => core.change(pod, { podGroupKey: undefined })],
    ['belong to the group that had its name before', () => undefined],
  ])('starts with other members once all planned members %s, in either order', async (how, go) => {
    for (const isFirst of [true, false]) {
      const core = await waiting();
      const leave = (): void => {
        for (const pod of ['red-0', 'red-1']) go(core, pod);
        if (!how.includes('name')) return;
        core.removeGroup('default/red');
        core.group({ name: 'red', uid: 'second', minMember: 2 });
      };
      if (isFirst) leave();
      for (const name of ['new-0', 'new-1']) core.pod({ name, group: 'red', cpu: 1 });
      if (!isFirst) leave();
      expect(await core.attempt()).toBe('planned');
      expect(core.binds.map(({ binding }) => binding.name)).toEqual(['new-0', 'new-1']);
      expect(withheld(core)).toEqual({});
    }
  });

  it('keeps waiting while one planned member is left', async () => {
    const core = await waiting();
    core.removePod('red-0');
    for (const name of ['new-0', 'new-1']) core.pod({ name, group: 'red', cpu: 1 });
    expect([await core.attempt(), core.states()]).toEqual([undefined, {}]);
  });
});
