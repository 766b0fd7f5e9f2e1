import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/api/pod.ts';
import { runs } from '../../src/base/testing/runs.ts';
import { defaultPlugins } from '../../src/plugins/registry.ts';
import type { Plugin } from '../../src/framework/plugin.ts';
import { groupWaits } from '../../src/scheduler/metrics/gang-metrics.ts';
import { Scheduling } from '../../src/testkit/scheduling.ts';
import { samplesOf, valueOf } from './samples.ts';

const scheduling = (...extra: Plugin[]): Scheduling => new Scheduling({ plugins: defaultPlugins, extra });

async function value(core: Scheduling, name: string, labels?: Readonly<Record<string, string>>): Promise<number> {
  return valueOf(await samplesOf(core.harness.registry), name, labels)!;
}

const waiting = (core: Scheduling, waits_for: string): Promise<number> =>
  value(core, 'tutti_podgroups_waiting', { waits_for });
const oldest = (core: Scheduling, waits_for: string): Promise<number> =>
  value(core, 'tutti_oldest_waiting_seconds', { waits_for });
const partialSeconds = (core: Scheduling): Promise<number> => value(core, 'tutti_podgroup_partial_seconds_total');

/** A group of four with two bound members, and no Binding in flight. */
async function halfBound(core: Scheduling): Promise<void> {
  core.node({ name: 'a', cpu: 8 });
  core.group({ name: 'red', minMember: 4 });
  core.members(4, { group: 'red', cpu: 1 });
  await core.attempt();
  await core.accept('red-0');
  await core.accept('red-1');
  core.change('red-0', { nodeName: 'a' });
  core.change('red-1', { nodeName: 'a' });
  await core.reject('red-2', 'the node says no');
  await core.reject('red-3', 'the node says no');
}

async function complete(core: Scheduling): Promise<void> {
  while ((await core.attempt()) !== undefined);
  for (const { binding } of [...core.binds]) {
    await core.accept(binding.name);
    core.change(binding.name, { nodeName: binding.nodeName });
  }
}

