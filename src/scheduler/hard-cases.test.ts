import { describe, expect, it, vi } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import type { Pod } from '../api/pod.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { NodeInfo } from '../cluster/node-info.ts';
import type { Candidate } from '../framework/candidate.ts';
import type { Plugin, PostFilterResult } from '../framework/plugin.ts';
import { skip, Status } from '../framework/status.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { defaultPlugins, pluginRegistry } from '../plugins/registry.ts';
import { SchedulerCore } from './scheduler-core.ts';
import { Picture } from '../testkit/picture.ts';
import { Queueing } from '../testkit/queueing.ts';
import { Scheduling } from '../testkit/scheduling.ts';
import { preempting, roomFor } from './testing/preempting.ts';

function gangOf(picture: Picture, name: string): Candidate & { kind: 'gang' } {
  return { kind: 'gang', gang: picture.cluster.gang(`default/${name}`)! };
}

/** Everything that the picture holds and a trial may not change. */
function snapshot({ cluster }: Picture): unknown {
  return {
    nodes: cluster.nodes.map((node) => ({
      name: node.name,
      generation: node.generation,
      requested: [...node.requested],
      nonZero: [node.nonZeroMilliCpu, node.nonZeroMemory],
      pods: [...node.pods],
      hostPorts: [...node.hostPorts],
      claims: [...node.claims],
    })),
    gangs: [...cluster.gangs()].map((gang) => ({
      key: gang.key,
      started: gang.started,
      missing: gang.missing,
      counted: gang.counted,
      members: [...gang.members].map(([uid, pod]) => [uid, pod, gang.stateOf(uid)]),
      pending: [...gang.pending.keys()],
      names: [...gang.pendingBySchedulerName],
      counts: (['pending', 'gated', 'planned', 'bound', 'succeeded', 'failed', 'leaving'] as const).map((state) =>
        gang.count(state),
      ),
    })),
    pods: [...cluster.pods()].map((pod) => [pod, cluster.nodeOf(pod)?.name, cluster.claimOf(pod.uid)]),
    assumed: cluster.assumedCount,
    revision: cluster.nodesRevision,
  };
}

