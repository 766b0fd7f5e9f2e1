import { describe, expect, it } from 'vitest';
import type { Pod } from '../../api/pod.ts';
import type { Plugin, PluginFactory, PostFilterResult } from '../../framework/plugin.ts';
import type { PluginHandle } from '../../framework/plugin-handle.ts';
import type { PreemptionPolicy } from '../../framework/preemption-policy.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';

const defaultPreemption = defaultPlugins.find(({ name }) => name === 'DefaultPreemption')!;

type Answer = (handle: PluginHandle) => PostFilterResult | undefined;

/** A plugin of a third party. */
function plugin(name: string, answer: Answer): { readonly name: string; readonly factory: PluginFactory } {
  const factory: PluginFactory = (_args, handle): Plugin => ({
    name,
    sign: () => '',
    postFilter: () => answer(handle),
  });
  return { name, factory };
}

/** Pod `x` does not fit beside `old`, whose priority is lower. */
async function attempt(
  plugins: readonly { readonly name: string; readonly factory: PluginFactory }[],
  priority = 0,
): Promise<{ readonly core: Scheduling; readonly verdict: string }> {
  const core = new Scheduling({ plugins: [...withoutPreemption, ...plugins] });
  core.node({ name: 'a', cpu: 1 });
  core.pod({ name: 'old', cpu: 1, nodeName: 'a', priority });
  core.pod({ name: 'x', cpu: 1, priority: 10 });
  expect(await core.attempt()).toBe('rejected');
  return { core, verdict: core.harness.core.verdictOf('x')!.message };
}

const proposes: Answer = ({ cluster }) => {
  const pod = (name: string): Pod => [...cluster.pods()].find((each) => each.name === name)!;
  return { message: 'Evicts old.', nominations: [{ pod: pod('x'), nodeName: 'a' }], victims: [pod('old')] };
};
const policy: PreemptionPolicy = {
  protects: () => undefined,
  skipped: () => undefined,
  hasBudgets: false,
  allowances: () => [],
  maxPlans: 10,
  describe: ({ kind }) => `own policy: ${kind}.`,
};
const noVictims = 'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';

describe('PostFilter of a plugin beside DefaultPreemption', () => {
  it('is called, and helps, if the policy of the one before finds no victims', async () => {
    const calls: string[] = [];
    const spy = plugin('Spy', () => void calls.push('Spy'));
    const protecting = plugin('Protecting', () => ({
      message: '',
      policy: { ...policy, protects: () => ({ why: 'of mine' }) },
    }));
    const { core, verdict } = await attempt([protecting, spy, plugin('Own', proposes)]);
    expect([calls, core.harness.preempted.map((text) => text.split(' ')[0])]).toEqual([['Spy'], ['old']]);
    expect(verdict).toContain('Evicts old.');
    expect(verdict).not.toContain('own policy');
  });

  it('is not called if DefaultPreemption finds victims', async () => {
    const never = plugin('Own', () => {
      throw new Error('called');
    });
    const { core, verdict } = await attempt([defaultPreemption, never]);
    expect(core.harness.preempted).toHaveLength(1);
    expect(verdict).toContain('preemption: evicting 1 pod');
  });

  it('goes first, and ends the point, if it is enabled first and helps', async () => {
    const { verdict } = await attempt([plugin('Own', proposes), defaultPreemption]);
    expect(verdict).toContain('Evicts old.');
    expect(verdict).not.toContain('preemption:');
  });

  it.each([
    ['first', true],
    ['last', false],
  ])('adds its message to that of DefaultPreemption if neither helps (%s)', async (_order, isFirst) => {
    const own = plugin('Own', () => ({ message: 'No quota is left.' }));
    const { verdict } = await attempt(isFirst ? [own, defaultPreemption] : [defaultPreemption, own], 10);
    const both = isFirst ? `No quota is left. ${noVictims}` : `${noVictims} No quota is left.`;
    expect(verdict).toContain(both);
  });

  it('lets its own events wake the pod although another plugin returned a message first', async () => {
    const first = plugin('First', () => ({ message: 'No.' }));
    const second = plugin('Second', () => ({ message: 'Not yet.', eventsMayHelp: true }));
    const waking = { ...second, factory: wokenByPodGroups(second.factory) };
    const { core } = await attempt([first, waking]);
    core.harness.clock.advance(10_000);
    expect(core.states()['pod/x']).toBe('unschedulable');
    core.group({ name: 'any', minMember: 1 });
    expect(core.states()['pod/x']).not.toBe('unschedulable');
  });

  it('ends the point if it fails: no further plugin is called, and the verdict names it', async () => {
    const failing = plugin('Failing', () => {
      throw new Error('a bug');
    });
    const first = plugin('First', () => ({ message: 'No.' }));
    const { core, verdict } = await attempt([first, failing, defaultPreemption]);
    expect(verdict).toContain('Failing failed in PostFilter: a bug.');
    expect(verdict).not.toContain('preemption:');
    expect(core.harness.preempted).toEqual([]);
  });
});

describe('a policy of a plugin that throws', () => {
  const bug = (): never => {
    throw new Error('a bug');
  };

  it.each<[string, Partial<PreemptionPolicy>]>([
    ['protects', { protects: bug }],
    ['allowances', { hasBudgets: true, allowances: bug }],
    ['describe', { describe: bug }],
    ['skipped', { skipped: bug }],
  ])('fails its entity by name, evicts no pod, and is asked again (%s)', async (method, change) => {
    const own = plugin('Own', () => ({ message: '', policy: { ...policy, ...change } }));
    const core = new Scheduling({ plugins: [...withoutPreemption, own] });
    core.node({ name: 'a', cpu: 1 });
    // A pod that is still being bound is skipped.
    core.pod({ name: 'old', cpu: 1, ...(method === 'skipped' ? {} : { nodeName: 'a' }) });
    if (method === 'skipped') expect(await core.attempt()).toBe('planned');
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    expect(await core.attempt()).toBe('rejected');
    const verdict = core.harness.core.verdictOf('x')!.message;
    expect(verdict).toContain(`Own failed in PostFilter: a bug.`);
    expect(verdict).toContain('Insufficient cpu');
    expect(core.harness.preempted).toEqual([]);
    core.harness.clock.advance(10_000);
    core.node({ name: 'free', cpu: 4 });
    expect(await core.attempt()).toBe('planned');
  });
});

/** The plugin's events: any PodGroup. */
function wokenByPodGroups(factory: PluginFactory): PluginFactory {
  return (args, handle) => ({
    ...factory(args, handle),
    eventsToRegister: () => [{ resource: 'PodGroup', actions: ['Add'] }],
  });
}
