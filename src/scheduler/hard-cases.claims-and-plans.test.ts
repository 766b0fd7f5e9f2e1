import { describe, expect, it } from 'vitest';
import type { Pod } from '../api/pod.ts';
import type { Candidate } from '../framework/candidate.ts';
import type { Plugin } from '../framework/plugin.ts';
import { skip, Status } from '../framework/status.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { Picture } from '../testkit/picture.ts';
import { Queueing } from '../testkit/queueing.ts';
import { preempting, roomFor } from './testing/preempting.ts';

function gangOf(picture: Picture, name: string): Candidate & { kind: 'gang' } {
  return { kind: 'gang', gang: picture.cluster.gang(`default/${name}`)! };
}

const verdictOf = (core: Queueing, name: string): { message: string; waitsFor: string } | undefined =>
  core.picture.written.findLast((written) => written.name === name)?.verdict;

describe('the sums over the cluster', () => {
  /** red is short of minResources only as long as others are there, but then finds no node either. */
  const trialThatPlacesNobody = (): Queueing => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.group({ name: 'red', minMember: 5, minResources: { cpu: '6' }, repairGraceSeconds: 1_000_000 });
    for (const name of ['a', 'b', 'c']) {
      core.node({ name, cpu: 2 });
      core.pod({ name: `old-${name}`, cpu: name === 'a' ? '500m' : 1, nodeName: name });
      core.pod({ name: `red-${name}`, group: 'red', cpu: 1, nodeName: name });
    }
    core.members(2, { group: 'red', cpu: 2 });
    return core;
  };

  it('after a trial that placed nobody are those of the cluster as it is: a group short of minResources does not start', () => {
    const core = trialThatPlacesNobody();
    core.picture.core.attempt();
    // Half a cpu is free in the whole cluster, and blue asks for 3.
    core.group({ name: 'blue', minMember: 1, minResources: { cpu: '3' } });
    core.members(1, { group: 'blue', cpu: '500m' });
    expect(core.picture.core.attempt()!.kind).toBe('refused');
  });

  it('after a trial do not change what a group is told while nothing changes', () => {
    const core = trialThatPlacesNobody();
    const said = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const result = core.picture.core.attempt();
      if (result?.kind === 'refused') said.add(result.verdict.message);
      core.picture.clock.advance(400_000);
    }
    expect([...said]).toHaveLength(1);
  });

  it('call it for good only if the group would not have them without the others (own pods on a node not shown yet)', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 9 });
    core.pod({ name: 'old', cpu: 5, nodeName: 'a' });
    core.group({ name: 'red', minMember: 3, minResources: { cpu: '10' } });
    core.pod({ name: 'red-b', group: 'red', cpu: 2, nodeName: 'later' });
    core.members(2, { group: 'red', cpu: 4 });
    core.picture.core.attempt();
    const said = verdictOf(core, 'red-0')!.waitsFor;
    core.removePod('old');
    core.picture.clock.advance(20_000);
    expect([said, core.picture.core.attempt()?.kind]).not.toEqual(['never', 'planned']);
  });
});