describe('a trial', () => {
  it('puts a member back in its state when it is named twice among those that are gone', () => {
    const picture = new Picture({ plugins: defaultPlugins });
    picture.node({ name: 'a', cpu: 4 });
    picture.group({ name: 'blue', minMember: 2 });
    const blue = picture.pods(2, { group: 'blue', cpu: 1, nodeName: 'a', phase: 'Running' });
    const pod = picture.pod({ name: 'x', cpu: 3 });
    const before = snapshot(picture);
    picture.core.trial({ kind: 'pod', pod }, { without: [...blue, blue[0]!] });
    expect(snapshot(picture)).toEqual(before);
  });

  it('does not change which nodes the plans after it take', () => {
    const planned = (tries: number): (string | undefined)[] => {
      const picture = new Picture({ plugins: defaultPlugins });
      for (let i = 0; i < 20; i++) picture.node({ name: `n${i}`, cpu: 4 });
      const [other, ...pods] = picture.pods(6, { name: 'w', cpu: 4 });
      picture.core.begin();
      for (let i = 0; i < tries; i++) picture.core.trial({ kind: 'pod', pod: other! });
      for (let i = 0; i < 6; i++) picture.core.attempt();
      return pods.map((pod) => picture.cluster.nodeOf(pod)?.name);
    };
    expect(planned(1)).toEqual(planned(0));
  });

  it('shows plugins that the pods that are gone are on no node', () => {
    const seen: (string | undefined)[] = [];
    const picture: Picture = new Picture({
      plugins: defaultPlugins,
      extra: [
        {
          name: 'Looking',
          preFilter: () => {
            seen.push(picture.cluster.nodeOf(picture.cluster.pod('v')!)?.name);
            return undefined;
          },
        },
      ],
    });
    picture.node({ name: 'a', cpu: 1 });
    const victim = picture.pod({ name: 'v', uid: 'v', cpu: 1, nodeName: 'a' });
    const pod = picture.pod({ name: 'x', cpu: 1 });
    expect(picture.core.trial({ kind: 'pod', pod }, { without: [victim] }).fits).toBe(true);
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });

  it('within one node leaves no score behind that a plan over all nodes then takes for its own', () => {
    const fuller: Plugin & { weight: number } = {
      name: 'Chosen',
      weight: 100,
      sign: () => '',
      preScore: (_state, _pod, feasible) => (feasible().length < 3 ? skip : undefined),
      score: (_state, _pod, node) => (node.name === 'a' ? 100 : 0),
    };
    const nodeFor = (tryFirst: boolean): string => {
      const picture = new Picture({ plugins: defaultPlugins, extra: [fuller] });
      for (const [name, cpu] of [
        ['a', 4],
        ['b', 64],
        ['c', 4],
      ] as const)
        picture.node({ name, cpu });
      const pod = picture.pod({ name: 'x', cpu: 1 });
      if (tryFirst) picture.core.trial({ kind: 'pod', pod }, { within: new Set(['a', 'b']) });
      return picture.core.trial({ kind: 'pod', pod }).plan[0]!.nodeName;
    };
    expect(nodeFor(false)).toBe('a');
    expect(nodeFor(true)).toBe('a');
  });

  it('asked from Filter while a plan is checked again leaves no verdict behind that is wrong afterwards', async () => {
    let inCheck = false;
    const asking: Plugin = {
      name: 'Asking',
      sign: () => '',
      filter: () => {
        if (!inCheck) return undefined;
        inCheck = false;
        try {
          core.picture.core.trial({ kind: 'pod', pod: core.picture.cluster.pod('y')! });
        } catch {
          // Refused, as while a plan is made.
        }
        return undefined;
      },
      preBind: () => {
        inCheck = true;
        return Promise.resolve(undefined);
      },
    };
    const core: Scheduling = new Scheduling({ plugins: defaultPlugins, extra: [asking] });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'x', cpu: 1 });
    core.pod({ name: 'y', cpu: '500m', gates: ['shut'], tolerations: [{ key: 'only', operator: 'Exists' }] });
    core.node({ name: 'b', cpu: 64, taints: ['only=y:NoSchedule'] });
    expect(await core.attempt()).toBe('planned');
    expect(core.picture.cluster.node('a')!.free(0)).toBe(0);
    core.removeNode('b');
    core.change('y', { schedulingGates: [] });
    expect(await core.attempt()).toBe('refused');
    expect(core.picture.cluster.node('a')!.free(0)).toBe(0);
  });

  it('says why when fewer members are there than it needs', () => {
    const picture = new Picture({ plugins: defaultPlugins });
    picture.node({ name: 'a', cpu: 4 });
    picture.group({ name: 'red', minMember: 2 });
    picture.pods(2, { group: 'red', cpu: 1 });
    const { fits, blocked } = picture.core.trial(gangOf(picture, 'red'), { need: 3 });
    expect(fits).toBe(false);
    expect(blocked).toBeDefined();
  });
});

