import { describe, expect, it } from 'vitest';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

type Held = 'permit' | 'preBind' | 'stubborn';

const skip = new Status('Skip', '');

/** A scheduler in which pods wait for a plugin: in Permit, in PreBind, or in a PreBind that ignores its signal. */
class Recalling extends Scheduling {
  /** Ends PreBind of each pod. */
  readonly ends: (() => void)[];

  constructor() {
    const ends: (() => void)[] = [];
    const gate: Plugin = {
      name: 'Gate',
      permit: (_state, { labels }) => (labels.held === 'permit' ? { waitMs: 600_000 } : undefined),
      preBindPreFlight: (_state, { labels }) =>
        labels.held === 'preBind' || labels.held === 'stubborn' ? undefined : skip,
      preBind: (_state, { labels }, _nodeName, signal) =>
        new Promise((resolve, reject) => {
          ends.push(() => resolve(undefined));
          if (labels.held === 'preBind') signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    };
    super({ plugins: defaultPlugins, extra: [gate] });
    this.ends = ends;
    this.node({ name: 'a', cpu: 4 });
  }

  /** Plans a gang of priority 0 that fills node a. */
  async low(held: Held | 'no', minMember = 4): Promise<void> {
    this.group({ name: 'low', minMember });
    this.members(4, { group: 'low', cpu: 1, priority: 0, labels: { held } });
    while ((await this.attempt()) === 'planned');
  }

  /** Adds a pod of high priority, and makes an attempt. */
  async high(options: PodOptions = {}): Promise<string | undefined> {
    this.pod({ name: 'high', cpu: 2, priority: 1000, ...options });
    return this.attempt();
  }

  get bound(): readonly string[] {
    return this.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`);
  }

  verdictOn(uid: string): string | undefined {
    return this.harness.core.verdictOf(uid)?.message;
  }
}

describe('a plan of lower priority that waits for plugins', () => {
  it.each<Held>(['permit', 'preBind'])('PE28 - is recalled whole, without a delete, in %s', async (held) => {
    const core = new Recalling();
    await core.low(held);
    expect(core.harness.cluster.assumedCount).toBe(4);
    expect(await core.high()).toBe('rejected');
    expect(core.harness.cluster.assumedCount).toBe(0);
    expect(core.states()).toEqual({ 'gang/default/low': 'backoff', 'pod/high': 'active' });
    expect(core.verdictOn('low-0')).toBe(
      'PodGroup default/low: makes way for pod default/high (priority 1000) before it was bound.',
    );
    // No time has passed.
    expect([await core.attempt(), core.bound]).toEqual(['planned', ['high a']]);
    expect([core.harness.preempted, core.harness.evicted]).toEqual([[], []]);
  });

  it('the recalled gang does not take the capacity back, and starts when there is enough', async () => {
    const core = new Recalling();
    await core.low('permit');
    await core.high();
    core.harness.clock.advance(20_000);
    expect(await core.attempt()).toBe('planned');
    expect(core.bound).toEqual(['high a']);
    expect(await core.attempt()).toBe('rejected');
    core.node({ name: 'b', cpu: 4 });
    core.harness.clock.advance(20_000);
    expect(await core.attempt()).toBe('planned');
    expect(core.harness.cluster.gang('default/low')!.count('planned')).toBe(4);
  });

  it('the verdict and the Event say what is recalled', async () => {
    const core = new Recalling();
    await core.low('stubborn');
    await core.high();
    expect(core.verdictOn('high')).toContain(
      'preemption: recalling 4 pods before they are bound (members of default/low) to place 1 member.',
    );
    expect(core.harness.events).toContain('PreemptionStarted high');
  });

  it('is awaited until a plugin that ignores its signal returns', async () => {
    const core = new Recalling();
    await core.low('stubborn');
    await core.high();
    expect([core.harness.cluster.assumedCount, core.states()['pod/high']]).toEqual([4, 'unschedulable']);
    for (const end of core.ends) end();
    await core.settle();
    expect([await core.attempt(), core.bound]).toEqual(['planned', ['high a']]);
  });

  it('of a member beyond the quorum is recalled alone, and the bound members stay', async () => {
    const core = new Recalling();
    core.group({ name: 'low', minMember: 3 });
    for (const name of ['low-0', 'low-1', 'low-2'])
      core.pod({ name, group: 'low', cpu: 1, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'low-3', group: 'low', cpu: 1, labels: { held: 'permit' } });
    expect(await core.attempt()).toBe('planned');
    expect(await core.high({ cpu: 1 })).toBe('rejected');
    expect(core.verdictOn('high')).toContain('preemption: recalling 1 pod before it is bound');
    expect([await core.attempt(), core.bound]).toEqual(['planned', ['high a']]);
    expect(core.harness.preempted).toEqual([]);
  });

  it('of a member beyond the quorum is recalled alone, also if the group is evicted only as a whole', async () => {
    const core = new Recalling();
    core.nativeGroup({ name: 'low', minCount: 3, disruptionMode: 'all' });
    for (const name of ['low-0', 'low-1', 'low-2'])
      core.pod({ name, schedulingGroup: 'low', cpu: 1, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'low-3', schedulingGroup: 'low', cpu: 1, labels: { held: 'permit' } });
    expect(await core.attempt()).toBe('planned');
    expect(await core.high({ cpu: 1 })).toBe('rejected');
    expect(core.verdictOn('high')).toContain('preemption: recalling 1 pod before it is bound');
    expect([await core.attempt(), core.bound]).toEqual(['planned', ['high a']]);
    expect(core.harness.preempted).toEqual([]);
  });

  it('PE29 - is no victim while its Bindings are in flight', async () => {
    const core = new Recalling();
    await core.low('no');
    expect(core.bound).toHaveLength(4);
    expect(await core.high()).toBe('rejected');
    await core.settle();
    expect([core.harness.cluster.assumedCount, core.harness.preempted]).toEqual([4, []]);
    expect(core.verdictOn('high')).not.toContain('recalling');
  });

  it('goes before pods that run, whatever their number', async () => {
    const core = new Recalling();
    core.node({ name: 'b', cpu: 2 });
    core.pod({ name: 'old', cpu: 2, priority: 0, nodeName: 'b' });
    await core.low('permit');
    await core.high();
    expect(core.harness.preempted).toEqual([]);
    expect([await core.attempt(), core.bound]).toEqual(['planned', ['high a']]);
  });

  it('stays if terminating or free capacity is enough', async () => {
    const core = new Recalling();
    core.node({ name: 'b', cpu: 2 });
    core.pod({ name: 'old', cpu: 2, priority: 5000, nodeName: 'b', deleting: true });
    await core.low('permit');
    await core.high();
    expect(core.harness.cluster.assumedCount).toBe(4);
  });

  it('stays if one of its members has no lower priority', async () => {
    const core = new Recalling();
    core.group({ name: 'low', minMember: 2 });
    for (const [i, priority] of [0, 1000].entries())
      core.pod({ name: `low-${i}`, group: 'low', cpu: 2, priority, labels: { held: 'permit' } });
    await core.attempt();
    await core.high();
    expect([core.harness.cluster.assumedCount, core.harness.preempted]).toEqual([2, []]);
  });

  it('stays if its group would keep fewer bound members than its quorum', async () => {
    const core = new Recalling();
    core.group({ name: 'low', minMember: 2 });
    core.pod({ name: 'low-0', group: 'low', cpu: 1, priority: 5000, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'low-1', group: 'low', cpu: 3, priority: 0, labels: { held: 'permit' } });
    await core.attempt();
    expect(core.harness.cluster.assumedCount).toBe(1);
    await core.high();
    expect(core.harness.cluster.assumedCount).toBe(1);
  });

  it('members beyond the quorum are recalled alone', async () => {
    const core = new Recalling();
    await core.low('permit', 2);
    // The quorum waits as one plan, the others wait alone.
    await core.high({ cpu: 1 });
    expect(core.harness.cluster.assumedCount).toBe(3);
    expect(core.harness.cluster.gang('default/low')!.missing).toBe(0);
  });

  it('is recalled together with the eviction of pods that run', async () => {
    const core = new Recalling();
    core.node({ name: 'b', cpu: 4 });
    core.pod({ name: 'old', cpu: 4, priority: 0, nodeName: 'b' });
    await core.low('permit');
    core.group({ name: 'high', minMember: 2 });
    core.members(2, { group: 'high', cpu: 4, priority: 1000 });
    expect(await core.attempt()).toBe('rejected');
    expect(core.harness.cluster.assumedCount).toBe(0);
    expect(core.harness.evicted).toEqual(['old']);
    expect(core.states()['gang/default/high']).toBe('unschedulable');
    core.removePod('old');
    expect(await core.attempt()).toBe('planned');
  });
});
