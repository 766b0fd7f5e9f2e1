import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import type { NodeView } from '../../../cluster/node-info.ts';
import { describeDiagnosis, failureIn } from '../../../framework/diagnosis.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { nodesByPod, harnessWith, dryRun } from '../testing/planning.ts';

/** Rejects every node except the leader's; rejects all nodes while the leader has none. */
function nearTheLeader(harness: () => CoreHarness): Plugin {
  return {
    name: 'NearTheLeader',
    readsOtherNodes: true,
    sign: () => '',
    preFilter: (state) => {
      const leader = [...harness().cluster.nodes].find((node) =>
        [...node.pods.values()].some((pod) => pod.labels.role === 'leader'),
      );
      state.write('NearTheLeader/node', leader?.name);
      return undefined;
    },
    filter: (state, pod, node) => {
      if (pod.labels.role === 'leader' || state.read('NearTheLeader/node') === node.name) return undefined;
      return new Status('Unschedulable', 'no leader on this node');
    },
  };
}

describe('a plan', () => {
  it('places the members that fit on the fewest nodes first', () => {
    const harness = harnessWith();
    harness.node({ name: 'big', cpu: 4 });
    harness.node({ name: 'small', cpu: 1 });
    const small = harness.pod({ name: 'small-member', cpu: 1 });
    const large = harness.pod({ name: 'large-member', cpu: 4 });
    const plan = dryRun(harness, [small, large]);
    expect(plan.assignments.map(({ pod }) => pod.name)).toEqual(['large-member', 'small-member']);
    expect(nodesByPod(plan)).toEqual({ 'large-member': 'big', 'small-member': 'small' });
  });

  it('places the larger of two members first if both fit on equally many nodes', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 4 });
    harness.node({ name: 'b', cpu: 4 });
    const members = [harness.pod({ name: 's', cpu: 1 }), harness.pod({ name: 'l', cpu: 3 })];
    expect(dryRun(harness, members).assignments.map(({ pod }) => pod.name)).toEqual(['l', 's']);
  });

  it('stops when enough members are placed', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 8 });
    const plan = dryRun(harness, harness.pods(5, { name: 'w', cpu: 1 }), 3);
    expect(plan.assignments).toHaveLength(3);
    expect(plan.blocked).toBeUndefined();
  });

  it("names the first member without a node, and the reason in view of its siblings' nodes", () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    const { blocked } = dryRun(harness, harness.pods(3, { name: 'w', cpu: 1 }));
    expect(blocked!.pod.name).toBe('w-2');
    expect(describeDiagnosis(blocked!)).toBe('0/1 nodes are available: 1 Insufficient cpu.');
  });

  it('stops as soon as the quorum cannot be reached', () => {
    let filtered = 0;
    const counting: Plugin = {
      name: 'Counting',
      sign: () => '',
      filter: () => {
        filtered++;
        return undefined;
      },
    };
    const harness = harnessWith(counting);
    for (let i = 0; i < 10; i++) harness.node({ name: `n${i}`, cpu: 2 });
    const easy = harness.pods(10, { name: 'easy', cpu: 1 });
    const tooLarge = harness.pods(2, { name: 'huge', cpu: 64 });
    const plan = dryRun(harness, [...easy, ...tooLarge], 11);
    expect(plan.assignments).toEqual([]);
    expect(plan.blocked!.pod.name).toBe('huge-0');
    const filteredInVain = filtered;
    filtered = 0;
    dryRun(harness, easy);
    // It may call Filter to order the easy members, but not to place them.
    expect(filteredInVain).toBeLessThanOrEqual(20);
    expect(filtered).toBeGreaterThanOrEqual(9);
  });

  it('calls a plugin that signs nothing once for a single pod, and keeps the state that it wrote on the way', () => {
    const calls: string[] = [];
    let read: unknown;
    const unsigned: Plugin = {
      name: 'Unsigned',
      preFilter: (state) => {
        calls.push('PreFilter');
        state.write('Unsigned/filtered', 1);
        return undefined;
      },
      filter: (_state, _pod, { name }) => void calls.push(`Filter ${name}`),
      preScore: (state) => {
        calls.push('PreScore');
        state.write('Unsigned/scored', 2);
        return undefined;
      },
      score: (_state, _pod, { name }) => calls.push(`Score ${name}`) * 0,
      reserve: (state) => {
        read = [state.read('Unsigned/filtered'), state.read('Unsigned/scored')];
        return undefined;
      },
    };
    const harness = harnessWith(unsigned);
    for (const name of ['a', 'b']) harness.node({ name });
    dryRun(harness, [harness.pod({ name: 'lone' })]);
    expect(calls).toEqual(['PreFilter', 'Filter a', 'Filter b', 'PreScore', 'Score a', 'Score b']);
    expect(read).toEqual([1, 2]);
  });

  it('retries with the easiest first if the hardest members take capacity that more of the easy ones could share', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 4 });
    const members = [harness.pod({ name: 'big', cpu: 3 }), ...harness.pods(3, { name: 'small', cpu: '1500m' })];
    expect(nodesByPod(dryRun(harness, members, 2))).toEqual({ 'small-0': 'a', 'small-1': 'a' });
    // If no strategy places enough, the plan reports what blocked the one that placed most.
    const { blocked, placed } = dryRun(harness, members, 3);
    expect([blocked!.pod.name, placed]).toEqual(['small-2', 2]);
    expect(describeDiagnosis(blocked!)).toBe('0/1 nodes are available: 1 Insufficient cpu.');
  });

  it('reports a plugin failure in the retry with the easiest first', () => {
    const broken = (pod: Pod): undefined => {
      if (pod.name === 'small-1') throw new Error('a bug');
    };
    const harness = harnessWith({ name: 'Broken', reserve: (_state, pod) => broken(pod) });
    harness.node({ name: 'a', cpu: 4 });
    const members = [harness.pod({ name: 'big', cpu: 3 }), ...harness.pods(3, { name: 'small', cpu: '1500m' })];
    const { blocked, assignments } = dryRun(harness, members, 3);
    expect(failureIn(blocked!)?.message).toBe('Broken failed in Reserve: a bug');
    expect(assignments.map(({ pod }) => pod.name)).toEqual(['small-0']);
  });

  it('retries with the easiest first at most once, and only if that can make a difference', () => {
    let reserved = 0;
    const harness = harnessWith({ name: 'Counting', reserve: () => void reserved++ });
    harness.node({ name: 'a', cpu: 4 });
    const big = harness.pods(2, { name: 'big', cpu: 3 });
    const small = harness.pods(2, { name: 'small', cpu: 2 });
    const reservations = (members: readonly Pod[], needed: number): number => {
      reserved = 0;
      expect(dryRun(harness, members, needed).blocked).toBeDefined();
      return reserved;
    };
    expect(reservations([...big, ...small], 3)).toBe(1 + 2);
    // All members are needed, or all are identical.
    expect(reservations([...big, ...small], 4)).toBe(1);
    expect(reservations(big, 2)).toBe(1);
  });

  it('continues without a member that is not needed', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    const members = [harness.pod({ name: 'huge', cpu: 64 }), ...harness.pods(2, { name: 'w', cpu: 1 })];
    expect(Object.keys(nodesByPod(dryRun(harness, members, 2)))).toEqual(['w-0', 'w-1']);
  });

  it('reports the plugins that rejected any member, placed or not, because siblings compete for capacity', () => {
    const harness = harnessWith();
    harness.node({ name: 'free', cpu: 2 });
    harness.node({ name: 'tainted', cpu: 1, taints: ['only=small:NoSchedule'] });
    const small = harness.pod({ name: 'small', cpu: 1 });
    const large = harness.pod({ name: 'large', cpu: 2 });
    const plan = dryRun(harness, [small, large]);
    expect(plan.blocked!.pod.name).toBe('small');
    expect([...plan.unschedulablePlugins].sort()).toEqual(['NodeResourcesFit', 'TaintToleration']);
  });

  it('retries members, round after round, that were rejected because their siblings had no node yet', () => {
    const harness: CoreHarness = harnessWith(nearTheLeader(() => harness));
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: 4 });
    const workers = harness.pods(3, { name: 'worker', cpu: 1, labels: { role: 'worker' } });
    const leader = harness.pod({ name: 'leader', cpu: '500m', labels: { role: 'leader' } });
    const plan = dryRun(harness, [...workers, leader]);
    expect(plan.assignments).toHaveLength(4);
    expect(plan.assignments[0]!.pod.name).toBe('leader');
    expect(new Set(Object.values(nodesByPod(plan))).size).toBe(1);
  });

  it('distinguishes members that node-local plugins treat alike but a plugin that reads other nodes does not', () => {
    const harness: CoreHarness = harnessWith(nearTheLeader(() => harness));
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: 4 });
    const workers = harness.pods(2, { name: 'worker', cpu: 1, labels: { role: 'worker' } });
    const leader = harness.pod({ name: 'leader', cpu: 1, labels: { role: 'leader' } });
    const plan = dryRun(harness, [...workers, leader]);
    expect(plan.assignments.map(({ pod }) => pod.name)).toEqual(['leader', 'worker-0', 'worker-1']);
    expect(new Set(Object.values(nodesByPod(plan))).size).toBe(1);
  });

  it('ends when a round places no member, with the reason at that time', () => {
    const harness: CoreHarness = harnessWith(nearTheLeader(() => harness));
    for (const name of ['a', 'b']) harness.node({ name, cpu: 2 });
    const workers = harness.pods(2, { name: 'worker', cpu: 1, labels: { role: 'worker' } });
    const leader = harness.pod({ name: 'leader', cpu: 1, labels: { role: 'leader' } });
    const plan = dryRun(harness, [...workers, leader]);
    expect(plan.assignments.map(({ pod }) => pod.name)).toEqual(['leader', 'worker-0']);
    expect(plan.blocked!.pod.name).toBe('worker-1');
    expect(describeDiagnosis(plan.blocked!)).toBe(
      '0/2 nodes are available: 1 Insufficient cpu, 1 no leader on this node.',
    );
  });

  it('runs PreFilter again after each placement if plugins read other nodes', () => {
    const spread: (harness: () => CoreHarness) => Plugin = (harness) => ({
      name: 'OnePerNode',
      readsOtherNodes: true,
      preFilter: (state) => {
        const taken = harness().cluster.nodes.filter((node) => node.pods.size > 0);
        state.write('OnePerNode/taken', new Set(taken.map(({ name }) => name)));
        return undefined;
      },
      filter: (state, _pod, node) =>
        state.read<ReadonlySet<string>>('OnePerNode/taken')!.has(node.name)
          ? new Status('Unschedulable', 'taken')
          : undefined,
    });
    const harness: CoreHarness = harnessWith(spread(() => harness));
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: 8 });
    expect(new Set(Object.values(nodesByPod(dryRun(harness, harness.pods(3, { name: 'w', cpu: 1 }))))).size).toBe(3);
    expect(dryRun(harness, harness.pods(4, { name: 'x', cpu: 1 })).blocked!.pod.name).toBe('x-3');
  });

  it('is the same for the same input and seed', () => {
    const planOf = (seed: number): Record<string, string> => {
      const harness = new CoreHarness({ plugins: defaultPlugins, seed });
      for (let i = 0; i < 20; i++) harness.node({ name: `n${i}`, cpu: 4 });
      return nodesByPod(dryRun(harness, harness.pods(10, { name: 'w', cpu: 2 })));
    };
    expect(planOf(7)).toEqual(planOf(7));
    expect(planOf(7)).not.toEqual(planOf(8));
  });

  it('does not depend on earlier dry runs', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    harness.group({ name: 'red', minMember: 3 });
    const members = harness.pods(3, { group: 'red', cpu: 1 });
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(dryRun(harness, members).blocked!.pod.name).toBe('red-2');
    }
  });
});

