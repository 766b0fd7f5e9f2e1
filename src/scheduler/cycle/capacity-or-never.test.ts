import { describe, expect, it, vi } from 'vitest';
import { NodeInfo } from '../../cluster/node-info.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { withoutPreemption, withPreemption } from '../testing/preemption-plugins.ts';
import { Queueing } from '../../testkit/queueing.ts';
import { Planner } from '../placement/planning/planner.ts';

const verdictOf = (core: Queueing, name: string): { message: string; waitsFor: string } | undefined =>
  core.harness.written.findLast((written) => written.name === name)?.verdict;

/**
 * Returns a core with a gang of three whose members each fit on two of three nodes, and a single pod on one of the nodes.
 */
function crossed(seed: number): Queueing {
  const core = new Queueing({ plugins: withoutPreemption, seed });
  for (const name of ['a', 'b', 'c']) core.node({ name, cpu: 1, labels: { [name]: 'yes' } });
  const on = (...names: string[]) => ({
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: names.map((key) => ({ matchExpressions: [{ key, operator: 'Exists' }] })),
    },
  });
  core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
  core.group({ name: 'red', minMember: 3 });
  core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeAffinity: on('a', 'b') });
  core.pod({ name: 'red-1', group: 'red', cpu: 1, nodeAffinity: on('b', 'c') });
  core.pod({ name: 'red-2', group: 'red', cpu: 1, nodeAffinity: on('c', 'a') });
  return core;
}

describe('what a gang waits for', () => {
  const verdictOf = (core: Queueing, name: string): string | undefined =>
    core.harness.written.findLast((written) => written.name === name)?.verdict.waitsFor;

  it('is capacity while only its own former members, which are terminating, block the nodes', () => {
    const core = new Queueing({ plugins: withoutPreemption });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    for (const name of ['old-0', 'old-1']) core.pod({ name, group: 'red', cpu: 1, nodeName: 'a', deleting: true });
    core.members(2, { group: 'red', cpu: 1 });
    core.harness.core.attempt();
    expect(verdictOf(core, 'red-0')).toBe('capacity');
  });

  it('does not carry over from a gang of the same shape that its own pods blocked', () => {
    const core = new Queueing({ plugins: withoutPreemption });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    core.group({ name: 'blue', minMember: 2 });
    for (const name of ['old-0', 'old-1']) core.pod({ name, group: 'red', cpu: 1, nodeName: 'a', deleting: true });
    core.members(2, { group: 'red', cpu: 1 });
    core.harness.core.attempt();
    core.members(2, { group: 'blue', cpu: 1 });
    core.harness.core.attempt();
    expect(verdictOf(core, 'blue-0')).toBe('capacity');
  });

  it('is not shared by gangs that a PreFilter plugin treats differently although it signs nothing', () => {
    const quota: Plugin = {
      name: 'Quota',
      preFilter: (_state, { namespace }) =>
        namespace === 'poor' ? new Status('UnschedulableAndUnresolvable', 'the quota is used up') : undefined,
    };
    const core = new Queueing({ plugins: withoutPreemption, extra: [quota] });
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', namespace: 'poor', minMember: 2 });
    core.members(2, { group: 'red', namespace: 'poor', cpu: 1 });
    core.harness.core.attempt();
    core.group({ name: 'blue', namespace: 'rich', minMember: 2 });
    core.members(2, { group: 'blue', namespace: 'rich', cpu: 1 });
    core.harness.core.attempt();
    expect(verdictOf(core, 'blue-0')).toBe('capacity');
  });

  it('is computed again when a plugin bases its result on something else by then', () => {
    let isOpen = false;
    const licence: Plugin = {
      name: 'Licence',
      preFilter: () => (isOpen ? undefined : new Status('UnschedulableAndUnresolvable', 'no licence is free')),
    };
    const core = new Queueing({ plugins: withoutPreemption, extra: [licence] });
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    core.harness.core.attempt();
    isOpen = true;
    core.group({ name: 'blue', minMember: 2 });
    core.members(2, { group: 'blue', cpu: 1 });
    core.harness.core.attempt();
    expect(verdictOf(core, 'blue-0')).toBe('capacity');
  });

  it('is never "never" for a gang that the same scheduler then places on the same nodes', () => {
    const wrongSeeds: number[] = [];
    for (let seed = 1; seed <= 40; seed++) {
      const core = crossed(seed);
      expect(core.harness.core.attempt()!.kind).toBe('rejected');
      const waitsFor = verdictOf(core, 'red-0');
      core.removePod('old');
      if (waitsFor === 'never' && core.harness.core.attempt()?.kind === 'planned') wrongSeeds.push(seed);
    }
    expect(wrongSeeds).toEqual([]);
  });

  it('is not never for a gang that must run near a pod of another owner', () => {
    const nearCache: Plugin = {
      name: 'NearCache',
      readsOtherNodes: true,
      sign: () => '',
      filter: (_state, _pod, node) =>
        [...node.pods.values()].some(({ labels }) => labels.app === 'cache')
          ? undefined
          : new Status('Unschedulable', 'no cache on this node'),
    };
    const core = new Queueing({ plugins: withoutPreemption, extra: [nearCache] });
    core.node({ name: 'a', cpu: 3 });
    core.pod({ name: 'cache', cpu: 1, nodeName: 'a', labels: { app: 'cache' } });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    core.harness.core.attempt();
    expect(verdictOf(core, 'red-0')).not.toBe('never');
  });

  it('stays the same sentence while nothing that concerns the gang changes', async () => {
    const flapping: number[] = [];
    for (let seed = 1; seed <= 10; seed++) {
      const core = crossed(seed);
      const neverFlags = new Set<boolean>();
      for (let i = 0; i < 8; i++) {
        core.node({ name: 'elsewhere', cpu: '1m', labels: { version: String(i) } });
        core.harness.clock.advance(400_000);
        const result = core.harness.core.attempt();
        if (result?.kind === 'rejected')
          neverFlags.add(result.verdict.message.includes('even if all other pods were gone'));
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      }
      if (neverFlags.size > 1) flapping.push(seed);
    }
    expect(flapping).toEqual([]);
  });

  it('is not never if a plugin failed in the dry run', () => {
    const fragile: Plugin = {
      name: 'Fragile',
      sign: () => '',
      filter: (_state, _pod, node) => {
        if (node.pods.size === 0) throw new Error('a bug');
        return undefined;
      },
    };
    const core = new Queueing({ plugins: withoutPreemption, extra: [fragile] });
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    core.harness.core.attempt();
    expect(verdictOf(core, 'red-0')).not.toBe('never');
  });

  it('stays within the work limit if a plugin reads other nodes', () => {
    let filtered = 0;
    const reader: Plugin = {
      name: 'Reader',
      readsOtherNodes: true,
      sign: () => '',
      filter: () => {
        filtered++;
        return undefined;
      },
    };
    const core = new Queueing({ plugins: withoutPreemption, extra: [reader] });
    for (let i = 0; i < 1_200; i++) {
      core.node({ name: `n${i}`, cpu: 1 });
      core.pod({ name: `old-${i}`, cpu: 1, nodeName: `n${i}` });
    }
    core.group({ name: 'red', minMember: 1_000 });
    core.members(1_000, { group: 'red', cpu: 1 });
    expect(core.harness.core.attempt()).toMatchObject({ verdict: { waitsFor: 'unknown' } });
    // Out of the 1,200,000 node checks of a complete dry run.
    expect(filtered).toBeLessThanOrEqual(1_000_000);
  });
});