describe('a plan', () => {
  const leaderOf = (picture: Picture): string | undefined =>
    picture.cluster.nodes.find(({ pods }) => [...pods.values()].some(({ labels }) => labels.role === 'leader'))?.name;

  it('tries members again for whom PreFilter named no node yet', () => {
    const withLeader: Plugin = {
      name: 'WithLeader',
      readsOtherNodes: true,
      sign: ({ labels }) => labels.role ?? '',
      preFilter: (_state, { labels }) => {
        if (labels.role === 'leader') return undefined;
        const leader = leaderOf(picture);
        return { nodeNames: new Set(leader === undefined ? [] : [leader]) };
      },
      filter: () => undefined,
    };
    const picture: Picture = new Picture({ plugins: defaultPlugins, extra: [withLeader] });
    picture.node({ name: 'a', cpu: 4 });
    picture.group({ name: 'red', minMember: 2 });
    picture.pod({ name: 'leader', group: 'red', cpu: 1, labels: { role: 'leader' } });
    picture.pod({ name: 'worker', group: 'red', cpu: 2, labels: { role: 'worker' } });
    expect(picture.core.trial(gangOf(picture, 'red')).fits).toBe(true);
  });

  it.each([
    ['worker-0', 'worker-1'],
    ['worker-1', 'worker-0'],
  ])('tries %s again although %s of the same kind is refused for good', (_good, bad) => {
    const quota: Plugin = {
      name: 'Quota',
      preFilter: (_state, { name }) =>
        name === bad ? new Status('UnschedulableAndUnresolvable', 'no quota') : undefined,
    };
    const after: Plugin = {
      name: 'AfterLeader',
      readsOtherNodes: true,
      sign: ({ labels }) => labels.role ?? '',
      preFilter: (_state, { labels }) =>
        labels.role !== 'leader' && leaderOf(picture) === undefined
          ? new Status('Unschedulable', 'the leader is nowhere yet')
          : undefined,
      filter: () => undefined,
    };
    const picture: Picture = new Picture({ plugins: defaultPlugins, extra: [quota, after] });
    picture.node({ name: 'a', cpu: 4 });
    picture.group({ name: 'red', minMember: 2 });
    picture.pod({ name: 'leader', group: 'red', cpu: 1, labels: { role: 'leader' } });
    for (const name of ['worker-0', 'worker-1'])
      picture.pod({ name, group: 'red', cpu: 2, labels: { role: 'worker' } });
    const { fits, blocked } = picture.core.trial(gangOf(picture, 'red'));
    expect([fits, blocked?.refusal]).toEqual([true, undefined]);
  });

  it('says of the member that it names why that one was refused', () => {
    const quota: Plugin = {
      name: 'Quota',
      preFilter: (_state, { name }) => new Status('UnschedulableAndUnresolvable', `no quota for ${name}`),
    };
    const unsigned: Plugin = {
      name: 'Reader',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: () => undefined,
      filter: () => undefined,
    };
    const picture: Picture = new Picture({ plugins: defaultPlugins, extra: [quota, unsigned] });
    picture.node({ name: 'a', cpu: 4 });
    picture.group({ name: 'red', minMember: 2 });
    for (const name of ['w-0', 'w-1']) picture.pod({ name, group: 'red', cpu: 1 });
    const { blocked } = picture.core.trial(gangOf(picture, 'red'));
    expect(JSON.stringify(blocked!.refusal)).toContain(blocked!.pod.name);
  });

  it('does not take Skip for one member for Skip for all that come after it', () => {
    /** Beside one sibling anything goes, beside two no longer. */
    const odd: Plugin = {
      name: 'Odd',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: (state) => {
        const nodes = picture.cluster.nodes.filter(({ pods }) => pods.size > 0).map(({ name }) => name);
        const count = picture.cluster.nodes.reduce((sum, { pods }) => sum + pods.size, 0);
        if (count === 1) return skip;
        state.write('Odd', new Set(nodes));
        return undefined;
      },
      preFilterAddPod: (state, _pod, _added, node) => {
        state.read<Set<string>>('Odd')?.add(node.name);
        return undefined;
      },
      preFilterRemovePod: () => undefined,
      filter: (state, _pod, node) =>
        state.read<Set<string>>('Odd')?.has(node.name) === true ? new Status('Unschedulable', 'taken') : undefined,
      reserve: () => undefined,
    };
    const picture: Picture = new Picture({ plugins: defaultPlugins, extra: [odd] });
    picture.node({ name: 'a', cpu: 64 });
    picture.node({ name: 'b', cpu: 3 });
    picture.node({ name: 'c', cpu: 3 });
    picture.group({ name: 'red', minMember: 3 });
    picture.pods(3, { group: 'red', cpu: 1 });
    const { plan } = picture.core.trial(gangOf(picture, 'red'));
    // The third may not be where another is.
    const last = plan[2]!.nodeName;
    expect(plan.slice(0, 2).map(({ nodeName }) => nodeName)).not.toContain(last);
  });

  it('names the plugin that refused a member of another kind one by one, so that its event wakes the gang', () => {
    let used = true;
    const quota: Plugin = {
      name: 'Quota',
      preFilter: (_state, { labels }) =>
        used && labels.kind === 'small' ? new Status('Unschedulable', 'the quota is used up') : undefined,
      eventsToRegister: () => [{ resource: 'AssignedPod', actions: ['Add'] }],
    };
    const core = new Queueing({ plugins: defaultPlugins, extra: [quota] });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 1 });
    core.pod({ name: 'big', group: 'red', cpu: 8, labels: { kind: 'big' } });
    core.pod({ name: 'small', group: 'red', cpu: 1, labels: { kind: 'small' } });
    const result = core.picture.core.attempt();
    expect(result).toMatchObject({ kind: 'refused' });
    used = false;
    core.pod({ name: 'other', nodeName: 'a' });
    expect(core.states()).not.toEqual({ 'gang/default/red': 'unschedulable' });
  });

  it('names the plugins that refused members that PreFilter had refused at first', () => {
    const after: Plugin = {
      name: 'AfterLeader',
      readsOtherNodes: true,
      sign: ({ labels }) => labels.role ?? '',
      preFilter: (_state, { labels }) =>
        labels.role !== 'leader' && leaderOf(core.picture) === undefined
          ? new Status('Unschedulable', 'the leader is nowhere yet')
          : undefined,
      filter: () => undefined,
    };
    const core: Queueing = new Queueing({ plugins: defaultPlugins, extra: [after] });
    core.node({ name: 'a', cpu: 4 });
    core.pod({ name: 'old', cpu: 2, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'leader', group: 'red', cpu: 1, labels: { role: 'leader' } });
    core.pod({ name: 'w-0', group: 'red', cpu: 3, nodeSelector: { no: 'where' }, labels: { role: 'worker' } });
    core.pod({ name: 'w-1', group: 'red', cpu: 2, labels: { role: 'worker' } });
    expect(core.picture.core.attempt()!.kind).toBe('refused');
    core.removePod('old');
    expect(core.states()).not.toEqual({ 'gang/default/red': 'unschedulable' });
  });

  it('asks no Filter about nodes where PreFilter refuses the gang as a whole', () => {
    let filtered = 0;
    const counting: Plugin = { name: 'Counting', sign: () => '', filter: () => void filtered++ };
    const core = new Queueing({ plugins: defaultPlugins, extra: [counting] });
    for (let i = 0; i < 50; i++) core.node({ name: `n${i}`, cpu: 1 });
    core.group({ name: 'red', minMember: 2, minResources: { cpu: '1000' } });
    core.members(2, { group: 'red', cpu: 1 });
    core.picture.core.attempt();
    expect(filtered).toBe(0);
  });
});

