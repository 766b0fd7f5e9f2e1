import { describe, expect, it, vi } from 'vitest';
import { runs } from '../../base/testing/runs.ts';
import { seededRandom } from '../../base/random.ts';
import type { Verdict } from '../../api/verdict.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { CoreHarnessOptions } from '../../testkit/core-harness.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { Scheduling } from '../../testkit/scheduling.ts';

const cordoned: NodeOptions = { unschedulable: true, taints: ['node.kubernetes.io/unschedulable:NoSchedule'] };

/** Returns a core with these nodes, which have 2 CPU each unless they say otherwise. */
function world(nodes: Readonly<Record<string, NodeOptions>>, options: Partial<CoreHarnessOptions> = {}): Queueing {
  const core = new Queueing({ plugins: withoutPreemption, ...options });
  for (const [name, node] of Object.entries(nodes)) core.node({ name, cpu: 2, ...node });
  return core;
}

/** Makes an attempt, which must be rejected. */
function rejected(core: Queueing): Verdict {
  const result = core.harness.core.attempt();
  if (result?.kind !== 'rejected') throw new Error(`the attempt ended ${result?.kind}`);
  return result.verdict;
}

describe('a gang that does not fit on the available nodes', () => {
  it('waits for nodes if it would fit on cordoned nodes', () => {
    const core = world({ a: cordoned, b: cordoned });
    core.group({ name: 'red', minMember: 4 });
    core.members(4, { group: 'red', cpu: 1 });
    expect(rejected(core)).toEqual({
      reason: 'Unschedulable',
      message:
        'PodGroup default/red cannot start: red-0 finds no node: 0/2 nodes are available: 2 node(s) were unschedulable. ' +
        '2 of 2 nodes are unavailable (cordoned). The group would fit if all nodes were available.',
      waitsFor: 'nodes',
      cause:
        'node(s) were unschedulable. # of # nodes are unavailable (cordoned). The group would fit if all nodes were available.',
    });
  });

  it('waits for nodes while a cordoned node has no taint yet', () => {
    const core = world({ a: { unschedulable: true } });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(rejected(core)).toMatchObject({ waitsFor: 'nodes' });
  });

  it.each([
    ['not-ready', 'not ready'],
    ['unreachable', 'unreachable'],
    ['memory-pressure', 'memory pressure'],
    ['disk-pressure', 'disk pressure'],
    ['pid-pressure', 'PID pressure'],
    ['network-unavailable', 'network unavailable'],
  ])('waits for nodes if it would fit on a node with the taint %s', (taint, reason) => {
    const core = world({ a: {}, b: { taints: [`node.kubernetes.io/${taint}:NoSchedule`] } });
    core.group({ name: 'red', minMember: 4 });
    core.members(4, { group: 'red', cpu: 1 });
    const { waitsFor, message } = rejected(core);
    expect(waitsFor).toBe('nodes');
    expect(message).toMatch(/cannot start: 2 of 4 members would fit; red-\d would not: 0\/2 nodes are available/);
    const end = ` 1 of 2 nodes is unavailable (${reason}). The group would fit if all nodes were available.`;
    expect(message.endsWith(end)).toBe(true);
  });

  it.each([
    [8, 'nodes', 'The group would fit if all nodes were available.'],
    [11, 'never', 'It would not fit even if all nodes were available and all other pods were gone.'],
  ])('for %i members on 3 of 5 unavailable nodes waits for %s', (count, waitsFor, end) => {
    const away = { taints: ['node.kubernetes.io/not-ready:NoSchedule', 'node.kubernetes.io/not-ready:NoExecute'] };
    const core = world({ a: {}, b: away, c: cordoned, d: {}, e: { ...cordoned, taints: away.taints } });
    core.group({ name: 'red', minMember: count });
    core.members(count, { group: 'red', cpu: 1 });
    const verdict = rejected(core);
    expect(verdict.waitsFor).toBe(waitsFor);
    expect(verdict.message.endsWith(` ${end}`)).toBe(true);
    const unavailable = '3 of 5 nodes are unavailable (cordoned, not ready).';
    expect(verdict.message.includes(unavailable)).toBe(waitsFor === 'nodes');
  });

  it('has a verdict that says if other pods would have to go as well', () => {
    const core = world({ a: cordoned, b: cordoned });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.group({ name: 'red', minMember: 4 });
    core.members(4, { group: 'red', cpu: 1 });
    expect(rejected(core)).toMatchObject({
      waitsFor: 'nodes',
      message: expect.stringMatching(
        / The group would fit if all nodes were available and all other pods were gone\.$/,
      ) as string,
    });
  });

  it('waits for capacity if it would fit on the available nodes without other pods', () => {
    const core = world({ a: {}, b: cordoned });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    const { waitsFor, message } = rejected(core);
    expect([waitsFor, message.includes('unavailable')]).toEqual(['capacity', false]);
  });

  it('never fits if each member requests more than any node has', () => {
    const core = world({ a: cordoned, b: {} });
    core.group({ name: 'red', minMember: 2 });
    core.members(3, { group: 'red', cpu: 3 });
    expect(rejected(core)).toMatchObject({ waitsFor: 'never' });
  });

  it('never fits if too few of its different members fit on any node', () => {
    const core = world({ a: cordoned, b: cordoned });
    core.group({ name: 'red', minMember: 3 });
    core.members(3, { group: 'red', cpu: 3 });
    core.pod({ name: 'red-small', group: 'red', cpu: 1 });
    expect(rejected(core)).toMatchObject({ waitsFor: 'never' });
  });

  it.each<[string, NodeOptions]>([
    ['a taint of the administrator', { taints: ['team=b:NoSchedule'] }],
    ['a taint that rejects no pod', { cpu: 1, taints: ['node.kubernetes.io/not-ready:PreferNoSchedule'] }],
  ])('never fits if nodes have %s', (_what, node) => {
    const core = world({ a: node });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    const { waitsFor, message } = rejected(core);
    expect(waitsFor).toBe('never');
    expect(message.endsWith('. It would not fit even if all other pods were gone.')).toBe(true);
  });

  it('never fits if its members tolerate the taints and other reasons remain', () => {
    const core = world({ a: cordoned });
    core.group({ name: 'red', minMember: 3 });
    core.members(3, { group: 'red', cpu: 1, tolerations: [{ operator: 'Exists' }] });
    const { waitsFor, message } = rejected(core);
    expect([waitsFor, message.includes('all nodes were available')]).toEqual(['never', false]);
  });

  it('waits for unknown, and says that nodes are unavailable, if nothing is proved', () => {
    const core = world({ a: cordoned, b: cordoned });
    core.group({ name: 'red', minMember: 4 });
    core.members(2, { group: 'red', cpu: 2 });
    for (const name of ['small-0', 'small-1']) core.pod({ name, group: 'red', cpu: 1 });
    const { waitsFor, message } = rejected(core);
    expect(waitsFor).toBe('unknown');
    expect(message.endsWith('. 2 of 2 nodes are unavailable (cordoned).')).toBe(true);
  });

  it.each([
    [1, 'nodes'],
    [2, 'never'],
  ])('waits for what its unbound members lack: with %i of 3 CPU bound beforehand, for %s', (cpu, waitsFor) => {
    const core = world({ a: { cpu: 3, ...cordoned } });
    core.group({ name: 'red', minMember: 3 });
    core.pod({ name: 'bound', group: 'red', cpu, nodeName: 'a' });
    core.members(2, { group: 'red', cpu: 1 });
    expect(rejected(core)).toMatchObject({ waitsFor });
  });

  it.each([
    [4, 'nodes'],
    [5, 'never'],
  ])('with minResources of %i CPU, of 4 in the cluster, waits for %s', (cpu, waitsFor) => {
    const core = world({ a: cordoned, b: cordoned });
    core.group({ name: 'red', minMember: 4, minResources: { cpu } });
    core.members(4, { group: 'red', cpu: 1 });
    expect(rejected(core)).toMatchObject({ waitsFor });
  });

  it('keeps the cause while only the number of unavailable nodes changes', () => {
    const core = world({ a: cordoned, b: cordoned, c: cordoned });
    core.group({ name: 'red', minMember: 5 });
    core.members(5, { group: 'red', cpu: 1 });
    const before = rejected(core);
    core.node({ name: 'd', cpu: 1, ...cordoned });
    core.harness.clock.advance(400_000);
    const after = rejected(core);
    expect(after.message).not.toBe(before.message);
    expect(after.cause).toBe(before.cause);
  });

  it('waits for unknown if a member is bound to an unreachable node, because it counts once the node is back', () => {
    const core = world({ a: { cpu: 1, taints: ['node.kubernetes.io/unreachable:NoSchedule'] } });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'bound', group: 'red', cpu: 1, nodeName: 'a' });
    core.members(2, { group: 'red', cpu: 1 });
    const { waitsFor, message } = rejected(core);
    expect(waitsFor).toBe('unknown');
    expect(message.endsWith('. 1 of 1 nodes is unavailable (unreachable).')).toBe(true);
  });

  it('waits for unknown if an unavailable node has not admitted a pod like its members', () => {
    const core = world({ a: {}, b: { cpu: 1, ...cordoned } });
    core.group({ name: 'red', minMember: 3 });
    for (const [name, nodeName] of [
      ['red-0', 'a'],
      ['red-1', 'a'],
      ['red-2', 'b'],
    ] as const) {
      core.pod({ name, group: 'red', cpu: 1, owner: 'job' });
      core.change(name, { nodeName });
    }
    core.change('red-2', { phase: 'Failed', failedBecause: 'OutOfcpu' });
    core.pod({ name: 'red-3', group: 'red', cpu: 1, owner: 'job' });
    expect(rejected(core)).toMatchObject({ waitsFor: 'unknown' });
  });

  it('shares the answer between attempts until the nodes change', () => {
    const core = world({ a: cordoned, b: cordoned });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', minMember: 4 });
    core.members(4, { group: 'red', cpu: 1 });
    const transactions = vi.spyOn(core.harness.cluster, 'begin');
    rejected(core);
    // The attempt, the dry run without other pods, and the one with them.
    expect(transactions).toHaveBeenCalledTimes(3);
    transactions.mockClear();
    core.removePod('old');
    core.harness.clock.advance(400_000);
    expect(rejected(core)).toMatchObject({ waitsFor: 'nodes' });
    expect(transactions).toHaveBeenCalledTimes(2);
  });

  it('leaves the cluster cache as it was', () => {
    const core = world({ a: cordoned, b: cordoned });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.group({ name: 'red', minMember: 4 });
    const members = core.members(4, { group: 'red', cpu: 1 });
    const before = core.harness.capacities();
    rejected(core);
    expect(core.harness.capacities()).toEqual(before);
    const gang = core.harness.cluster.gang('default/red')!;
    for (const member of members) expect(gang.members.get(member.uid)).toBe(member);
  });

  it('waits for unknown if a plugin fails in the dry run', () => {
    const odd: Plugin = {
      name: 'Odd',
      sign: () => '',
      filter: (_state, { template }) => (template.tolerations.length > 0 ? new Status('Error', 'a bug') : undefined),
    };
    const core = world({ a: cordoned }, { extra: [odd] });
    core.group({ name: 'red', minMember: 1 });
    core.members(1, { group: 'red', cpu: 1 });
    expect(rejected(core)).toMatchObject({ waitsFor: 'unknown', reason: 'Unschedulable' });
  });
});