describe('the outlook of a gang', () => {
  const verdictOf = (core: Queueing, name: string): string | undefined =>
    core.picture.written.findLast((written) => written.name === name)?.verdict.waitsFor;

  it('is capacity while only its own members of before, which are going, are in the way', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    for (const name of ['old-0', 'old-1']) core.pod({ name, group: 'red', cpu: 1, nodeName: 'a', deleting: true });
    core.members(2, { group: 'red', cpu: 1 });
    core.picture.core.attempt();
    expect(verdictOf(core, 'red-0')).toBe('capacity');
  });

  it('is not taken from a gang of the same shape whose own pods were in the way', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    core.group({ name: 'blue', minMember: 2 });
    for (const name of ['old-0', 'old-1']) core.pod({ name, group: 'red', cpu: 1, nodeName: 'a', deleting: true });
    core.members(2, { group: 'red', cpu: 1 });
    core.picture.core.attempt();
    core.members(2, { group: 'blue', cpu: 1 });
    core.picture.core.attempt();
    expect(verdictOf(core, 'blue-0')).toBe('capacity');
  });

  it('is not shared by gangs that a PreFilter tells apart although it signs nothing', () => {
    const quota: Plugin = {
      name: 'Quota',
      preFilter: (_state, { namespace }) =>
        namespace === 'poor' ? new Status('UnschedulableAndUnresolvable', 'the quota is used up') : undefined,
    };
    const core = new Queueing({ plugins: defaultPlugins, extra: [quota] });
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', namespace: 'poor', minMember: 2 });
    core.members(2, { group: 'red', namespace: 'poor', cpu: 1 });
    core.picture.core.attempt();
    core.group({ name: 'blue', namespace: 'rich', minMember: 2 });
    core.members(2, { group: 'blue', namespace: 'rich', cpu: 1 });
    core.picture.core.attempt();
    expect(verdictOf(core, 'blue-0')).toBe('capacity');
  });

  it('is found out anew when what a plugin answers from is no longer so', () => {
    let isOpen = false;
    const licence: Plugin = {
      name: 'Licence',
      preFilter: () => (isOpen ? undefined : new Status('UnschedulableAndUnresolvable', 'no licence is free')),
    };
    const core = new Queueing({ plugins: defaultPlugins, extra: [licence] });
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    core.picture.core.attempt();
    isOpen = true;
    core.group({ name: 'blue', minMember: 2 });
    core.members(2, { group: 'blue', cpu: 1 });
    core.picture.core.attempt();
    expect(verdictOf(core, 'blue-0')).toBe('capacity');
  });

  it('is never "never" for a gang that the same scheduler then places on the same nodes', () => {
    const liars: number[] = [];
    for (let seed = 1; seed <= 40; seed++) {
      const core = new Queueing({ plugins: defaultPlugins, seed });
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
      expect(core.picture.core.attempt()!.kind).toBe('refused');
      const said = verdictOf(core, 'red-0');
      core.removePod('old');
      if (said === 'never' && core.picture.core.attempt()?.kind === 'planned') liars.push(seed);
    }
    expect(liars).toEqual([]);
  });

  it('is not never for a gang that must run near a pod of somebody else', () => {
    const nearCache: Plugin = {
      name: 'NearCache',
      readsOtherNodes: true,
      sign: () => '',
      filter: (_state, _pod, node) =>
        [...node.pods.values()].some(({ labels }) => labels.app === 'cache')
          ? undefined
          : new Status('Unschedulable', 'the cache is not there'),
    };
    const core = new Queueing({ plugins: defaultPlugins, extra: [nearCache] });
    core.node({ name: 'a', cpu: 3 });
    core.pod({ name: 'cache', cpu: 1, nodeName: 'a', labels: { app: 'cache' } });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    core.picture.core.attempt();
    expect(verdictOf(core, 'red-0')).not.toBe('never');
  });

  it('stays the same sentence while nothing that concerns the gang changes', async () => {
    const flapping: number[] = [];
    for (let seed = 1; seed <= 10; seed++) {
      const core = new Queueing({ plugins: defaultPlugins, seed });
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
      const said = new Set<boolean>();
      for (let i = 0; i < 8; i++) {
        core.node({ name: 'elsewhere', cpu: '1m', labels: { version: String(i) } });
        core.picture.clock.advance(400_000);
        const result = core.picture.core.attempt();
        if (result?.kind === 'refused') said.add(result.verdict.message.includes('even if all other pods were gone'));
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      }
      if (said.size > 1) flapping.push(seed);
    }
    expect(flapping).toEqual([]);
  });

  it('does not claim that all other pods were in vain when a plugin failed in the trial', () => {
    const fragile: Plugin = {
      name: 'Fragile',
      sign: () => '',
      filter: (_state, _pod, node) => {
        if (node.pods.size === 0) throw new Error('a bug');
        return undefined;
      },
    };
    const core = new Queueing({ plugins: defaultPlugins, extra: [fragile] });
    core.node({ name: 'a', cpu: 2 });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    core.picture.core.attempt();
    expect(verdictOf(core, 'red-0')).not.toBe('never');
  });

  it('keeps to its limit of work where a plugin reads other nodes', () => {
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
    const core = new Queueing({ plugins: defaultPlugins, extra: [reader] });
    for (let i = 0; i < 600; i++) {
      core.node({ name: `n${i}`, cpu: 1 });
      core.pod({ name: `old-${i}`, cpu: 1, nodeName: `n${i}` });
    }
    core.group({ name: 'red', minMember: 400 });
    core.members(400, { group: 'red', cpu: 1 });
    expect(core.picture.core.attempt()).toMatchObject({ verdict: { waitsFor: 'unknown' } });
    // Of the 240,000 looks at a node that a whole trial takes.
    expect(filtered).toBeLessThanOrEqual(100_000);
  });
});