describe('Reserve', () => {
  const rejecting = (rejects: (node: NodeView) => Status | undefined, unreserved: string[] = []): Plugin => ({
    name: 'Picky',
    reserve: (_state, _pod, node) => rejects(node),
    unreserve: (_state, pod, nodeName) => unreserved.push(`${pod.name} ${nodeName}`),
  });

  it('moves the member to the next best node when it rejects one, after Unreserve', () => {
    const unreserved: string[] = [];
    const harness = harnessWith(
      rejecting(({ name }) => (name === 'c' ? undefined : new Status('Unschedulable', 'no disk left')), unreserved),
    );
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: name === 'c' ? 2 : 8 });
    const [member] = harness.pods(1, { name: 'w', cpu: 1 });
    const transaction = harness.cluster.begin();
    const plan = harness.planner.plan(
      { profile: harness.profile, members: [member!], needed: 1, groupState: undefined },
      transaction,
    );
    expect(nodesByPod(plan)).toEqual({ 'w-0': 'c' });
    expect(unreserved.sort()).toEqual(['w-0 a', 'w-0 b']);
    expect(harness.cluster.nodes.map((node) => node.pods.size)).toEqual([0, 0, 1]);
    transaction.rollback();
  });

  it('is the reason that users and hints get when it rejects every node', () => {
    const harness = harnessWith(rejecting(() => new Status('Unschedulable', 'no disk left')));
    for (const name of ['a', 'b']) harness.node({ name, cpu: 4 });
    const plan = dryRun(harness, harness.pods(1, { name: 'w', cpu: 1 }));
    expect(describeDiagnosis(plan.blocked!)).toBe('0/2 nodes are available: 2 no disk left.');
    expect([...plan.unschedulablePlugins]).toEqual(['Picky']);
  });

  it('rejects a node for identical members too, even if the ranking is built again', () => {
    let calls = 0;
    const harness = harnessWith(
      rejecting(({ name }) => {
        calls++;
        return name === 'a' ? new Status('Unschedulable', 'no disk left') : undefined;
      }),
    );
    const tainted = ['slow:PreferNoSchedule'];
    harness.node({ name: 'a', cpu: 16, taints: tainted });
    harness.node({ name: 'b', cpu: 2, taints: tainted });
    harness.node({ name: 'c', cpu: 2 });
    // When this worst node is full, the scores are normalized again.
    harness.node({ name: 'd', cpu: 1, taints: [...tainted, 'old:PreferNoSchedule'] });
    const plan = dryRun(harness, harness.pods(6, { name: 'w', cpu: 1 }));
    expect(Object.values(nodesByPod(plan))).toEqual(['c', 'c', 'b', 'b', 'd']);
    expect(calls).toBe(6);
    expect(describeDiagnosis(plan.blocked!)).toBe('0/4 nodes are available: 1 no disk left, 3 Insufficient cpu.');
  });
});