describe('a single pod that does not fit on the available nodes', () => {
  it.each([
    ['a cordoned node', 2, 'nodes', '0/1 nodes are available: 1 node(s) were unschedulable.'],
    ['no node', 3, 'never', '0/1 nodes are available: 1 node(s) were unschedulable.'],
  ])('and would fit on %s, gets the right word and the message of kube-scheduler', (_where, cpu, waitsFor, message) => {
    const core = world({ a: cordoned });
    core.pod({ name: 'single', cpu });
    expect(rejected(core)).toMatchObject({ waitsFor, message });
  });

  it.each([
    [2, 'nodes'],
    [3, 'never'],
  ])('and requests %i CPU, more than available nodes have, waits for %s', (cpu, waitsFor) => {
    const core = world({ a: { cpu: 1 }, b: cordoned, c: { cpu: 1 } });
    core.pod({ name: 'single', cpu });
    expect(rejected(core)).toMatchObject({ waitsFor });
  });

  it('waits for nodes if other pods would have to go as well', () => {
    const core = world({ a: cordoned });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'single', cpu: 2 });
    expect(rejected(core)).toMatchObject({ waitsFor: 'nodes' });
  });
});

it.each<[string, NodeOptions]>([
  ['uncordoned', cordoned],
  ['ready again', { taints: ['node.kubernetes.io/not-ready:NoSchedule', 'node.kubernetes.io/not-ready:NoExecute'] }],
])('a gang starts once the nodes that it waits for are %s', async (_what, away) => {
  const core = new Scheduling({ plugins: withoutPreemption });
  for (const name of ['a', 'b']) core.node({ name, cpu: 2, ...away });
  core.group({ name: 'red', minMember: 4 });
  core.members(4, { group: 'red', cpu: 1 });
  expect(await core.attempt()).toBe('rejected');
  core.node({ name: 'a', cpu: 2 });
  core.harness.clock.advance(60_000);
  expect(await core.attempt()).toBe('rejected');
  core.node({ name: 'b', cpu: 2 });
  core.harness.clock.advance(60_000);
  expect(await core.attempt()).toBe('planned');
  expect(core.binds).toHaveLength(4);
});