describe('what PostFilter asks for', () => {
  const crowded = (answer: (core: Queueing) => PostFilterResult | undefined): Queueing => {
    const core: Queueing = new Queueing({ plugins: defaultPlugins, extra: [preempting(() => answer(core))] });
    return core;
  };

  it('is refused where a bound member of the same gang would have to go', () => {
    const core = crowded(({ picture }) => roomFor(picture, 'red-1', 'a', ['red-0']));
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-0', group: 'red', cpu: 4, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'red-1', group: 'red', cpu: 2 });
    core.pod({ name: 'red-2', group: 'red', cpu: 2 });
    core.picture.core.attempt();
    expect(core.picture.evicted).toEqual([]);
  });

  it('evicts nobody who is on no node', () => {
    const core = crowded(({ picture }) => roomFor(picture, 'x', 'a', ['old', 'waiting']));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'waiting', cpu: 1, gates: ['shut'] });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    expect(core.picture.evicted).not.toContain('waiting for pod default/x');
  });

  it('evicts each victim once, also one that is named twice', () => {
    const core = crowded(({ picture }) => roomFor(picture, 'x', 'a', ['old', 'old']));
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'blue', minMember: 1 });
    core.pod({ name: 'old', group: 'blue', cpu: 1, nodeName: 'a', phase: 'Running' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    expect(core.picture.cluster.gang('default/blue')!.missing).toBe(0);
    expect(core.picture.evicted).toEqual(['old for pod default/x']);
  });

  it('does not evict again one that is going already', () => {
    const core = crowded(({ picture }) => roomFor(picture, 'x', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a', deleting: true });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    expect(core.picture.evicted).toEqual([]);
  });

  it('is refused when those that are nominated are not its members', () => {
    const core = crowded(({ picture }) => roomFor(picture, 'other', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'other', cpu: 1, gates: ['shut'] });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    expect(core.picture.evicted).toEqual([]);
  });

  it('keeps no room for members other than those that were nominated', () => {
    const core = crowded(({ picture }) => roomFor(picture, 'red-1', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'red', minMember: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.members(2, { group: 'red', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    const { cluster } = core.picture;
    expect([cluster.claimOf('red-0'), cluster.claimOf('red-1')?.nodeName]).toEqual([undefined, 'a']);
  });

  it('is not asked for, nor carried out, when a plugin failed', () => {
    let failing = true;
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        preempting(() => {
          failing = false;
          return roomFor(core.picture, 'x', 'a');
        }),
        {
          name: 'Failing',
          preFilter: () => {
            if (failing) throw new Error('no answer');
            return undefined;
          },
        },
      ],
    });
    core.node({ name: 'a', cpu: 4 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    expect(core.picture.evicted).toEqual([]);
  });

  it('wakes its own claimant when the time of the room is over', () => {
    const core = crowded(({ picture }) => roomFor(picture, 'x', 'a'));
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    expect(core.picture.evicted).toHaveLength(1);
    core.picture.clock.advance(60_000);
    expect(core.states()).toEqual({ 'pod/x': 'active' });
  });
});

describe('room that was kept for a nominated pod', () => {
  it('is heard of by those that wait for it when the pod is deleted', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        preempting((candidate) =>
          candidate.kind === 'pod' && candidate.pod.name === 'x' ? roomFor(core.picture, 'x', 'a') : undefined,
        ),
      ],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    core.picture.core.attempt();
    expect(core.picture.evicted).toEqual(['old for pod default/x']);
    core.picture.clock.advance(20_000);
    core.removePod('old');
    expect(core.refuseNext('NodeAffinity').key).toBe('pod/x');
    core.picture.core.attempt();
    // The room is kept for x, which something else keeps from it.
    expect(core.states()).toEqual({ 'pod/y': 'unschedulable', 'pod/x': 'unschedulable' });
    core.removePod('x');
    expect(core.states()).toEqual({ 'pod/y': 'backoff' });
  });

  it('is heard of by those that wait for it when the pod went elsewhere', async () => {
    const core: Scheduling = new Scheduling({
      plugins: defaultPlugins,
      extra: [
        preempting((candidate) =>
          candidate.kind === 'pod' && candidate.pod.name === 'x' ? roomFor(core.picture, 'x', 'a') : undefined,
        ),
      ],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, priority: 10, tolerations: [{ key: 'only', operator: 'Exists' }] });
    await core.attempt();
    await core.attempt();
    expect(core.picture.evicted).toEqual(['old for pod default/x']);
    core.picture.clock.advance(20_000);
    core.removePod('old');
    core.node({ name: 'b', cpu: 64, taints: ['only=x:NoSchedule'] });
    // y was first in the queue and is refused: the room is kept for x, which then finds a better node.
    while ((await core.attempt()) !== undefined) await core.settle();
    expect(core.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`)).toContain('x b');
    await core.accept('x');
    core.change('x', { nodeName: 'b', phase: 'Running' });
    core.picture.clock.advance(120_000);
    while ((await core.attempt()) !== undefined) await core.settle();
    expect(core.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`)).toContain('y a');
  });

  it('is kept until the victims have gone, so that nobody else has to go meanwhile', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        preempting((candidate) => {
          const victim = [...core.picture.cluster.pods()].find(
            ({ nodeName, deleting }) => nodeName !== '' && !deleting,
          );
          if (candidate.kind !== 'pod' || victim === undefined) return undefined;
          const nominations = [{ pod: candidate.pod, nodeName: victim.nodeName }];
          return { message: 'makes room', nominations, victims: [victim] };
        }),
      ],
    });
    for (const name of ['a', 'b']) {
      core.node({ name, cpu: 1 });
      core.pod({ name: `old-${name}`, cpu: 1, nodeName: name });
    }
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    // Its grace period is longer than the room is kept.
    core.change('old-a', { deleting: true });
    core.picture.clock.advance(60_000);
    core.picture.core.attempt();
    expect(core.picture.evicted).toEqual(['old-a for pod default/x']);
  });
});

