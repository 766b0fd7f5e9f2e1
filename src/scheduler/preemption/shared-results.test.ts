import { describe, expect, it } from 'vitest';
import type { Plugin, PostFilterResult } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import { evictingLower } from '../testing/evicting-lower.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `g${i}`);

/** Runs attempts until the active queue is empty. Returns the result of each. */
async function drain(scheduling: Scheduling): Promise<string[]> {
  const kinds: string[] = [];
  for (let kind = await scheduling.attempt(); kind !== undefined; kind = await scheduling.attempt()) {
    kinds.push(kind);
    if (kinds.length > 1_000) throw new Error('does not end');
  }
  return kinds;
}

/** Lets every backoff end and runs all attempts. Returns the result of each. */
async function later(scheduling: Scheduling): Promise<string[]> {
  scheduling.harness.clock.advance(20_000);
  return drain(scheduling);
}

/** Equal gangs of two that wait for a node of another pod, which one member would fit alone. */
async function parkedGangs(plugin: Omit<Plugin, 'name'>, count: number): Promise<Scheduling> {
  const c = new Scheduling({ plugins: withoutPreemption, extra: [{ name: 'PostFilter', ...plugin }] });
  c.node({ name: 'a', cpu: 8 });
  c.pod({ name: 'filler', cpu: 8, nodeName: 'a' });
  for (const name of names(count)) {
    c.group({ name, minMember: 2 });
    c.members(2, { group: name, cpu: 5 });
  }
  await drain(c);
  c.harness.clock.advance(20_000);
  return c;
}

const sign = (): string => '';
const nothing = (): undefined => undefined;

describe('with a PostFilter plugin, after a pod is deleted', () => {
  it.each<[string, Omit<Plugin, 'name'>, number]>([
    ['no equal gang is tried if the plugin rules them out', { postFilter: nothing, sign, rulesOut: () => true }, 0],
    ['one of them is tried if the plugin does not rule them out', { postFilter: nothing, sign }, 1],
    ['one of them is tried if the plugin returns a message', { postFilter: () => ({ message: 'No.' }), sign }, 1],
    ['all of them are tried if the plugin does not sign', { postFilter: nothing }, 300],
    ['all of them are tried if the plugin fails', { postFilter: () => 7 as unknown as PostFilterResult, sign }, 300],
  ])('%s', async (_what, plugin, attempts) => {
    const c = await parkedGangs(plugin, 300);
    c.removePod('filler');
    expect(await drain(c)).toEqual(Array.from({ length: attempts }, () => 'rejected'));
  });
});

it('tries a gang that never preempts before a gang of lower priority, after the pods in their way ended one by one', async () => {
  const c = new Scheduling({ plugins: defaultPlugins });
  for (const name of ['a', 'b']) {
    c.node({ name, cpu: 2 });
    c.pod({ name: `on-${name}`, cpu: 2, nodeName: name });
  }
  for (const [name, priority] of [
    ['low', 1],
    ['high', 2],
  ] as const) {
    c.group({ name, minMember: 2 });
    c.members(2, { group: name, cpu: 2, priority, spec: { preemptionPolicy: 'Never' } });
  }
  await drain(c);
  c.harness.clock.advance(20_000);
  c.removePod('on-a');
  await drain(c);
  c.removePod('on-b');
  expect(await drain(c)).toEqual(['planned', 'rejected']);
  expect(c.binds.map(({ binding }) => binding.name)).toEqual(['high-0', 'high-1']);
});