describe('ME4 seconds of partially bound groups', () => {
  it('are 0 after thousands of undisturbed groups', async () => {
    const core = scheduling();
    const { clock } = core.harness;
    const groups = runs(10_000);
    for (let i = 0; i < 50; i++) core.node({ name: `n${i}`, cpu: 1000, pods: 1000 });
    for (let i = 0; i < groups; i++) {
      const group = `g${i}`;
      core.group({ name: group, minMember: 2 });
      core.members(2, { group, cpu: 1 });
      await core.attempt();
      for (const { binding } of [...core.binds]) {
        clock.advance(20);
        await core.accept(binding.name);
        core.change(binding.name, { nodeName: binding.nodeName });
      }
    }
    expect(core.harness.cluster.assumedCount).toBe(0);
    expect(await partialSeconds(core)).toBe(0);
    expect(await value(core, 'tutti_podgroups_partial')).toBe(0);
    expect(await value(core, 'tutti_podgroup_whole_seconds_count')).toBe(groups);
    expect(await value(core, 'tutti_podgroup_bind_spread_seconds_sum')).toBeCloseTo(groups * 0.02, 0);
  });

  it('run from the first member until the group is complete, and are kept', async () => {
    const core = scheduling();
    await halfBound(core);
    expect(await value(core, 'tutti_podgroups_partial')).toBe(0);
    core.harness.clock.advance(5_000);
    expect(await value(core, 'tutti_podgroups_partial')).toBe(1);
    expect(await partialSeconds(core)).toBe(5);
    await complete(core);
    expect(await value(core, 'tutti_podgroups_partial')).toBe(0);
    core.harness.clock.advance(60_000);
    expect(await partialSeconds(core)).toBe(5);
    expect(await value(core, 'tutti_repairs_total', { outcome: 'completed' })).toBe(1);
    expect(await value(core, 'tutti_repairs_total', { outcome: 'lost' })).toBe(0);
  });

  it('run while a Binding hangs', async () => {
    const core = scheduling();
    core.node({ name: 'a', cpu: 8 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    await core.accept('red-0');
    core.change('red-0', { nodeName: 'a' });
    core.harness.clock.advance(30_000);
    expect(await value(core, 'tutti_podgroups_partial')).toBe(1);
    expect(await partialSeconds(core)).toBe(30);
  });

  it('end with the group, and a failed repair counts as lost', async () => {
    const core = scheduling();
    await halfBound(core);
    core.harness.clock.advance(3_000);
    core.removeGroup('default/red');
    core.harness.clock.advance(3_000);
    expect(await value(core, 'tutti_podgroups_partial')).toBe(0);
    expect(await partialSeconds(core)).toBe(3);
    expect(await value(core, 'tutti_repairs_total', { outcome: 'lost' })).toBe(1);
  });

  it('continue for a group of a crashed scheduler, from the time its first member was bound', async () => {
    const seed = fc.record({
      bound: fc.integer({ min: 1, max: 3 }),
      outageMs: fc.integer({ min: 2_000, max: 90_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(seed, { minLength: 1, maxLength: 5 }), async (crashes) => {
        const next = new Scheduling({ plugins: defaultPlugins }, 'listing');
        const longest = Math.max(...crashes.map(({ outageMs }) => outageMs));
        next.harness.clock.advance(longest);
        const now = next.harness.clock.now();
        next.node({ name: 'a', cpu: 100 });
        for (const [i, { bound, outageMs }] of crashes.entries()) {
          next.group({ name: `g${i}`, minMember: 4 });
          for (const pod of next.members(4, { group: `g${i}`, cpu: 1 }).slice(0, bound)) {
            next.show({ ...pod, nodeName: 'a', podScheduled: { ...onNode, since: now - outageMs } });
          }
        }
        next.start();
        next.harness.clock.advance(2_000);
        await complete(next);
        const injected = crashes.reduce((sum, { outageMs }) => sum + (outageMs + 2_000) / 1000, 0);
        expect(await partialSeconds(next)).toBeGreaterThanOrEqual(injected - 1);
        expect(await partialSeconds(next)).toBeLessThanOrEqual(injected + 1);
        expect(await value(next, 'tutti_podgroups_partial')).toBe(0);
        await next.harness.core.stop();
      }),
      { numRuns: 25 },
    );
  });
});

const onNode: NonNullable<Pod['podScheduled']> = { status: 'True', reason: '', message: '' };

describe('ME5 the time until a group is complete', () => {
  it('counts from its quorum, not from its creation', async () => {
    const core = scheduling();
    core.node({ name: 'a', cpu: 8 });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'one', group: 'red', cpu: 1 });
    core.harness.clock.advance(100_000);
    core.pod({ name: 'two', group: 'red', cpu: 1 });
    core.harness.clock.advance(3_000);
    await complete(core);
    expect(await value(core, 'tutti_podgroup_whole_seconds_count')).toBe(1);
    expect(await value(core, 'tutti_podgroup_whole_seconds_sum')).toBeCloseTo(3, 1);
  });

  it('includes the time of a repair, and counts a group once', async () => {
    const core = scheduling();
    await halfBound(core);
    core.harness.clock.advance(7_000);
    await complete(core);
    core.pod({ name: 'more', group: 'red', cpu: 1 });
    await complete(core);
    core.removePod('red-0');
    core.removePod('more');
    core.pod({ name: 'instead', group: 'red', cpu: 1 });
    await complete(core);
    expect(await value(core, 'tutti_podgroup_whole_seconds_count')).toBe(1);
    expect(await value(core, 'tutti_podgroup_whole_seconds_sum')).toBeCloseTo(7, 1);
  });

  it('restarts for a group that is recreated under the same name', async () => {
    const core = scheduling();
    core.group({ name: 'red', uid: 'first', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    core.harness.clock.advance(500_000);
    core.removeGroup('default/red');
    core.harness.clock.advance(10_000);
    core.group({ name: 'red', uid: 'second', minMember: 2 });
    core.harness.clock.advance(2_000);
    expect(Math.max(...(await Promise.all(groupWaits.map((word) => oldest(core, word)))))).toBeLessThanOrEqual(2.01);
    core.node({ name: 'a', cpu: 8 });
    await complete(core);
    expect(await value(core, 'tutti_podgroup_whole_seconds_sum')).toBeCloseTo(2, 1);
  });

  it('also restarts when the watch only shows another uid of the group', async () => {
    const core = scheduling();
    core.group({ name: 'red', uid: 'first', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    await core.attempt();
    core.harness.clock.advance(500_000);
    core.group({ name: 'red', uid: 'second', minMember: 2 });
    core.harness.clock.advance(1_000);
    core.node({ name: 'a', cpu: 8 });
    await complete(core);
    expect(await value(core, 'tutti_podgroup_whole_seconds_sum')).toBeCloseTo(1, 1);
  });
});

describe('ME6 the reasons why groups wait', () => {
  it('have one label value each', async () => {
    const core = scheduling({
      name: 'Holds',
      permit: (_state, pod) => (pod.name === 'held-0' ? { waitMs: 60_000 } : undefined),
    });
    core.node({ name: 'a', cpu: 4 });
    core.node({ name: 'cordoned', cpu: 3, unschedulable: true });
    core.group({ name: 'few', minMember: 2 });
    core.members(1, { group: 'few', cpu: 1 });
    core.group({ name: 'gated', minMember: 2 });
    core.members(2, { group: 'gated', cpu: 1, gates: ['wait'] });
    core.group({ name: 'held', minMember: 2 });
    core.members(2, { group: 'held', cpu: 1 });
    await core.attempt();
    core.group({ name: 'large', minMember: 2 });
    core.members(2, { group: 'large', cpu: 2 });
    core.group({ name: 'larger', minMember: 2 });
    core.members(2, { group: 'larger', cpu: 3 });
    core.group({ name: 'huge', minMember: 2 });
    core.members(2, { group: 'huge', cpu: 5 });
    while ((await core.attempt()) !== undefined);
    core.group({ name: 'new', minMember: 1 });
    core.members(1, { group: 'new', cpu: 1 });
    const words = Object.fromEntries(
      await Promise.all(groupWaits.map(async (word) => [word, await waiting(core, word)] as const)),
    );
    expect(words).toEqual({
      ...{ members: 1, gates: 1, permit: 1, capacity: 1, nodes: 1, never: 1, turn: 1 },
      ...{ backoff: 0, error: 0, unknown: 0 },
    });
  });

  it('add up to the waiting groups after every step', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('attempt' as const) }),
      fc.record({ kind: fc.constant('answer' as const), accepted: fc.boolean() }),
      fc.record({
        kind: fc.constant('pod' as const),
        group: fc.nat(4),
        cpu: fc.integer({ min: 1, max: 3 }),
        gated: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('delete' as const), which: fc.nat(20) }),
      fc.record({ kind: fc.constant('group' as const), group: fc.nat(4), exists: fc.boolean() }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(500, 1_500, 15_000) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
        const core = scheduling();
        const names: string[] = [];
        const groups = new Set<string>();
        for (let i = 0; i < 2; i++) core.node({ name: `n${i}`, cpu: 4 });
        let pods = 0;
        for (const todo of steps) {
          switch (todo.kind) {
            case 'attempt':
              await core.attempt();
              break;
            case 'answer': {
              const next = core.binds[0]?.binding;
              if (next === undefined) break;
              if (todo.accepted && names.includes(next.name)) {
                await core.accept(next.name);
                core.change(next.name, { nodeName: next.nodeName });
              } else {
                await core.reject(next.name, 'no');
              }
              break;
            }
            case 'pod': {
              const name = `p${pods++}`;
              names.push(name);
              core.pod({ name, group: `g${todo.group}`, cpu: todo.cpu, ...(todo.gated && { gates: ['g'] }) });
              break;
            }
            case 'delete':
              if (names[todo.which] !== undefined) core.removePod(names.splice(todo.which, 1)[0]!);
              break;
            case 'group': {
              const name = `g${todo.group}`;
              if (todo.exists === groups.has(name)) break;
              if (todo.exists) groups.add(name);
              else groups.delete(name);
              if (todo.exists) core.group({ name, uid: `${name}-${pods}`, minMember: 2 + (todo.group % 3) });
              else core.removeGroup(`default/${name}`);
              break;
            }
            case 'wait':
              core.harness.clock.advance(todo.ms);
          }
          const samples = await samplesOf(core.harness.registry);
          const sum = groupWaits.reduce(
            (total, waits_for) => total + valueOf(samples, 'tutti_podgroups_waiting', { waits_for })!,
            0,
          );
          expect(sum, JSON.stringify(todo)).toBe(groupsThatWait(core));
          for (const waits_for of groupWaits) {
            const none = valueOf(samples, 'tutti_podgroups_waiting', { waits_for }) === 0;
            if (none) expect(valueOf(samples, 'tutti_oldest_waiting_seconds', { waits_for })).toBe(0);
          }
        }
        core.queue.stop();
      }),
      { numRuns: 40 },
    );
  });
});

/** Counts waiting groups from the cluster cache: some member is unbound, and the group lacks its quorum. */
function groupsThatWait(core: Scheduling): number {
  return [...core.harness.cluster.gangs()].filter((gang) => {
    const open = gang.count('pending') + gang.count('gated');
    return open > 0 && (gang.spec === undefined || gang.counted < gang.spec.minMember);
  }).length;
}

describe('ME7 the age of the oldest group', () => {
  it('falls at once when that group starts or is deleted', async () => {
    const core = scheduling();
    for (const [i, name] of ['first', 'second', 'third'].entries()) {
      core.group({ name, minMember: 1 });
      core.members(1, { group: name, cpu: 1 + i });
      core.harness.clock.advance(100_000);
    }
    while ((await core.attempt()) !== undefined);
    const ages = async (): Promise<number> =>
      Math.max(...(await Promise.all(groupWaits.map((word) => oldest(core, word)))));
    expect(await ages()).toBeCloseTo(300, 0);
    core.removePod('first-0');
    core.removeGroup('default/first');
    expect(await ages()).toBeCloseTo(200, 0);
    core.node({ name: 'a', cpu: 2 });
    await complete(core);
    expect(await ages()).toBeCloseTo(100, 0);
  });

  it('continues after a restart, from the times in the objects', async () => {
    const core = new Scheduling({ plugins: defaultPlugins }, 'listing');
    core.harness.clock.advance(1_000_000);
    const createdAt = core.harness.clock.now() - 400_000;
    core.group({ name: 'red', minMember: 1, createdAt });
    core.pod({ name: 'p', group: 'red', cpu: 1, createdAt: createdAt + 100_000 });
    core.start();
    expect(await oldest(core, 'turn')).toBeCloseTo(300, 0);
  });

  it('and all other gauges of groups are 0 on a standby and on a former leader', async () => {
    const leader = scheduling();
    const standby = new Scheduling({ plugins: defaultPlugins }, 'listing');
    await halfBound(leader);
    leader.harness.clock.advance(10_000);
    standby.group({ name: 'red', minMember: 4 });
    for (const pod of standby.members(4, { group: 'red', cpu: 1 }).slice(0, 2)) standby.show({ ...pod, nodeName: 'a' });
    standby.harness.clock.advance(10_000);
    expect(await value(leader, 'tutti_podgroups_partial')).toBe(1);
    await leader.harness.core.stop();
    const before = await partialSeconds(leader);
    for (const core of [leader, standby]) {
      core.harness.clock.advance(10_000);
      expect(await value(core, 'tutti_podgroups_partial')).toBe(0);
      for (const word of groupWaits) {
        expect(await waiting(core, word), word).toBe(0);
        expect(await oldest(core, word), word).toBe(0);
      }
      for (const queue of ['active', 'backoff', 'unschedulable', 'gated']) {
        expect(await value(core, 'scheduler_pending_pods', { queue }), queue).toBe(0);
      }
    }
    expect(await partialSeconds(leader)).toBe(before);
    expect(await partialSeconds(standby)).toBe(0);
  });
});