describe('a group that lacks minResources', () => {
  it('costs an event no look at every node', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    const [nodes, groups] = [100, 30];
    for (let i = 0; i < nodes; i++) {
      core.node({ name: `n${i}`, cpu: 2 });
      core.pod({ name: `old-${i}`, cpu: 1, nodeName: `n${i}` });
    }
    for (let i = 0; i < groups; i++) {
      core.group({ name: `g${i}`, minMember: 2, minResources: { cpu: '1000' } });
      core.members(2, { group: `g${i}`, cpu: 1 });
    }
    while (core.picture.core.attempt() !== undefined);
    const looks = vi.spyOn(NodeInfo.prototype, 'free');
    core.removePod('old-0');
    expect(looks.mock.calls.length).toBeLessThanOrEqual(nodes);
  });

  it('is proven never to fit by that alone, without a trial', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    for (let i = 0; i < 10; i++) core.node({ name: `n${i}`, cpu: 2 });
    for (let i = 0; i < 10; i++) core.pod({ name: `old-${i}`, cpu: 1, nodeName: `n${i}` });
    core.group({ name: 'red', minMember: 2, minResources: { cpu: '1000' } });
    core.members(2, { group: 'red', cpu: 1 });
    const takenOff = vi.spyOn(NodeInfo.prototype, 'takeOff');
    core.picture.core.attempt();
    expect(takenOff).not.toHaveBeenCalled();
  });
});

