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

/** Members of the first run that are still on node a. */
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

describe('a PodGroup that was deleted and made anew under its name', () => {
  it('is neither started nor completed by members that the former one had bound, and their room stays taken', async () => {
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

  it('is known for another after a restart, whether pods or groups are listed first', async () => {
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

  it('counts members that another scheduler has bound, of which nobody says for what', async () => {
    const core = scheduling();
    core.group({ name: 'red', uid: 'second', minMember: 3 });
    core.pod({ name: 'foreign', group: 'red', cpu: 1, nodeName: 'a', schedulerName: 'other' });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await attemptAll(core)).toEqual(['red-0', 'red-1']);
  });

  it('has its members queued together again, which were queued singly while the former one stood', () => {
    const core = scheduling();
    core.group({ name: 'red', uid: 'first', minMember: 2 });
    runningSinceFirstRun(core, 2);
    core.members(2, { group: 'red', cpu: 9 });
    expect(Object.keys(core.states())).toEqual(['pod/red-0', 'pod/red-1']);
    core.removeGroup(red);
    core.group({ name: 'red', uid: 'second', minMember: 2 });
    expect(Object.keys(core.states())).toEqual(['gang/default/red']);
  });

  it('does not count members whose Bindings for the former one are under way, nor once they are seen', async () => {
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

  it('gets back as members that wait those whose Bindings for the former one fail', async () => {
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

describe('a plan whose PreBind takes its time', () => {
  async function planned(core: Scheduling): Promise<void> {
    core.group({ name: 'red', uid: 'first', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
  }

  function slow(): { readonly plugin: Plugin; readonly goOn: () => void } {
    const waiting: ((nothing: undefined) => void)[] = [];
    const preBind = (): Promise<undefined> => new Promise((resolve) => waiting.push(resolve));
    return {
      plugin: { name: 'Slow', preBind },
      goOn: () => waiting.splice(0).forEach((resolve) => resolve(undefined)),
    };
  }

  it('binds nobody when the group has been made anew meanwhile, which then starts by its own quorum', async () => {
    const { plugin, goOn } = slow();
    const core = scheduling([plugin]);
    await planned(core);
    core.removeGroup(red);
    core.group({ name: 'red', uid: 'second', minMember: 3 });
    goOn();
    await core.settle();
    expect(core.binds).toEqual([]);
    core.pod({ name: 'red-2', group: 'red', cpu: 1 });
    core.harness.clock.advance(10_000);
    await core.attempt();
    goOn();
    await core.settle();
    expect(core.binds.map(({ binding }) => binding.annotations[planAnnotations.quorum])).toEqual(['3', '3', '3']);
  });

  it('binds nobody when the group is gone', async () => {
    const { plugin, goOn } = slow();
    const core = scheduling([plugin]);
    await planned(core);
    core.removeGroup(red);
    goOn();
    await core.settle();
    expect(core.binds).toEqual([]);
    expect(core.harness.cluster.assumedCount).toBe(0);
    expect(core.harness.verdicts[0]).toMatch(/PodGroup default\/red was deleted/);
  });

  it('binds nobody when the group has lost a member meanwhile without which it cannot start', async () => {
    const { plugin, goOn } = slow();
    const core = scheduling([plugin]);
    core.group({ name: 'red', uid: 'first', minMember: 3 });
    core.pod({ name: 'foreign', group: 'red', cpu: 1, nodeName: 'a', schedulerName: 'other' });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    core.removePod('foreign');
    goOn();
    await core.settle();
    expect(core.binds).toEqual([]);
    expect(core.harness.cluster.assumedCount).toBe(0);
  });

  it('is the only one while it may be given up: nobody is bound who counts on a member of another', async () => {
    const { plugin, goOn } = slow();
    const core = scheduling([plugin]);
    await planned(core);
    core.removePod('red-0');
    core.pod({ name: 'red-2', group: 'red', cpu: 1 });
    expect(await core.attempt()).toBeUndefined();
    goOn();
    await core.settle();
    expect(core.binds).toEqual([]);
    core.harness.clock.advance(10_000);
    expect(await core.attempt()).toBe('planned');
    goOn();
    await core.settle();
    expect(core.binds.map(({ binding }) => binding.name).sort()).toEqual(['red-1', 'red-2']);
    expect(new Set(core.binds.map(({ binding }) => binding.annotations[planAnnotations.plan])).size).toBe(1);
  });

  it('leaves those to start who came meanwhile when none of it is left', async () => {
    const { plugin, goOn } = slow();
    const core = scheduling([plugin]);
    await planned(core);
    for (const name of ['red-0', 'red-1']) core.removePod(name);
    for (const name of ['red-2', 'red-3']) core.pod({ name, group: 'red', cpu: 1 });
    goOn();
    await core.settle();
    core.harness.clock.advance(10_000);
    expect(await core.attempt()).toBe('planned');
  });

  it('binds them all the same when the group has started: it is refilled with whoever is left', async () => {
    const { plugin, goOn } = slow();
    const core = scheduling([plugin]);
    core.group({ name: 'red', uid: 'first', minMember: 3 });
    runningSinceFirstRun(core, 3);
    for (const name of ['old-0', 'old-1']) core.removePod(name);
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    core.removePod('old-2');
    goOn();
    await core.settle();
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-0', 'red-1']);
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