describe('what a gang waits for if plugins treat its members differently', () => {
  it('is not never if PreFilter restricts each member to its own nodes and the order decides', () => {
    const volumes: Plugin = {
      name: 'Volumes',
      preFilter: (_state, { name }) => ({ nodeNames: new Set(name === 'red-1' ? ['a'] : ['a', 'b']) }),
    };
    const wrongSeeds: number[] = [];
    for (let seed = 1; seed <= 20; seed++) {
      const core = new Queueing({ plugins: withoutPreemption, extra: [volumes], seed });
      for (const name of ['a', 'b']) core.node({ name, cpu: 1 });
      core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
      core.group({ name: 'red', minMember: 2 });
      core.members(2, { group: 'red', cpu: 1 });
      core.harness.core.attempt();
      if (verdictOf(core, 'red-0')?.waitsFor === 'never') wrongSeeds.push(seed);
    }
    expect(wrongSeeds).toEqual([]);
  });

  it('stays the same sentence while nodes that do not concern the gang change often', () => {
    const core = new Queueing({ plugins: withoutPreemption });
    for (let i = 0; i < 1800; i++) {
      core.node({ name: `n${i}`, cpu: 1 });
      core.pod({ name: `old-${i}`, cpu: 1, nodeName: `n${i}` });
    }
    core.group({ name: 'red', minMember: 1900 });
    core.members(1900, { group: 'red', cpu: 1 });
    const neverFlags: boolean[] = [];
    for (let i = 0; i < 8; i++) {
      core.node({ name: 'elsewhere', cpu: '1m', labels: { version: String(i) } });
      core.harness.clock.advance(300);
      core.removePod(`old-${i}`);
      // The queue would not retry a gang that the cluster totals rule out, so the group changes too.
      core.group({ name: 'red', minMember: 1900, scheduleTimeoutSeconds: i + 1 });
      const result = core.harness.core.attempt();
      if (result?.kind === 'rejected')
        neverFlags.push(result.verdict.message.includes('even if all other pods were gone'));
    }
    expect(neverFlags.length).toBeGreaterThan(3);
    expect(new Set(neverFlags).size).toBe(1);
  });
});