describe('after stop', () => {
  it('no timer is left', async () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [preempting(() => roomFor(core.picture, 'x', 'a'))],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1 });
    core.picture.core.attempt();
    await core.picture.core.stop();
    expect(core.picture.clock.untilNextTimer()).toBeUndefined();
  });

  it('begin starts nothing', async () => {
    const picture = new Picture({ plugins: defaultPlugins });
    await picture.core.stop();
    picture.core.begin();
    expect(picture.clock.untilNextTimer()).toBeUndefined();
  });
});

describe('profiles of which one knows groups and one does not', () => {
  const profiles = { one: () => true, two: ({ name }: { name: string }) => name !== 'Coscheduling' };

  it('leave a pod of the second its own verdict', async () => {
    const core = new Queueing({ plugins: defaultPlugins, profiles });
    core.node({ name: 'a', cpu: 1 });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, schedulerName: 'one' });
    core.pod({ name: 'red-1', group: 'red', cpu: 2, schedulerName: 'two' });
    expect(core.picture.core.attempt()!.kind).toBe('refused');
    for (let i = 0; i < 20; i++) await Promise.resolve();
    core.picture.clock.advance(10_000);
    for (let i = 0; i < 20; i++) await Promise.resolve();
    expect(core.picture.written.filter(({ name }) => name === 'red-1').map(({ verdict }) => verdict.reason)).toEqual([
      'Unschedulable',
    ]);
  });
});

