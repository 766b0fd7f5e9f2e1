import { expect, it } from 'vitest';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

/** Holds whoever is labelled, on Permit. */
const porter: Plugin = {
  name: 'Porter',
  permit: (_state, pod) => (pod.labels.held === 'permit' ? { waitMs: 600_000 } : undefined),
};

/** Never done with whoever is labelled, before it is bound. */
const slow: Plugin = {
  name: 'Slow',
  preBind: (_state, pod, _node, signal) =>
    new Promise((resolve) => {
      if (pod.labels.held !== 'preBind') resolve(undefined);
      signal.addEventListener('abort', () => resolve(new Status('Error', 'was cut')), { once: true });
    }),
};

for (const held of ['permit', 'preBind']) {
  /** A gang of two has all the room, and one of them is held; a lone pod finds none. */
  const waiting = async (): Promise<Scheduling> => {
    const core = new Scheduling({ plugins: defaultPlugins, extra: [porter, slow] });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, labels: { held } });
    core.pod({ name: 'red-1', group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    core.pod({ name: 'lone', cpu: 2 });
    expect(await core.attempt()).toBe('rejected');
    core.harness.clock.advance(5_000);
    return core;
  };

  it(`${held} - a plan is not waited for when its group is gone`, async () => {
    const core = await waiting();
    core.removeGroup('default/red');
    await core.settle();
    expect([core.harness.cluster.assumedCount, core.states()['pod/lone']]).toEqual([0, 'active']);
  });

  it(`${held} - a plan is not waited for when too few of it are left, and the group starts with who comes instead`, async () => {
    const core = await waiting();
    core.removePod('lone');
    core.removePod('red-1');
    await core.settle();
    expect(core.harness.cluster.assumedCount).toBe(0);
    core.change('red-0', { labels: {} });
    core.pod({ name: 'red-2', group: 'red', cpu: 1 });
    core.harness.clock.advance(20_000);
    expect(await core.attempt()).toBe('planned');
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['red-0', 'red-2']);
  });

  it(`${held} - a plan is not waited for when its group has come to need more`, async () => {
    const core = await waiting();
    core.group({ name: 'red', minMember: 3 });
    await core.settle();
    expect([core.harness.cluster.assumedCount, core.states()['pod/lone']]).toEqual([0, 'active']);
  });

  it(`${held} - a plan is waited for while some of it may start`, async () => {
    const core = await waiting();
    core.group({ name: 'red', minMember: 1 });
    core.removePod('red-1');
    await core.settle();
    expect(core.harness.cluster.isAssumed('red-0')).toBe(true);
  });
}