describe('a group that lacks minResources', () => {
  it('does not make an event visit every node', () => {
    const core = new Queueing({ plugins: withoutPreemption });
    const [nodes, groups] = [100, 30];
    for (let i = 0; i < nodes; i++) {
      core.node({ name: `n${i}`, cpu: 2 });
      core.pod({ name: `old-${i}`, cpu: 1, nodeName: `n${i}` });
    }
    for (let i = 0; i < groups; i++) {
      core.group({ name: `g${i}`, minMember: 2, minResources: { cpu: '1000' } });
      core.members(2, { group: `g${i}`, cpu: 1 });
    }
    while (core.harness.core.attempt() !== undefined);
    const freeCalls = vi.spyOn(NodeInfo.prototype, 'free');
    core.removePod('old-0');
    expect(freeCalls.mock.calls.length).toBeLessThanOrEqual(nodes);
  });

  it('never fits for that reason alone, without a dry run', () => {
    const core = new Queueing({ plugins: withoutPreemption });
    for (let i = 0; i < 10; i++) core.node({ name: `n${i}`, cpu: 2 });
    for (let i = 0; i < 10; i++) core.pod({ name: `old-${i}`, cpu: 1, nodeName: `n${i}` });
    core.group({ name: 'red', minMember: 2, minResources: { cpu: '1000' } });
    core.members(2, { group: 'red', cpu: 1 });
    const takenOff = vi.spyOn(NodeInfo.prototype, 'takeOff');
    core.harness.core.attempt();
    expect(takenOff).not.toHaveBeenCalled();
  });
});

describe('members of more pod classes than the planner keeps tables for', () => {
  it('do not count as rejected for good by every node if PreFilter rejects them one by one', () => {
    const quota: Plugin = {
      name: 'Quota',
      preFilter: (_state, { labels }) =>
        labels.quota === undefined ? undefined : new Status('Unschedulable', 'the quota is used up'),
    };
    const core = new Queueing({ plugins: withoutPreemption, extra: [quota] });
    core.node({ name: 'a', cpu: 64 });
    core.group({ name: 'red', minMember: 5 });
    for (let i = 0; i < 5; i++)
      core.pod({ name: `red-${i}`, group: 'red', cpu: `${i + 1}m`, labels: { quota: 'yes' } });
    for (let i = 5; i < 80; i++)
      core.pod({ name: `red-${i}`, group: 'red', cpu: `${i + 1}m`, nodeSelector: { no: 'where' } });
    expect(core.harness.core.attempt()).not.toMatchObject({ verdict: { waitsFor: 'never' } });
  });
});

it('is a cause of whole sentences, of which the first names the plugin’s reason', () => {
  const core = new Queueing({ plugins: withPreemption({}) });
  core.node({ name: 'a', cpu: 2 });
  core.group({ name: 'red', minMember: 3 });
  core.members(3, { group: 'red', cpu: 1 });
  expect(core.harness.core.attempt()).toMatchObject({
    verdict: {
      cause:
        'Insufficient cpu. It would not fit even if all other pods were gone. preemption: no pods of lower priority.',
    },
  });
});

describe('the end of a search without a proof', () => {
  /** Every plan reports that its search ended. */
  function searching(extra: readonly Plugin[] = []): Queueing {
    const steps = Reflect.get<Planner, 'steps'>(Planner.prototype, 'steps');
    vi.spyOn(Planner.prototype, 'steps').mockImplementation(function* (this: Planner, ...args) {
      const plan = yield* steps.apply(this, args);
      return plan.blocked === undefined ? plan : { ...plan, searchedPlacements: 1234 };
    });
    const core = new Queueing({ plugins: withoutPreemption, extra });
    core.node({ name: 'a', cpu: 2 });
    return core;
  }

  it('is reported to a gang that may fit or not, and its number is not part of the cause', () => {
    const core = searching([{ name: 'Unsigned', filter: () => undefined }]);
    core.group({ name: 'red', minMember: 3 });
    core.members(3, { group: 'red', cpu: 1 });
    expect(core.harness.core.attempt()).toMatchObject({
      verdict: {
        waitsFor: 'unknown',
        message:
          'PodGroup default/red cannot start: 2 of 3 members would fit; red-2 would not: ' +
          '0/1 nodes are available: 1 Insufficient cpu. It needs at least 1 more cpu; 2 free, 2 in total. The search ended after 1234 placements.',
        cause: 'Insufficient cpu. The search ended after # placements.',
      },
    });
  });

  it.each([
    [2, 'capacity'],
    [3, 'never'],
  ])('is not reported to a gang of %i that waits for %s', (count, waitsFor) => {
    const core = searching();
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.group({ name: 'red', minMember: count });
    core.members(count, { group: 'red', cpu: 1 });
    const message = expect.not.stringContaining('search') as string;
    expect(core.harness.core.attempt()).toMatchObject({ verdict: { waitsFor, message } });
  });
});
