import { describe, expect, it } from 'vitest';
import { WithdrawnError } from '../../client/api-errors.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

/** A gang of two, planned on two nodes, with its Bindings about to be sent. */
async function planned(): Promise<Scheduling> {
  const core = new Scheduling({ plugins: defaultPlugins });
  for (const name of ['a', 'b']) core.node({ name, cpu: 1 });
  core.group({ name: 'red', uid: 'first', minMember: 2 });
  core.members(2, { group: 'red', cpu: 1 });
  expect(await core.attempt()).toBe('planned');
  return core;
}

/** The gang has started, and another member has come that has a node to go to. */
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

/** pod -> why its Binding would not be sent now */
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

describe('a Binding that is about to be sent', () => {
  it('is, while everything is as it was planned', async () => {
    expect(withheld(await planned())).toEqual({});
  });

  it.each<[string, (core: Scheduling) => void, string]>([
    ['another member is gone', (core) => core.removePod('red-1'), 'PodGroup default/red has only 1 of the 2 members'],
    ['another is being deleted', (core) => core.change('red-1', { deleting: true }), 'PodGroup default/red has only 1'],
    ['another has failed', (core) => core.change('red-1', { phase: 'Failed' }), 'PodGroup default/red has only 1 of'],
    ['the group asks for more', (core) => core.group({ name: 'red', uid: 'first', minMember: 3 }), 'only 2 of the 3'],
    ['the group is gone', (core) => core.removeGroup('default/red'), 'PodGroup default/red was deleted'],
    [
      'the group was made again',
      (core) => {
        core.removeGroup('default/red');
        core.group({ name: 'red', uid: 'second', minMember: 2 });
      },
      'PodGroup default/red was deleted and made again',
    ],
  ])('is not when meanwhile %s', async (_what, happens, reason) => {
    const core = await planned();
    happens(core);
    expect(withheld(core)['red-0']).toContain(reason);
  });

  it('is not when too few are left, and the verdict names the group once', async () => {
    const core = await planned();
    core.removePod('red-1');
    withheld(core);
    expect(core.harness.written.at(-1)?.verdict.message).toBe(
      'PodGroup default/red has only 1 of the 2 members it needs bound or planned.',
    );
  });

  describe.each([
    { which: 'its', of: 0 },
    { which: "another's", of: 1 },
  ])('is not when $which node', ({ of }) => {
    it.each<[string, (core: Scheduling, node: string) => void, string]>([
      ['is gone', (core, node) => core.removeNode(node), 'is gone'],
      ['has no room any more', (core, name) => core.node({ name, cpu: '500m' }), 'Insufficient cpu'],
      [
        'takes no pods any more',
        (core, name) => core.node({ name, cpu: 1, unschedulable: true }),
        'node(s) were unschedulable',
      ],
    ])('%s', async (_what, happens, reason) => {
      const core = await planned();
      happens(core, core.binds[of]!.binding.nodeName);
      const why = expect.stringContaining(reason) as string;
      expect(withheld(core)).toEqual({ 'red-0': why, 'red-1': why });
    });
  });

  it('is in a group that has started, whatever becomes of the others', async () => {
    const core = await joined();
    await core.attempt();
    core.removePod('red-0');
    expect(withheld(core)).toEqual({});
  });

  it('is not, of a member beyond the quorum, when the group is gone or made again meanwhile', async () => {
    const core = await joined();
    expect(await core.attempt()).toBe('planned');
    core.removeGroup('default/red');
    expect(withheld(core)).toEqual({ 'red-2': 'PodGroup default/red was deleted' });
    core.group({ name: 'red', uid: 'second', minMember: 2 });
    expect(withheld(core)).toEqual({ 'red-2': 'PodGroup default/red was deleted and made again' });
  });
});

it('who comes while no Binding of its group has been looked at yet is not planned beside those that wait, but with them', async () => {
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
  'who comes meanwhile is planned at once when the one that would be waited for has left the group, and stays so when that one %s',
  async (outcome) => {
    const core = new Scheduling({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', uid: 'first', minMember: 1 });
    core.members(1, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    core.change('red-0', { podGroupKey: undefined });
    core.pod({ name: 'red-1', group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    if (outcome === 'fails') await core.reject('red-0', 'the node said no');
    else await core.accept('red-0');
    expect(core.binds.some(({ binding }) => binding.name === 'red-1')).toBe(true);
  },
);

describe('a group that is to start with a plan of which one fails before any is sent', () => {
  it('waits with the one that comes instead for how the others are looked at', async () => {
    const core = await planned();
    core.node({ name: 'c', cpu: 1 });
    // As when no connection is made.
    await core.reject('red-1', 'no route');
    core.harness.clock.advance(10_000);
    expect(await core.attempt()).toBeUndefined();
    expect(Object.keys(withheld(core))).toEqual(['red-0']);
    await core.reject('red-0', 'withdrawn');
    core.harness.clock.advance(10_000);
    expect(await core.attempt()).toBe('planned');
    expect(withheld(core)).toEqual({});
  });

  it('gives up all of it when the quorum has been raised, so that none goes with a plan that comes later', async () => {
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

it('a pod that was planned in no group is not counted on by the one whose label it gets before it is bound', async () => {
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

it('a member that failed is planned again while its sibling is still being bound', async () => {
  const core = await planned();
  core.node({ name: 'c', cpu: 1 });
  expect(withheld(core)).toEqual({});
  await core.reject('red-1', 'the node said no');
  expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-0']);
  expect(await core.attempt()).toBe('planned');
  expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-0', 'red-1']);
});

it('an elastic gang of which members cannot be bound backs off between attempts', async () => {
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

it('a group that has started backs off between attempts too, though its members make the quorum in turns', async () => {
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
    // One of them is under way whenever the other is rejected.
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

describe('a group that is to start with a plan whose PreBind does not end', () => {
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
    ['are of the one that had its name', () => undefined],
  ])('starts with others when all of it %s, whichever come first', async (how, go) => {
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

  it('waits for it while one of it is left', async () => {
    const core = await waiting();
    core.removePod('red-0');
    for (const name of ['new-0', 'new-1']) core.pod({ name, group: 'red', cpu: 1 });
    expect([await core.attempt(), core.states()]).toEqual([undefined, {}]);
  });
});