describe('a message of PostFilter without nominations', () => {
  it('is in the verdict of every entity of the class, and replaces the one before', async () => {
    let message = 'No pod has a lower priority.';
    const c = await parkedGangs({ postFilter: () => ({ message }), sign }, 30);
    const messages = (): Set<string | undefined> =>
      new Set(names(30).map((name) => c.harness.core.verdictOf(`${name}-1`)?.message.replaceAll(name, 'g')));
    const cannotStart =
      'PodGroup default/g cannot start: g-0 finds no node: 0/1 nodes are available: 1 Insufficient cpu.';
    expect([...messages()]).toEqual([expect.stringMatching(/ No pod has a lower priority\.$/)]);
    expect([...messages()][0]).toContain(cannotStart);
    message = 'All pods of lower priority are protected.';
    c.removePod('filler');
    await drain(c);
    c.harness.clock.advance(5_000);
    await c.settle();
    expect([...messages()]).toEqual([expect.stringMatching(/ All pods of lower priority are protected\.$/)]);
  });

  it.each([true, false])('lets registered events wake the class if eventsMayHelp is set: %s', async (eventsMayHelp) => {
    const hinted: string[] = [];
    const c = await parkedGangs(
      {
        sign,
        postFilter: () => ({ message: 'No pod has a lower priority.', eventsMayHelp }),
        eventsToRegister: () => [
          {
            resource: 'AssignedPod',
            actions: ['Add'],
            hint: ({ name }) => {
              hinted.push(name);
              return true;
            },
          },
        ],
      },
      30,
    );
    c.node({ name: 'b', cpu: 1 });
    await later(c);
    c.pod({ name: 'new', cpu: 1, nodeName: 'b' });
    expect(await later(c)).toEqual(eventsMayHelp ? ['rejected'] : []);
    expect(hinted).toHaveLength(eventsMayHelp ? 1 : 0);
  });
});

describe('equal gangs that preempt', () => {
  /** Nodes n0 to n2 are full with a pod each, of the gangs' priority. */
  async function fullNodes(gangs: number): Promise<Scheduling> {
    const c = new Scheduling({ plugins: [...withoutPreemption, evictingLower] });
    for (let i = 0; i < 3; i++) {
      c.node({ name: `n${i}`, cpu: 2 });
      c.pod({ name: `v${i}`, cpu: 2, nodeName: `n${i}`, priority: 10 });
    }
    for (const name of names(gangs)) {
      c.group({ name, minMember: 1 });
      c.members(1, { group: name, cpu: 2, priority: 10 });
    }
    await drain(c);
    return c;
  }
  const lower = (c: Scheduling, i: number): void => void c.change(`v${i}`, { priority: 0 });
  const stateOf = (c: Scheduling, name: string): string | undefined => c.states()[`gang/default/${name}`];
  const owners = (c: Scheduling): string[] => c.harness.preempted.map((text) => text.replace(/.*\//, ''));

  it('do so one after the other, each with its own victims, until one of them cannot', async () => {
    const c = await fullNodes(5);
    expect(owners(c)).toEqual([]);
    for (let i = 0; i < 3; i++) lower(c, i);
    expect(await later(c)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
    expect(owners(c)).toEqual(['g0', 'g1', 'g2']);
    expect(new Set(c.harness.preempted.map((text) => text.slice(0, 2)))).toEqual(new Set(['v0', 'v1', 'v2']));
    for (let i = 0; i < 3; i++) c.removePod(`v${i}`);
    await later(c);
    expect(c.binds.map(({ binding }) => binding.name).sort()).toEqual(['g0-0', 'g1-0', 'g2-0']);
    expect([stateOf(c, 'g3'), stateOf(c, 'g4')]).toEqual(['unschedulable', 'unschedulable']);
  });

  it('wait together until a pod of lower priority is bound', async () => {
    const c = await fullNodes(3);
    lower(c, 0);
    expect(await later(c)).toEqual(['rejected', 'rejected']);
    expect(owners(c)).toEqual(['g0']);
    expect([stateOf(c, 'g1'), stateOf(c, 'g2')]).toEqual(['unschedulable', 'unschedulable']);
    c.removePod('v1');
    c.pod({ name: 'w1', cpu: 2, nodeName: 'n1', priority: 0 });
    await later(c);
    expect(owners(c)).toEqual(['g0', 'g1']);
  });

  it('are not tried while the pods of lower priority and the free capacity are too small', async () => {
    const c = await fullNodes(2);
    c.node({ name: 'small', cpu: 1 });
    c.pod({ name: 'low', cpu: 1, nodeName: 'small', priority: 0 });
    expect(await later(c)).toEqual([]);
    c.node({ name: 'other', cpu: 2 });
    c.pod({ name: 'low2', cpu: 1, nodeName: 'other', priority: 0 });
    await drain(c);
    expect(owners(c)).toEqual(['g0']);
  });
});