describe('a plugin that fails', () => {
  it.each([true, false])('in PreFilter for the second member ends the plan as well (alike to all: %s)', (isUniform) => {
    const quota: Plugin = {
      name: 'Quota',
      preFilter: (_state, { name }) => {
        if (name === 'red-0') return new Status('Unschedulable', 'the quota is used up');
        throw new Error('a bug');
      },
    };
    const reader: Plugin = {
      name: 'Reader',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: () => undefined,
      filter: () => undefined,
    };
    const core = new Queueing({ plugins: defaultPlugins, extra: isUniform ? [quota] : [quota, reader] });
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 1 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(core.picture.core.attempt()).toMatchObject({ failure: { error: true } });
  });

  it('in PreFilter for the first member ends the plan although the second is only refused', () => {
    const quota: Plugin = {
      name: 'Quota',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: (_state, { name }) => {
        if (name !== 'red-0') return new Status('Unschedulable', 'the quota is used up');
        throw new Error('a bug');
      },
      filter: () => undefined,
    };
    const core = new Queueing({ plugins: defaultPlugins, extra: [quota] });
    core.node({ name: 'a', cpu: 4 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(core.picture.core.attempt()).toMatchObject({ failure: { error: true } });
  });
});

describe('a scorer that skips now and then', () => {
  it('costs no new Filter of nodes that have not changed', () => {
    let filtered = 0;
    let turn = 0;
    const moody: Plugin & { weight: number } = {
      name: 'Moody',
      weight: 1,
      sign: () => '',
      filter: () => void filtered++,
      preScore: () => (turn++ % 2 === 0 ? skip : undefined),
      score: () => 1,
    };
    const core = new Queueing({ plugins: defaultPlugins, extra: [moody] });
    for (let i = 0; i < 100; i++) core.node({ name: `n${i}`, cpu: 64 });
    for (let i = 0; i < 20; i++) core.pod({ name: `x${i}`, cpu: 1 });
    for (let i = 0; i < 20; i++) core.picture.core.attempt();
    expect(filtered).toBeLessThan(400);
  });
});

describe('the outlook', () => {
  it('is not never where PreFilter gives each member nodes of its own and the order decides', () => {
    const volumes: Plugin = {
      name: 'Volumes',
      preFilter: (_state, { name }) => ({ nodeNames: new Set(name === 'red-1' ? ['a'] : ['a', 'b']) }),
    };
    const liars: number[] = [];
    for (let seed = 1; seed <= 20; seed++) {
      const core = new Queueing({ plugins: defaultPlugins, extra: [volumes], seed });
      for (const name of ['a', 'b']) core.node({ name, cpu: 1 });
      core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
      core.group({ name: 'red', minMember: 2 });
      core.members(2, { group: 'red', cpu: 1 });
      core.picture.core.attempt();
      if (verdictOf(core, 'red-0')?.waitsFor === 'never') liars.push(seed);
    }
    expect(liars).toEqual([]);
  });

  it('stays the same sentence while nodes that do not concern the gang change often', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    for (let i = 0; i < 1800; i++) {
      core.node({ name: `n${i}`, cpu: 1 });
      core.pod({ name: `old-${i}`, cpu: 1, nodeName: `n${i}` });
    }
    core.group({ name: 'red', minMember: 1900 });
    core.members(1900, { group: 'red', cpu: 1 });
    const said: boolean[] = [];
    for (let i = 0; i < 8; i++) {
      core.node({ name: 'elsewhere', cpu: '1m', labels: { version: String(i) } });
      core.picture.clock.advance(300);
      core.removePod(`old-${i}`);
      // What is ruled out by sums alone would not be tried.
      core.group({ name: 'red', minMember: 1900, scheduleTimeoutSeconds: i + 1 });
      const result = core.picture.core.attempt();
      if (result?.kind === 'refused') said.push(result.verdict.message.includes('even if all other pods were gone'));
    }
    expect(said.length).toBeGreaterThan(3);
    expect(new Set(said).size).toBe(1);
  });
});

describe('of more kinds than tables are kept', () => {
  it('those that are refused one by one are not taken for refused for good by every node', () => {
    const quota: Plugin = {
      name: 'Quota',
      preFilter: (_state, { labels }) =>
        labels.quota === undefined ? undefined : new Status('Unschedulable', 'the quota is used up'),
    };
    const core = new Queueing({ plugins: defaultPlugins, extra: [quota] });
    core.node({ name: 'a', cpu: 64 });
    core.group({ name: 'red', minMember: 5 });
    for (let i = 0; i < 5; i++)
      core.pod({ name: `red-${i}`, group: 'red', cpu: `${i + 1}m`, labels: { quota: 'yes' } });
    for (let i = 5; i < 80; i++)
      core.pod({ name: `red-${i}`, group: 'red', cpu: `${i + 1}m`, nodeSelector: { no: 'where' } });
    expect(core.picture.core.attempt()).not.toMatchObject({ verdict: { waitsFor: 'never' } });
  });
});

describe('preemption', () => {
  it('takes nobody away for a pod that Reserve then refuses', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        { name: 'Devices', reserve: () => new Status('Unschedulable', 'no device is left') },
        preempting((candidate) => (candidate.kind === 'pod' ? roomFor(core.picture, 'x', 'a') : undefined)),
      ],
    });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    expect(core.picture.evicted).toEqual([]);
  });

  const withVictims = (names: readonly string[]): Queueing => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [preempting(() => roomFor(core.picture, 'x', 'a', names))],
    });
    return core;
  };

  it('tears no group of which a member that is named is going already', () => {
    const core = withVictims(['blue-0', 'blue-2']);
    core.node({ name: 'a', cpu: 2 });
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'blue', minMember: 2 });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'blue-1', group: 'blue', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'blue-2', group: 'blue', cpu: 1, nodeName: 'a', deleting: true });
    core.pod({ name: 'x', cpu: 2, priority: 10 });
    core.picture.core.attempt();
    // blue-1 would be left, one of two.
    expect(core.picture.evicted).toEqual([]);
  });

  it('may wait for a member that is going already, whose group keeps its quorum', () => {
    const core = withVictims(['blue-2']);
    core.node({ name: 'a', cpu: 1 });
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'blue', minMember: 2 });
    core.pod({ name: 'blue-0', group: 'blue', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'blue-1', group: 'blue', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'blue-2', group: 'blue', cpu: 1, nodeName: 'a', deleting: true });
    core.pod({ name: 'x', cpu: 1, priority: 10, tolerations: [] });
    core.picture.core.attempt();
    expect(core.picture.cluster.claimOf('x')?.nodeName).toBe('a');
  });

  it('of room elsewhere frees the room of a nomination that it replaces, and those who wait for it hear of it', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        preempting((candidate) =>
          candidate.kind === 'pod' && candidate.pod.name === 'x' ? roomFor(core.picture, 'x', 'b') : undefined,
        ),
      ],
    });
    core.node({ name: 'a', cpu: 1, taints: ['only=y:NoSchedule'] });
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'b' });
    core.pod({ name: 'x', cpu: 1, priority: 10, nominatedNodeName: 'a', gates: ['shut'] });
    core.pod({ name: 'y', cpu: 1, tolerations: [{ key: 'only', operator: 'Exists' }] });
    core.picture.core.attempt();
    expect(core.states()['pod/y']).toBe('unschedulable');
    core.picture.clock.advance(20_000);
    core.change('x', { schedulingGates: [] });
    core.picture.core.attempt();
    expect(core.picture.cluster.claimOf('x')?.nodeName).toBe('b');
    expect(core.states()['pod/y']).not.toBe('unschedulable');
  });

  it('does not turn room that is kept from everybody into room that is kept from some', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [preempting(() => roomFor(core.picture, 'red-1', 'a'))],
    });
    core.node({ name: 'a', cpu: 1 });
    core.node({ name: 'b', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.group({ name: 'red', minMember: 2 });
    core.pod({ name: 'red-0', group: 'red', cpu: 1, nodeName: 'b', priority: 10 });
    const claimant = core.pod({ name: 'red-1', group: 'red', cpu: 1, priority: 10 });
    // As after a Binding that failed.
    core.picture.cluster.claim({ kind: 'repair', claimant, nodeName: 'a', isKept: true });
    core.picture.core.attempt();
    expect(core.picture.evicted).toEqual(['old for PodGroup default/red']);
    expect(core.picture.cluster.claimOf('red-1')?.kind).toBe('repair');
  });

  it('counts members that have succeeded towards the quorum that is left, as the group does', () => {
    const core = withVictims(['blue-0']);
    core.node({ name: 'a', cpu: 1 });
    core.node({ name: 'b', cpu: 2 });
    core.group({ name: 'blue', minMember: 2 });
    for (const [name, nodeName] of [
      ['blue-0', 'a'],
      ['blue-1', 'b'],
      ['blue-2', 'b'],
    ] as const)
      core.pod({ name, group: 'blue', cpu: 1, nodeName });
    core.change('blue-2', { phase: 'Succeeded' });
    core.pod({ name: 'x', cpu: 1, priority: 10, nodeSelector: {} });
    // Keeps b full.
    core.pod({ name: 'full', cpu: 1, nodeName: 'b', priority: 20 });
    core.picture.core.attempt();
    expect(core.picture.evicted).toEqual(['blue-0 for pod default/x']);
    core.removePod('blue-0');
    expect(core.picture.cluster.gang('default/blue')!.missing).toBe(0);
  });

  it('is asked for anew when the node where room is kept is gone', () => {
    const core: Queueing = new Queueing({
      plugins: defaultPlugins,
      extra: [
        preempting((candidate) => {
          const victim = [...core.picture.cluster.pods()].find(
            ({ nodeName, deleting }) => core.picture.cluster.node(nodeName) !== undefined && !deleting,
          );
          if (candidate.kind !== 'pod' || victim === undefined) return undefined;
          return {
            message: 'makes room',
            nominations: [{ pod: candidate.pod, nodeName: victim.nodeName }],
            victims: [victim],
          };
        }),
      ],
    });
    for (const name of ['a', 'b']) {
      core.node({ name, cpu: 1 });
      core.pod({ name: `old-${name}`, cpu: 1, nodeName: name });
    }
    core.pod({ name: 'x', cpu: 1, priority: 10 });
    core.picture.core.attempt();
    const first = core.picture.cluster.claimOf('x')!.nodeName;
    core.change(`old-${first}`, { deleting: true });
    core.removeNode(first);
    // Its kubelet is gone with it: the pod stays as it is.
    for (let i = 0; i < 20; i++) {
      core.picture.clock.advance(30_000);
      core.picture.core.attempt();
    }
    expect(new Set(core.picture.evicted).size).toBe(2);
  });
});

describe('the room of a nomination', () => {
  it('is heard of when its pod is next seen as having ended there', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'x', cpu: 1, priority: 10, schedulerName: 'other', nominatedNodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.picture.core.attempt();
    expect(core.states()).toEqual({ 'pod/y': 'unschedulable' });
    core.change('x', { nodeName: 'a', phase: 'Failed' } satisfies Partial<Pod>);
    expect(core.states()).not.toEqual({ 'pod/y': 'unschedulable' });
  });

  it('that the API told of still stands when the time of ours is over', () => {
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
    core.pod({ name: 'x', cpu: 1, priority: 10, nominatedNodeName: 'a' });
    core.picture.core.attempt();
    core.picture.clock.advance(61_000);
    expect(core.picture.cluster.claimOf('x')?.nodeName).toBe('a');
  });
});

describe('after stop', () => {
  it('an event leaves no timer', async () => {
    const core = new Queueing({ plugins: defaultPlugins });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    core.pod({ name: 'y', cpu: 1 });
    core.picture.core.attempt();
    await core.picture.core.stop();
    core.removePod('old');
    expect(core.picture.clock.untilNextTimer()).toBeUndefined();
  });
});