describe('a plugin failure', () => {
  const failing = (point: 'preFilter' | 'filter' | 'preScore' | 'score' | 'normalizeScore' | 'reserve'): Plugin => ({
    name: 'Broken',
    sign: () => '',
    ...(point === 'normalizeScore' && { score: () => 1 }),
    [point]: () => {
      throw new Error('a bug');
    },
  });

  it.each([
    ['preFilter', 'PreFilter'],
    ['filter', 'Filter'],
    ['preScore', 'PreScore'],
    ['score', 'Score'],
    ['normalizeScore', 'NormalizeScore'],
    ['reserve', 'Reserve'],
  ] as const)('in %s ends the plan with an error that names the plugin', (point, name) => {
    const broken = failing(point);
    const harness = harnessWith({ ...broken, ...(point === 'preScore' && { score: () => 1 }) });
    for (const node of ['a', 'b']) harness.node({ name: node, cpu: 4 });
    const plan = dryRun(harness, harness.pods(2, { name: 'w', cpu: 1 }));
    expect(failureIn(plan.blocked!)).toMatchObject({
      code: 'Error',
      plugin: 'Broken',
      reasons: [`Broken failed in ${name}: a bug`],
    });
    expect([...plan.unschedulablePlugins]).toContain('Broken');
  });

  it('on the node where a member was just placed ends the plan too', () => {
    const harness = harnessWith({
      name: 'Broken',
      sign: () => '',
      score: (_state, _pod, node) => {
        if (node.pods.size > 0) throw new Error('a bug');
        return 1;
      },
    });
    harness.node({ name: 'a', cpu: 4 });
    const plan = dryRun(harness, harness.pods(2, { name: 'w', cpu: 1 }));
    expect(failureIn(plan.blocked!)?.message).toBe('Broken failed in Score: a bug');
  });

  it('is not ignored in favor of placing other members', () => {
    const harness = harnessWith({
      name: 'Broken',
      sign: ({ name }) => name,
      filter: (_state, pod) => {
        if (pod.name === 'odd') throw new Error('a bug');
        return undefined;
      },
    });
    harness.node({ name: 'a', cpu: 4 });
    const plan = dryRun(
      harness,
      [harness.pod({ name: 'odd', cpu: 1 }), ...harness.pods(2, { name: 'w', cpu: '1m' })],
      2,
    );
    expect(failureIn(plan.blocked!)?.message).toBe('Broken failed in Filter: a bug');
  });

  it('includes a score that is not a number', () => {
    const harness = harnessWith({ name: 'Broken', sign: () => '', score: () => NaN });
    harness.node({ name: 'a', cpu: 4 });
    const plan = dryRun(harness, harness.pods(1, { name: 'w', cpu: 1 }));
    expect(failureIn(plan.blocked!)?.message).toBe('Broken failed in Score: a score must be a finite number, not NaN');
  });
});

