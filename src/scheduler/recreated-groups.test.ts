import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../api/pod.ts';
import type { Plugin } from '../framework/plugin.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import type { Queueing } from '../testkit/queueing.ts';
import { Scheduling } from '../testkit/scheduling.ts';

const red = 'default/red';

function scheduling(extra: readonly Plugin[] = [], phase?: 'listing'): Scheduling {
  const core = new Scheduling({ plugins: defaultPlugins, extra }, phase);
  core.node({ name: 'a', cpu: 4 });
  return core;
}

/** Adds bound members of the first group. */
function runningSinceFirstRun(core: Queueing, count: number): void {
  for (let i = 0; i < count; i++) {
    const annotations = { [planAnnotations.groupUid]: 'first' };
    core.pod({ name: `old-${i}`, group: 'red', cpu: 1, nodeName: 'a', annotations });
  }
}

async function attemptAll(core: Scheduling): Promise<string[]> {
  while ((await core.attempt()) !== undefined);
  return core.binds.map(({ binding }) => binding.name);
}

describe('a PodGroup that was deleted and recreated', () => {
  it('is neither started nor completed by members of the former group, whose capacity stays in use', async () => {
    const core = scheduling();
    core.group({ name: 'red', uid: 'second', minMember: 3 });
    runningSinceFirstRun(core, 3);
    core.members(3, { group: 'red', cpu: 1 });
    expect(await attemptAll(core)).toEqual([]);
    const gang = core.harness.cluster.gang(red)!;
    expect([gang.started, gang.counted, gang.missing, gang.count('former')]).toEqual([false, 0, 3, 3]);
    for (const name of ['old-0', 'old-1']) core.removePod(name);
    core.harness.clock.advance(10_000);
    expect(await attemptAll(core)).toEqual(['red-0', 'red-1', 'red-2']);
  });

  it('is distinguished from the former group after a restart, whether pods or groups are listed first', async () => {
    for (const order of ['pods first', 'groups first']) {
      const core = scheduling([], 'listing');
      if (order === 'groups first') core.group({ name: 'red', uid: 'second', minMember: 3 });
      runningSinceFirstRun(core, 3);
      core.members(3, { group: 'red', cpu: 1 });
      if (order === 'pods first') core.group({ name: 'red', uid: 'second', minMember: 3 });
      core.start();
      expect(await attemptAll(core), order).toEqual([]);
      expect(core.harness.cluster.gang(red)!.started, order).toBe(false);
    }
  });

  it('counts members that another scheduler bound without naming a group uid', async () => {
    const core = scheduling();
    core.group({ name: 'red', uid: 'second', minMember: 3 });
    core.pod({ name: 'foreign', group: 'red', cpu: 1, nodeName: 'a', schedulerName: 'other' });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await attemptAll(core)).toEqual(['red-0', 'red-1']);
  });

  it('has its members queued together again', () => {
    const core = scheduling();
    core.group({ name: 'red', uid: 'first', minMember: 2 });
    runningSinceFirstRun(core, 2);
    core.members(2, { group: 'red', cpu: 9 });
    expect(Object.keys(core.states())).toEqual(['pod/red-0', 'pod/red-1']);
    core.removeGroup(red);
    core.group({ name: 'red', uid: 'second', minMember: 2 });
    expect(Object.keys(core.states())).toEqual(['gang/default/red']);
  });

  it('does not count members that are being bound, or were bound, for the former group', async () => {
    const core = scheduling();
    core.group({ name: 'red', uid: 'first', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await attemptAll(core)).toEqual(['red-0', 'red-1']);
    core.removeGroup(red);
    core.group({ name: 'red', uid: 'second', minMember: 2 });
    const gang = core.harness.cluster.gang(red)!;
    expect([gang.counted, gang.count('former')]).toEqual([0, 2]);
    for (const { binding } of [...core.binds]) {
      expect(binding.annotations[planAnnotations.groupUid]).toBe('first');
      await core.accept(binding.name);
      core.change(binding.name, { nodeName: binding.nodeName, plannedGroupUid: 'first' });
    }
    expect([gang.started, gang.counted, gang.count('former')]).toEqual([false, 0, 2]);
    core.pod({ name: 'new-0', group: 'red', cpu: 1 });
    expect(await attemptAll(core)).toEqual([]);
    core.pod({ name: 'new-1', group: 'red', cpu: 1 });
    expect(await attemptAll(core)).toEqual(['new-0', 'new-1']);
  });

  it('gets back as pending the members whose bindings for the former group failed', async () => {
    const core = scheduling();
    core.group({ name: 'red', uid: 'first', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await attemptAll(core);
    core.group({ name: 'red', uid: 'second', minMember: 2 });
    await core.reject('red-0', 'no');
    await core.reject('red-1', 'no');
    expect(core.harness.cluster.gang(red)!.pending.size).toBe(2);
    core.harness.clock.advance(10_000);
    expect(await attemptAll(core)).toEqual(['red-0', 'red-1']);
    expect(core.binds[0]!.binding.annotations[planAnnotations.groupUid]).toBe('second');
  });
});

describe('a plan with a slow PreBind', () => {
  async function planned(core: Scheduling): Promise<void> {
    core.group({ name: 'red', uid: 'first', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
  }

  function slow(): { readonly plugin: Plugin; readonly finishPreBind: () => void } {
    const waiting: ((nothing: undefined) => void)[] = [];
    const preBind = (): Promise<undefined> => new Promise((resolve) => waiting.push(resolve));
    return {
      plugin: { name: 'Slow', preBind },
      finishPreBind: () => waiting.splice(0).forEach((resolve) => resolve(undefined)),
    };
  }

  it('binds no member if the group has been recreated, which then starts with its own quorum', async () => {
    const { plugin, finishPreBind } = slow();
    const core = scheduling([plugin]);
    await planned(core);
    core.removeGroup(red);
    core.group({ name: 'red', uid: 'second', minMember: 3 });
    finishPreBind();
    await core.settle();
    expect(core.binds).toEqual([]);
    core.pod({ name: 'red-2', group: 'red', cpu: 1 });
    core.harness.clock.advance(10_000);
    await core.attempt();
    finishPreBind();
    await core.settle();
    expect(core.binds.map(({ binding }) => binding.annotations[planAnnotations.quorum])).toEqual(['3', '3', '3']);
  });

  it('binds no member if the group is deleted', async () => {
    const { plugin, finishPreBind } = slow();
    const core = scheduling([plugin]);
    await planned(core);
    core.removeGroup(red);
    finishPreBind();
    await core.settle();
    expect(core.binds).toEqual([]);
    expect(core.harness.cluster.assumedCount).toBe(0);
    expect(core.harness.verdicts[0]).toMatch(/PodGroup default\/red was deleted/);
  });

  it('binds no member if the group has lost a member that it needs to start', async () => {
    const { plugin, finishPreBind } = slow();
    const core = scheduling([plugin]);
    core.group({ name: 'red', uid: 'first', minMember: 3 });
    core.pod({ name: 'foreign', group: 'red', cpu: 1, nodeName: 'a', schedulerName: 'other' });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    core.removePod('foreign');
    finishPreBind();
    await core.settle();
    expect(core.binds).toEqual([]);
    expect(core.harness.cluster.assumedCount).toBe(0);
  });

  it('is the only plan while it may be given up, so no member of another plan counts on it', async () => {
    const { plugin, finishPreBind } = slow();
    const core = scheduling([plugin]);
    await planned(core);
    core.removePod('red-0');
    core.pod({ name: 'red-2', group: 'red', cpu: 1 });
    expect(await core.attempt()).toBeUndefined();
    finishPreBind();
    await core.settle();
    expect(core.binds).toEqual([]);
    core.harness.clock.advance(10_000);
    expect(await core.attempt()).toBe('planned');
    finishPreBind();
    await core.settle();
    expect(core.binds.map(({ binding }) => binding.name).sort()).toEqual(['red-1', 'red-2']);
    expect(new Set(core.binds.map(({ binding }) => binding.annotations[planAnnotations.plan])).size).toBe(1);
  });

  it('lets new members start the group if none of its own is left', async () => {
    const { plugin, finishPreBind } = slow();
    const core = scheduling([plugin]);
    await planned(core);
    for (const name of ['red-0', 'red-1']) core.removePod(name);
    for (const name of ['red-2', 'red-3']) core.pod({ name, group: 'red', cpu: 1 });
    finishPreBind();
    await core.settle();
    core.harness.clock.advance(10_000);
    expect(await core.attempt()).toBe('planned');
  });

  it('binds its members if the group has started, even if other members are gone', async () => {
    const { plugin, finishPreBind } = slow();
    const core = scheduling([plugin]);
    core.group({ name: 'red', uid: 'first', minMember: 3 });
    runningSinceFirstRun(core, 3);
    core.removePod('old-0');
    core.members(1, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    core.removePod('old-1');
    finishPreBind();
    await core.settle();
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-0']);
  });

  it('binds no replacement if meanwhile the last member has to leave, so that the group starts over', async () => {
    const { plugin, finishPreBind } = slow();
    const core = scheduling([plugin]);
    core.group({ name: 'red', uid: 'first', minMember: 3 });
    runningSinceFirstRun(core, 3);
    for (const name of ['old-0', 'old-1']) core.removePod(name);
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    core.change('old-2', { deleting: true });
    finishPreBind();
    await core.settle();
    expect(core.binds).toEqual([]);
    const { started, startsAnew, incomplete } = core.harness.cluster.gang(red)!;
    expect({ started, startsAnew, incomplete }).toEqual({ started: false, startsAnew: true, incomplete: false });
  });
});

describe('a started group whose members are all deleted and recreated by their owner', () => {
  async function restarted(): Promise<Scheduling> {
    const core = scheduling();
    const conditions = [
      {
        type: 'Started',
        status: 'True',
        reason: 'QuorumReached',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ] as const;
    core.group({ name: 'red', uid: 'first', minMember: 4, status: { conditions } });
    runningSinceFirstRun(core, 4);
    for (let i = 0; i < 4; i++) core.change(`old-${i}`, { deleting: true });
    core.members(4, { group: 'red', cpu: 1 });
    return core;
  }

  it('binds none of them until its quorum fits', async () => {
    const core = await restarted();
    expect(await attemptAll(core)).toEqual([]);
    for (const name of ['old-0', 'old-1', 'old-2']) core.removePod(name);
    core.harness.clock.advance(10_000);
    expect(await attemptAll(core)).toEqual([]);
    core.removePod('old-3');
    core.harness.clock.advance(10_000);
    expect(await attemptAll(core)).toEqual(['red-0', 'red-1', 'red-2', 'red-3']);
  });

  it('is a group that never started while a Binding of its new members has failed, whatever the late condition says', async () => {
    const core = await restarted();
    for (let i = 0; i < 4; i++) core.removePod(`old-${i}`);
    await attemptAll(core);
    for (const name of ['red-0', 'red-1']) {
      await core.accept(name);
      core.change(name, { nodeName: 'a' });
    }
    await core.reject('red-2', 'refused');
    await core.reject('red-3', 'refused');
    const { started, incomplete, missing } = core.harness.cluster.gang(red)!;
    expect({ started, incomplete, missing }).toEqual({ started: false, incomplete: true, missing: 2 });
    expect(core.states()).toMatchObject({ 'gang/default/red': expect.any(String) as string });
  });
});

it('a member beyond the quorum is bound with the uid of its group, so that the next run does not count it', async () => {
  const core = scheduling();
  core.group({ name: 'red', uid: 'first', minMember: 1 });
  core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'a' });
  core.pod({ name: 'red-1', group: 'red', cpu: 1 });
  await attemptAll(core);
  expect(core.binds.map(({ binding }) => binding.annotations)).toEqual([{ [planAnnotations.groupUid]: 'first' }]);
});