describe('members of one kind', () => {
  it('that a plugin has nothing to do for until a sibling lands are looked at by it then', () => {
    /** A follower never runs beside a leader; skips, as kube-scheduler's do, while there is no leader. */
    const make = (how: { keepsUp: boolean }): Record<string, string> => {
      const apart: Plugin = {
        name: 'Apart',
        readsOtherNodes: true,
        sign: ({ labels }) => labels.role ?? '',
        preFilter: (state, pod) => {
          const taken = new Set(
            picture.cluster.nodes
              .filter(({ pods }) => [...pods.values()].some(({ labels }) => labels.role === 'leader'))
              .map(({ name }) => name),
          );
          if (pod.labels.role === 'leader' || taken.size === 0) return skip;
          state.write('Apart/taken', taken);
          return undefined;
        },
        filter: (state, _pod, node) =>
          state.read<Set<string>>('Apart/taken')?.has(node.name) === true
            ? new Status('Unschedulable', 'a leader is there')
            : undefined,
        ...(how.keepsUp && {
          preFilterAddPod: (state, _pod, added, node) => {
            if (added.labels.role === 'leader') state.read<Set<string>>('Apart/taken')!.add(node.name);
            return undefined;
          },
          preFilterRemovePod: () => undefined,
        }),
      };
      const picture: Picture = new Picture({ plugins: defaultPlugins, extra: [apart] });
      picture.node({ name: 'a', cpu: 16 });
      picture.node({ name: 'b', cpu: 1 });
      picture.group({ name: 'red', minMember: 2 });
      picture.pod({ name: 'leader', group: 'red', cpu: 3, labels: { role: 'leader' } });
      picture.pod({ name: 'worker', group: 'red', cpu: 1, labels: { role: 'worker' } });
      const { plan } = picture.core.trial(gangOf(picture, 'red'));
      return Object.fromEntries(plan.map(({ pod, nodeName }) => [pod.name, nodeName]));
    };
    expect(make({ keepsUp: false })).toEqual({ leader: 'a', worker: 'b' });
    expect(make({ keepsUp: true })).toEqual({ leader: 'a', worker: 'b' });
  });

  it.each([
    [true, true],
    [true, false],
    [false, false],
  ])('that PreFilter refuses until a sibling lands find their place then (signed: %s, told: %s)', (signs, told) => {
    const leaderOf = (): string | undefined =>
      picture.cluster.nodes.find(({ pods }) => [...pods.values()].some(({ labels }) => labels.role === 'leader'))?.name;
    const after: Plugin = {
      name: 'AfterLeader',
      readsOtherNodes: true,
      ...(signs && { sign: ({ labels }: Pod) => labels.role ?? '' }),
      preFilter: (_state, { labels }) =>
        labels.role !== 'leader' && leaderOf() === undefined
          ? new Status('Unschedulable', 'the leader is nowhere yet')
          : undefined,
      filter: () => undefined,
      ...(told && { preFilterAddPod: () => undefined, preFilterRemovePod: () => undefined }),
    };
    const picture: Picture = new Picture({ plugins: defaultPlugins, extra: [after] });
    picture.node({ name: 'a', cpu: 4 });
    picture.group({ name: 'red', minMember: 2 });
    picture.pod({ name: 'leader', group: 'red', cpu: 1, labels: { role: 'leader' } });
    picture.pod({ name: 'worker', group: 'red', cpu: 1, labels: { role: 'worker' } });
    expect(picture.core.trial(gangOf(picture, 'red')).fits).toBe(true);
  });

  // One that has AddPod says by Filter what has changed.
  it.each([
    [true, false],
    [false, false],
  ])('go where PreFilter says as things are when it is their turn (signed: %s, told: %s)', (signs, told) => {
    const leaderOf = (): string | undefined =>
      picture.cluster.nodes.find(({ pods }) => [...pods.values()].some(({ labels }) => labels.role === 'leader'))?.name;
    const withLeader: Plugin = {
      name: 'WithLeader',
      readsOtherNodes: true,
      ...(signs && { sign: ({ labels }: Pod) => labels.role ?? '' }),
      preFilter: (_state, { labels }) => {
        const leader = leaderOf();
        return labels.role === 'leader' || leader === undefined ? undefined : { nodeNames: new Set([leader]) };
      },
      filter: () => undefined,
      ...(told && { preFilterAddPod: () => undefined, preFilterRemovePod: () => undefined }),
    };
    const picture: Picture = new Picture({ plugins: defaultPlugins, extra: [withLeader] });
    picture.node({ name: 'a', cpu: 4 });
    picture.node({ name: 'b', cpu: 3 });
    picture.group({ name: 'red', minMember: 2 });
    picture.pod({ name: 'leader', group: 'red', cpu: 2, labels: { role: 'leader' } });
    picture.pod({ name: 'worker', group: 'red', cpu: 2, labels: { role: 'worker' } });
    const { plan } = picture.core.trial(gangOf(picture, 'red'));
    expect(new Set(plan.map(({ nodeName }) => nodeName))).toEqual(new Set(['a']));
  });

  it('each keep what a plugin notes in Reserve about them, in what its PreFilter made', async () => {
    const bound: string[] = [];
    const noting: Plugin = {
      name: 'Noting',
      sign: () => '',
      preFilter: (state) => {
        state.write('Noting', { nodeName: '' });
        return undefined;
      },
      filter: () => undefined,
      reserve: (state, _pod, node) => {
        state.read<{ nodeName: string }>('Noting')!.nodeName = node.name;
        return undefined;
      },
      preBind: (state, pod, nodeName) => {
        bound.push(`${pod.name} ${String(state.read<{ nodeName: string }>('Noting')!.nodeName === nodeName)}`);
        return Promise.resolve(undefined);
      },
    };
    const core = new Scheduling({ plugins: defaultPlugins, extra: [noting] });
    for (const name of ['a', 'b']) core.node({ name, cpu: 1 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('planned');
    expect(bound.sort()).toEqual(['red-0 true', 'red-1 true']);
  });

  it('are refused by no claim twice where a plugin has AddPod but not RemovePod', () => {
    const atMostTwo: Plugin = {
      name: 'AtMostTwo',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: (state) => {
        const count = [...picture.cluster.pods()].filter((pod) => picture.cluster.nodeOf(pod) !== undefined).length;
        state.write('AtMostTwo', { count });
        return undefined;
      },
      preFilterAddPod: (state) => {
        state.read<{ count: number }>('AtMostTwo')!.count++;
        return undefined;
      },
      filter: (state) =>
        state.read<{ count: number }>('AtMostTwo')!.count > 3 ? new Status('Unschedulable', 'too many') : undefined,
    };
    const picture: Picture = new Picture({ plugins: defaultPlugins, extra: [atMostTwo] });
    for (const name of ['a', 'b', 'c']) picture.node({ name, cpu: 4 });
    picture.pod({ name: 'nominee', cpu: 1, nominatedNodeName: 'a', priority: 5 });
    picture.group({ name: 'red', minMember: 2 });
    picture.pods(2, { group: 'red', cpu: 1 });
    expect(picture.core.trial(gangOf(picture, 'red')).fits).toBe(true);
  });
});

describe('a refusal without a reason', () => {
  it('does not read as if there were no nodes', () => {
    const silent: Plugin = { name: 'Silent', sign: () => '', filter: () => new Status('Unschedulable', []) };
    const core = new Queueing({ plugins: defaultPlugins, extra: [silent] });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'x', cpu: 1 });
    const result = core.picture.core.attempt();
    expect(result).toMatchObject({ verdict: { message: expect.not.stringContaining('no nodes are known') as string } });
  });
});