describe('a PreFilter plugin', () => {
  it('that returns node names restricts the plan to them', () => {
    const harness = harnessWith({ name: 'Choosy', preFilter: () => ({ nodeNames: new Set(['b']) }) });
    for (const name of ['a', 'b']) harness.node({ name, cpu: 2 });
    expect(Object.values(nodesByPod(dryRun(harness, harness.pods(2, { name: 'w', cpu: 1 }))))).toEqual(['b', 'b']);
    const { blocked } = dryRun(harness, harness.pods(3, { name: 'x', cpu: 1 }));
    expect(describeDiagnosis(blocked!)).toBe(
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [PreFilter].",
    );
  });

  it('that rejects one of several identical members is the reason for that member', () => {
    const harness = harnessWith({
      name: 'Choosy',
      preFilter: (_state, { name }) => (name === 'w-1' ? new Status('Unschedulable', 'not this one') : undefined),
    });
    harness.node({ name: 'a', cpu: 4 });
    const plan = dryRun(harness, harness.pods(3, { name: 'w', cpu: 1 }));
    // Without this member the plan cannot be complete.
    expect(Object.keys(nodesByPod(plan))).toEqual(['w-0']);
    expect(plan.blocked).toMatchObject({ pod: { name: 'w-1' }, rejection: { status: { reasons: ['not this one'] } } });
    expect([...plan.unschedulablePlugins]).toEqual(['Choosy']);
  });
});