it('claims that a gang would fit, or that it never fits, only if that is so once all nodes are available', () => {
  const wrongSeeds: string[] = [];
  const counts = { now: 0, empty: 0, never: 0 };
  for (let seed = 1; seed <= runs(600); seed++) {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const core = new Queueing({ plugins: withoutPreemption, seed });
    const names = ['a', 'b', 'c', 'd'].slice(0, 2 + Math.floor(random() * 3));
    const nodes = names.map((name) => ({ name, cpu: pick([2, 3, 4]), labels: { [name]: 'yes' } }));
    const away = (): NodeOptions =>
      random() < 0.6 ? pick([cordoned, { taints: ['node.kubernetes.io/unreachable:NoSchedule'] }]) : {};
    for (const node of nodes) core.node({ ...node, ...away() });
    const others = Array.from({ length: Math.floor(random() * 4) }, (_, i) => `o${i}`);
    for (const name of others) core.pod({ name, cpu: pick([1, 2]), nodeName: pick(names) });
    const bound = random() < 0.3 ? 1 : 0;
    const pending = 1 + Math.floor(random() * 8);
    core.group({ name: 'red', minMember: bound + Math.max(1, pending - Math.floor(random() * 2)) });
    if (bound > 0) core.pod({ name: 'bound', group: 'red', cpu: 1, nodeName: pick(names) });
    for (let i = 0; i < pending; i++) {
      core.pod({
        name: `m${i}`,
        group: 'red',
        cpu: pick([1, 1, 2, 3]),
        ...(random() < 0.2 && { nodeSelector: { [pick(names)]: 'yes' } }),
        ...(random() < 0.1 && { tolerations: [{ operator: 'Exists' }] }),
      });
    }
    const result = core.harness.core.attempt();
    if (result?.kind !== 'rejected') continue;
    const { waitsFor, message } = result.verdict;
    if (waitsFor !== 'nodes' && waitsFor !== 'never') continue;
    for (const node of nodes) core.node(node);
    const isWithOthers = message.endsWith('would fit if all nodes were available.');
    if (!isWithOthers) for (const name of others) core.removePod(name);
    counts[waitsFor === 'never' ? 'never' : isWithOthers ? 'now' : 'empty']++;
    const gang = core.harness.cluster.gang('default/red')!;
    if (core.harness.core.dryRun({ kind: 'gang', gang }).fits !== (waitsFor === 'nodes')) wrongSeeds.push(`${seed}`);
  }
  expect(wrongSeeds).toEqual([]);
  expect(counts.now).toBeGreaterThan(runs(60));
  expect(counts.empty).toBeGreaterThan(runs(20));
  expect(counts.never).toBeGreaterThan(runs(20));
});