describe('pending pods', () => {
  it('are counted once each, also where one profile knows groups and another does not', async () => {
    const registry = createMetricRegistry({ processMetrics: false });
    const nothing = (): Promise<never> => Promise.reject(new Error('nothing is written here'));
    const plugins = defaultPlugins.map(({ name }) => ({ name }));
    const core = new SchedulerCore({
      profiles: [
        { schedulerName: 'one', plugins },
        { schedulerName: 'two', plugins: plugins.filter(({ name }) => name !== 'Coscheduling') },
      ],
      plugins: pluginRegistry,
      ports: {
        binder: { bind: nothing },
        verdicts: { write: nothing },
        events: { record: () => undefined },
        evictor: { evict: nothing, release: () => Promise.resolve('going') },
        volumes: { bind: nothing, provision: nothing },
      },
      clock: new VirtualClock(),
      random: () => 0,
      logger: silentLogger,
      registry,
      identity: 'test',
      onReady: () => undefined,
    });
    const build = new Builders({ resources: core.cluster.resources });
    core.begin();
    core.handlers.pods.onAdd(build.projectedPod({ name: 'red-0', group: 'red', schedulerName: 'one' }));
    core.handlers.pods.onAdd(build.projectedPod({ name: 'red-1', group: 'red', schedulerName: 'two' }));
    const lines = (await registry.metrics()).split('\n').filter((line) => /^\w*pending_pods\{/.test(line));
    const sum = lines.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    expect(lines.length).toBeGreaterThan(0);
    expect(sum).toBe(2);
    await core.stop();
  });
});
