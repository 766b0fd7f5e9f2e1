import { expect, it } from 'vitest';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';

/** Makes labeled pods wait on Permit. */
const waitingPermit: Plugin = {
  name: 'WaitingPermit',
  permit: (_state, pod) => (pod.labels.held === 'permit' ? { waitMs: 600_000 } : undefined),
};

/** Never finishes PreBind for labeled pods. */
const slow: Plugin = {
  name: 'Slow',
  preBind: (_state, pod, _node, signal) =>
    new Promise((resolve) => {
      if (pod.labels.held !== 'preBind') resolve(undefined);
      signal.addEventListener('abort', () => resolve(new Status('Error', 'aborted')), { once: true });
    }),
};

for (const held of ['permit', 'preBind']) {
  /** A gang of two uses all capacity, and one member waits for a plugin. A pod without a group does not fit. */
  const waiting = async (): Promise<Scheduling> => {
    const core = new Scheduling({ plugins: withoutPreemption, extra: [waitingPermit, slow] });
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

  it(`${held} - a plan is given up if its group is deleted`, async () => {
    const core = await waiting();
    core.removeGroup('default/red');
    await core.settle();
    expect([core.harness.cluster.assumedCount, core.states()['pod/lone']]).toEqual([0, 'active']);
  });

  it(`${held} - a plan is given up if too few members remain, and the group starts with a replacement`, async () => {
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

  it(`${held} - a plan is given up if minMember grows beyond it`, async () => {
    const core = await waiting();
    core.group({ name: 'red', minMember: 3 });
    await core.settle();
    expect([core.harness.cluster.assumedCount, core.states()['pod/lone']]).toEqual([0, 'active']);
  });

  it(`${held} - a plan keeps waiting while some of its members may start`, async () => {
    const core = await waiting();
    core.group({ name: 'red', minMember: 1 });
    core.removePod('red-1');
    await core.settle();
    expect(core.harness.cluster.isAssumed('red-0')).toBe(true);
  });
}