describe('a PreFilter plugin without Filter', () => {
  const pinning = (signs: boolean): Plugin => ({
    name: 'Pinning',
    ...(signs && { sign: ({ labels }) => labels.pin ?? '' }),
    preFilter: (_state, { labels }) => (labels.pin === undefined ? undefined : { nodeNames: new Set([labels.pin]) }),
  });
  const pinned = (harness: CoreHarness, name: string, pin?: string): Pod =>
    harness.pod({ name, cpu: 1, ...(pin !== undefined && { labels: { pin } }) });

  it.each([
    ['signs', true],
    ['signs nothing', false],
  ])('that %s sends each member to the node that it is pinned to', (_what, signs) => {
    const harness = harnessWith(pinning(signs));
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: 2 });
    const members = [pinned(harness, 'x', 'c'), pinned(harness, 'y', 'a'), pinned(harness, 'z', 'c')];
    expect(nodesByPod(dryRun(harness, members))).toEqual({ x: 'c', y: 'a', z: 'c' });
    expect(nodesByPod(dryRun(harness, members.toReversed()))).toEqual({ x: 'c', y: 'a', z: 'c' });
  });

  it.each([
    ['signs', true],
    ['signs nothing', false],
  ])('that %s leaves a member without a node if its own is full, and places its siblings', (_what, signs) => {
    const harness = harnessWith(pinning(signs));
    for (const name of ['a', 'b']) harness.node({ name, cpu: 1 });
    const members = [pinned(harness, 'x', 'a'), pinned(harness, 'y', 'a'), pinned(harness, 'z')];
    expect(nodesByPod(dryRun(harness, members, 2))).toEqual({ x: 'a', z: 'b' });
    expect(dryRun(harness, members).blocked!.pod.name).toBe('y');
  });

  it('that signs nothing may reject the first member without rejecting the others', () => {
    const harness = harnessWith({
      name: 'Choosy',
      preFilter: (_state, { name }) => (name === 'w-0' ? new Status('Unschedulable', 'not this one') : undefined),
    });
    harness.node({ name: 'a', cpu: 4 });
    const members = harness.pods(3, { name: 'w', cpu: 1 });
    expect(Object.keys(nodesByPod(dryRun(harness, members, 2)))).toEqual(['w-1', 'w-2']);
    const { blocked, never } = dryRun(harness, members);
    expect(blocked).toMatchObject({ pod: { name: 'w-0' }, rejection: { status: { reasons: ['not this one'] } } });
    expect(never).toBe(false);
  });

  it('that signs runs once for all members with the same signature', () => {
    const calls: string[] = [];
    const harness = harnessWith({
      name: 'Choosy',
      sign: ({ labels }) => labels.tier ?? '',
      preFilter: (_state, { name, labels }) => {
        calls.push(name);
        return labels.tier === 'slow' ? new Status('Unschedulable', 'nothing slow') : undefined;
      },
    });
    harness.node({ name: 'a', cpu: 4 });
    const fast = harness.pods(2, { name: 'fast', cpu: 1 });
    const slow = harness.pods(2, { name: 'slow', cpu: 1, labels: { tier: 'slow' } });
    expect(Object.keys(nodesByPod(dryRun(harness, [...fast, ...slow])))).toEqual([]);
    expect(Object.keys(nodesByPod(dryRun(harness, [...fast, ...slow], 2)))).toEqual(['fast-0', 'fast-1']);
    expect(calls).toEqual(['fast-0', 'slow-0', 'fast-0', 'slow-0']);
  });

  it('that signs nothing runs once for each member', () => {
    const calls: string[] = [];
    const harness = harnessWith({
      name: 'Counting',
      preFilter: (_state, { name }) => void calls.push(name),
    });
    harness.node({ name: 'a', cpu: 4 });
    dryRun(harness, harness.pods(3, { name: 'w', cpu: 1 }));
    expect(calls).toEqual(['w-0', 'w-1', 'w-2']);
  });
});
