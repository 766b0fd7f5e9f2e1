import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import type { SchedulingEntity } from '../../../framework/scheduling-entity.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { skip, Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { Queueing } from '../../../testkit/queueing.ts';
import { Scheduling } from '../../../testkit/scheduling.ts';

function gangOf(harness: CoreHarness, name: string): SchedulingEntity & { kind: 'gang' } {
  return { kind: 'gang', gang: harness.cluster.gang(`default/${name}`)! };
}

describe('a plan for a gang', () => {
  const leaderOf = (harness: CoreHarness): string | undefined =>
    harness.cluster.nodes.find(({ pods }) => [...pods.values()].some(({ labels }) => labels.role === 'leader'))?.name;

  it('retries members for which PreFilter returned no node at first', () => {
    const withLeader: Plugin = {
      name: 'WithLeader',
      readsOtherNodes: true,
      sign: ({ labels }) => labels.role ?? '',
      preFilter: (_state, { labels }) => {
        if (labels.role === 'leader') return undefined;
        const leader = leaderOf(harness);
        return { nodeNames: new Set(leader === undefined ? [] : [leader]) };
      },
      filter: () => undefined,
    };
    const harness: CoreHarness = new CoreHarness({ plugins: defaultPlugins, extra: [withLeader] });
    harness.node({ name: 'a', cpu: 4 });
    harness.group({ name: 'red', minMember: 2 });
    harness.pod({ name: 'leader', group: 'red', cpu: 1, labels: { role: 'leader' } });
    harness.pod({ name: 'worker', group: 'red', cpu: 2, labels: { role: 'worker' } });
    expect(harness.core.dryRun(gangOf(harness, 'red')).fits).toBe(true);
  });

  it.each([
    ['worker-0', 'worker-1'],
    ['worker-1', 'worker-0'],
  ])('retries %s although %s of the same pod class is rejected for good', (_good, bad) => {
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
        labels.role !== 'leader' && leaderOf(harness) === undefined
          ? new Status('Unschedulable', 'the leader has no node yet')
          : undefined,
      filter: () => undefined,
    };
    const harness: CoreHarness = new CoreHarness({ plugins: defaultPlugins, extra: [quota, after] });
    harness.node({ name: 'a', cpu: 4 });
    harness.group({ name: 'red', minMember: 2 });
    harness.pod({ name: 'leader', group: 'red', cpu: 1, labels: { role: 'leader' } });
    for (const name of ['worker-0', 'worker-1'])
      harness.pod({ name, group: 'red', cpu: 2, labels: { role: 'worker' } });
    const { fits, blocked } = harness.core.dryRun(gangOf(harness, 'red'));
    expect([fits, blocked?.rejection]).toEqual([true, undefined]);
  });

  it('reports a reason that belongs to the member that it names', () => {
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
    const harness: CoreHarness = new CoreHarness({ plugins: defaultPlugins, extra: [quota, unsigned] });
    harness.node({ name: 'a', cpu: 4 });
    harness.group({ name: 'red', minMember: 2 });
    for (const name of ['w-0', 'w-1']) harness.pod({ name, group: 'red', cpu: 1 });
    const { blocked } = harness.core.dryRun(gangOf(harness, 'red'));
    expect(JSON.stringify(blocked!.rejection)).toContain(blocked!.pod.name);
  });

  it('does not apply a Skip for one member to the members after it', () => {
    /** Skips while exactly one pod is placed; otherwise rejects nodes with a pod. */
    const odd: Plugin = {
      name: 'Odd',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: (state) => {
        const nodes = harness.cluster.nodes.filter(({ pods }) => pods.size > 0).map(({ name }) => name);
        const count = harness.cluster.nodes.reduce((sum, { pods }) => sum + pods.size, 0);
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
    const harness: CoreHarness = new CoreHarness({ plugins: defaultPlugins, extra: [odd] });
    harness.node({ name: 'a', cpu: 64 });
    harness.node({ name: 'b', cpu: 3 });
    harness.node({ name: 'c', cpu: 3 });
    harness.group({ name: 'red', minMember: 3 });
    harness.pods(3, { group: 'red', cpu: 1 });
    const { plan } = harness.core.dryRun(gangOf(harness, 'red'));
    // The third member must not share a node with another.
    const last = plan[2]!.nodeName;
    expect(plan.slice(0, 2).map(({ nodeName }) => nodeName)).not.toContain(last);
  });

  it('reports a plugin that rejects a single member of another pod class, so that its event requeues the gang', () => {
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
    const result = core.harness.core.attempt();
    expect(result).toMatchObject({ kind: 'rejected' });
    used = false;
    core.pod({ name: 'other', nodeName: 'a' });
    expect(core.states()).not.toEqual({ 'gang/default/red': 'unschedulable' });
  });

  it('reports the plugins that reject members after PreFilter rejected these members at first', () => {
    const after: Plugin = {
      name: 'AfterLeader',
      readsOtherNodes: true,
      sign: ({ labels }) => labels.role ?? '',
      preFilter: (_state, { labels }) =>
        labels.role !== 'leader' && leaderOf(core.harness) === undefined
          ? new Status('Unschedulable', 'the leader has no node yet')
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
    expect(core.harness.core.attempt()!.kind).toBe('rejected');
    core.removePod('old');
    expect(core.states()).not.toEqual({ 'gang/default/red': 'unschedulable' });
  });

  it('runs no Filter if PreFilter rejects the gang as a whole', () => {
    let filtered = 0;
    const counting: Plugin = { name: 'Counting', sign: () => '', filter: () => void filtered++ };
    const core = new Queueing({ plugins: defaultPlugins, extra: [counting] });
    for (let i = 0; i < 50; i++) core.node({ name: `n${i}`, cpu: 1 });
    core.group({ name: 'red', minMember: 2, minResources: { cpu: '1000' } });
    core.members(2, { group: 'red', cpu: 1 });
    core.harness.core.attempt();
    expect(filtered).toBe(0);
  });
});

describe('members of one pod class', () => {
  it('are filtered by a plugin that skipped them before a sibling was placed', () => {
    /** Keeps followers off nodes with a leader. Skips while there is no leader, as kube-scheduler's plugins do. */
    const planWith = (options: { keepsUp: boolean }): Record<string, string> => {
      const apart: Plugin = {
        name: 'Apart',
        readsOtherNodes: true,
        sign: ({ labels }) => labels.role ?? '',
        preFilter: (state, pod) => {
          const taken = new Set(
            harness.cluster.nodes
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
        ...(options.keepsUp && {
          preFilterAddPod: (state, _pod, added, node) => {
            if (added.labels.role === 'leader') state.read<Set<string>>('Apart/taken')!.add(node.name);
            return undefined;
          },
          preFilterRemovePod: () => undefined,
        }),
      };
      const harness: CoreHarness = new CoreHarness({ plugins: defaultPlugins, extra: [apart] });
      harness.node({ name: 'a', cpu: 16 });
      harness.node({ name: 'b', cpu: 1 });
      harness.group({ name: 'red', minMember: 2 });
      harness.pod({ name: 'leader', group: 'red', cpu: 3, labels: { role: 'leader' } });
      harness.pod({ name: 'worker', group: 'red', cpu: 1, labels: { role: 'worker' } });
      const { plan } = harness.core.dryRun(gangOf(harness, 'red'));
      return Object.fromEntries(plan.map(({ pod, nodeName }) => [pod.name, nodeName]));
    };
    expect(planWith({ keepsUp: false })).toEqual({ leader: 'a', worker: 'b' });
    expect(planWith({ keepsUp: true })).toEqual({ leader: 'a', worker: 'b' });
  });

  it.each([
    [true, true],
    [true, false],
    [false, false],
  ])(
    'find a node once a sibling is placed, if PreFilter rejects them until then (signed: %s, notified: %s)',
    (signs, reported) => {
      const leaderOf = (): string | undefined =>
        harness.cluster.nodes.find(({ pods }) => [...pods.values()].some(({ labels }) => labels.role === 'leader'))
          ?.name;
      const after: Plugin = {
        name: 'AfterLeader',
        readsOtherNodes: true,
        ...(signs && { sign: ({ labels }: Pod) => labels.role ?? '' }),
        preFilter: (_state, { labels }) =>
          labels.role !== 'leader' && leaderOf() === undefined
            ? new Status('Unschedulable', 'the leader has no node yet')
            : undefined,
        filter: () => undefined,
        ...(reported && { preFilterAddPod: () => undefined, preFilterRemovePod: () => undefined }),
      };
      const harness: CoreHarness = new CoreHarness({ plugins: defaultPlugins, extra: [after] });
      harness.node({ name: 'a', cpu: 4 });
      harness.group({ name: 'red', minMember: 2 });
      harness.pod({ name: 'leader', group: 'red', cpu: 1, labels: { role: 'leader' } });
      harness.pod({ name: 'worker', group: 'red', cpu: 1, labels: { role: 'worker' } });
      expect(harness.core.dryRun(gangOf(harness, 'red')).fits).toBe(true);
    },
  );

  // A plugin with AddPod reports changes through Filter, so that combination is not here.
  it.each([
    [true, false],
    [false, false],
  ])('go to the node that PreFilter returns when their turn comes (signed: %s, notified: %s)', (signs, reported) => {
    const leaderOf = (): string | undefined =>
      harness.cluster.nodes.find(({ pods }) => [...pods.values()].some(({ labels }) => labels.role === 'leader'))?.name;
    const withLeader: Plugin = {
      name: 'WithLeader',
      readsOtherNodes: true,
      ...(signs && { sign: ({ labels }: Pod) => labels.role ?? '' }),
      preFilter: (_state, { labels }) => {
        const leader = leaderOf();
        return labels.role === 'leader' || leader === undefined ? undefined : { nodeNames: new Set([leader]) };
      },
      filter: () => undefined,
      ...(reported && { preFilterAddPod: () => undefined, preFilterRemovePod: () => undefined }),
    };
    const harness: CoreHarness = new CoreHarness({ plugins: defaultPlugins, extra: [withLeader] });
    harness.node({ name: 'a', cpu: 4 });
    harness.node({ name: 'b', cpu: 3 });
    harness.group({ name: 'red', minMember: 2 });
    harness.pod({ name: 'leader', group: 'red', cpu: 2, labels: { role: 'leader' } });
    harness.pod({ name: 'worker', group: 'red', cpu: 2, labels: { role: 'worker' } });
    const { plan } = harness.core.dryRun(gangOf(harness, 'red'));
    expect(new Set(plan.map(({ nodeName }) => nodeName))).toEqual(new Set(['a']));
  });

  it('keep what a plugin stores in Reserve, each in the state from its own PreFilter', async () => {
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

  it('are not rejected because a reservation counts twice, if a plugin has AddPod but no RemovePod', () => {
    const atMostTwo: Plugin = {
      name: 'AtMostTwo',
      readsOtherNodes: true,
      sign: () => '',
      preFilter: (state) => {
        const count = [...harness.cluster.pods()].filter((pod) => harness.cluster.nodeOf(pod) !== undefined).length;
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
    const harness: CoreHarness = new CoreHarness({ plugins: defaultPlugins, extra: [atMostTwo] });
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: 4 });
    harness.pod({ name: 'nominee', cpu: 1, nominatedNodeName: 'a', priority: 5 });
    harness.group({ name: 'red', minMember: 2 });
    harness.pods(2, { group: 'red', cpu: 1 });
    expect(harness.core.dryRun(gangOf(harness, 'red')).fits).toBe(true);
  });
});

describe('a plugin failure', () => {
  it.each([true, false])(
    'in PreFilter of the second member ends the plan too (identical to all plugins: %s)',
    (isUniform) => {
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
      expect(core.harness.core.attempt()).toMatchObject({ failure: { error: true } });
    },
  );

  it('in PreFilter of the first member ends the plan even if the second is only rejected', () => {
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
    expect(core.harness.core.attempt()).toMatchObject({ failure: { error: true } });
  });
});

describe('a Score plugin that sometimes skips', () => {
  it('causes no Filter calls for nodes that have not changed', () => {
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
    for (let i = 0; i < 20; i++) core.harness.core.attempt();
    expect(filtered).toBeLessThan(400);
  });
});

describe('a rejection without a reason', () => {
  it('does not read as if the cluster had no nodes', () => {
    const silent: Plugin = { name: 'Silent', sign: () => '', filter: () => new Status('Unschedulable', []) };
    const core = new Queueing({ plugins: defaultPlugins, extra: [silent] });
    core.node({ name: 'a', cpu: 1 });
    core.pod({ name: 'x', cpu: 1 });
    const result = core.harness.core.attempt();
    expect(result).toMatchObject({ verdict: { message: expect.not.stringContaining('no nodes are known') as string } });
  });
});
