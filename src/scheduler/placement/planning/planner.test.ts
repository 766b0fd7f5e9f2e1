import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import type { NodeView } from '../../../cluster/node-info.ts';
import { describeDiagnosis, failureIn } from '../../../framework/diagnosis.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Picture } from '../../../testkit/picture.ts';
import { nodesByPod, pictureWith, trial } from '../testing/planning.ts';

/** Refuses every node but the leader's; as long as there is no leader on a node, all of them. */
function nearTheLeader(picture: () => Picture): Plugin {
  return {
    name: 'NearTheLeader',
    readsOtherNodes: true,
    sign: () => '',
    preFilter: (state) => {
      const leader = [...picture().cluster.nodes].find((node) =>
        [...node.pods.values()].some((pod) => pod.labels.role === 'leader'),
      );
      state.write('NearTheLeader/node', leader?.name);
      return undefined;
    },
    filter: (state, pod, node) => {
      if (pod.labels.role === 'leader' || state.read('NearTheLeader/node') === node.name) return undefined;
      return new Status('Unschedulable', 'the leader is not there');
    },
  };
}

describe('a plan', () => {
  it('places the members that fit on the fewest nodes first', () => {
    const picture = pictureWith();
    picture.node({ name: 'big', cpu: 4 });
    picture.node({ name: 'small', cpu: 1 });
    const small = picture.pod({ name: 'small-member', cpu: 1 });
    const large = picture.pod({ name: 'large-member', cpu: 4 });
    const plan = trial(picture, [small, large]);
    expect(plan.placements.map(({ pod }) => pod.name)).toEqual(['large-member', 'small-member']);
    expect(nodesByPod(plan)).toEqual({ 'large-member': 'big', 'small-member': 'small' });
  });

  it('places the larger of two that fit on as many nodes first', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 4 });
    picture.node({ name: 'b', cpu: 4 });
    const members = [picture.pod({ name: 's', cpu: 1 }), picture.pod({ name: 'l', cpu: 3 })];
    expect(trial(picture, members).placements.map(({ pod }) => pod.name)).toEqual(['l', 's']);
  });

  it('stops with as many as are needed', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 8 });
    const plan = trial(picture, picture.pods(5, { name: 'w', cpu: 1 }), 3);
    expect(plan.placements).toHaveLength(3);
    expect(plan.blocked).toBeUndefined();
  });

  it('names the first member that was not placed, and the reason with the siblings where they are', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 2 });
    const { blocked } = trial(picture, picture.pods(3, { name: 'w', cpu: 1 }));
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
    const picture = pictureWith(counting);
    for (let i = 0; i < 10; i++) picture.node({ name: `n${i}`, cpu: 2 });
    const easy = picture.pods(10, { name: 'easy', cpu: 1 });
    const tooLarge = picture.pods(2, { name: 'huge', cpu: 64 });
    const plan = trial(picture, [...easy, ...tooLarge], 11);
    expect(plan.placements).toEqual([]);
    expect(plan.blocked!.pod.name).toBe('huge-0');
    const inVain = filtered;
    filtered = 0;
    trial(picture, easy);
    // What it takes to see how hard the easy ones are, and nothing for placing them.
    expect(inVain).toBeLessThanOrEqual(20);
    expect(filtered).toBeGreaterThanOrEqual(9);
  });

  it('asks a plugin that signs nothing once about a lone pod, and keeps what it wrote on the way', () => {
    const asked: string[] = [];
    let read: unknown;
    const unsigned: Plugin = {
      name: 'Unsigned',
      preFilter: (state) => {
        asked.push('PreFilter');
        state.write('Unsigned/filtered', 1);
        return undefined;
      },
      filter: (_state, _pod, { name }) => void asked.push(`Filter ${name}`),
      preScore: (state) => {
        asked.push('PreScore');
        state.write('Unsigned/scored', 2);
        return undefined;
      },
      score: (_state, _pod, { name }) => asked.push(`Score ${name}`) * 0,
      reserve: (state) => {
        read = [state.read('Unsigned/filtered'), state.read('Unsigned/scored')];
        return undefined;
      },
    };
    const picture = pictureWith(unsigned);
    for (const name of ['a', 'b']) picture.node({ name });
    trial(picture, [picture.pod({ name: 'lone' })]);
    expect(asked).toEqual(['PreFilter', 'Filter a', 'Filter b', 'PreScore', 'Score a', 'Score b']);
    expect(read).toEqual([1, 2]);
  });

  it('begins with the easiest where the hardest have taken the room that more of those could have', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 4 });
    const members = [picture.pod({ name: 'big', cpu: 3 }), ...picture.pods(3, { name: 'small', cpu: '1500m' })];
    expect(nodesByPod(trial(picture, members, 2))).toEqual({ 'small-0': 'a', 'small-1': 'a' });
    // Where even those do not fit, what blocks is what blocked the hardest first.
    const { blocked, placed } = trial(picture, members, 3);
    expect([blocked!.pod.name, placed]).toEqual(['small-0', 1]);
    expect(describeDiagnosis(blocked!)).toBe('0/1 nodes are available: 1 Insufficient cpu.');
  });

  it('begins with the easiest no more than once, and only where that can make a difference', () => {
    let reserved = 0;
    const picture = pictureWith({ name: 'Counting', reserve: () => void reserved++ });
    picture.node({ name: 'a', cpu: 4 });
    const big = picture.pods(2, { name: 'big', cpu: 3 });
    const small = picture.pods(2, { name: 'small', cpu: 2 });
    const reservations = (members: readonly Pod[], needed: number): number => {
      reserved = 0;
      expect(trial(picture, members, needed).blocked).toBeDefined();
      return reserved;
    };
    expect(reservations([...big, ...small], 3)).toBe(1 + 2);
    // All of them are needed, or all are alike.
    expect(reservations([...big, ...small], 4)).toBe(1);
    expect(reservations(big, 2)).toBe(1);
  });

  it('goes on without a member that is not needed', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 2 });
    const members = [picture.pod({ name: 'huge', cpu: 64 }), ...picture.pods(2, { name: 'w', cpu: 1 })];
    expect(Object.keys(nodesByPod(trial(picture, members, 2)))).toEqual(['w-0', 'w-1']);
  });

  it('says which plugins refused any member, placed or not, because siblings compete for room', () => {
    const picture = pictureWith();
    picture.node({ name: 'free', cpu: 2 });
    picture.node({ name: 'tainted', cpu: 1, taints: ['only=small:NoSchedule'] });
    const small = picture.pod({ name: 'small', cpu: 1 });
    const large = picture.pod({ name: 'large', cpu: 2 });
    const plan = trial(picture, [small, large]);
    expect(plan.blocked!.pod.name).toBe('small');
    expect([...plan.refusedBy].sort()).toEqual(['NodeResourcesFit', 'TaintToleration']);
  });

  it('tries again, round after round, members that were refused because of where their siblings were not yet', () => {
    const picture: Picture = pictureWith(nearTheLeader(() => picture));
    for (const name of ['a', 'b', 'c']) picture.node({ name, cpu: 4 });
    const workers = picture.pods(3, { name: 'worker', cpu: 1, labels: { role: 'worker' } });
    const leader = picture.pod({ name: 'leader', cpu: '500m', labels: { role: 'leader' } });
    const plan = trial(picture, [...workers, leader]);
    expect(plan.placements).toHaveLength(4);
    expect(plan.placements[0]!.pod.name).toBe('leader');
    expect(new Set(Object.values(nodesByPod(plan))).size).toBe(1);
  });

  it('tells members apart that are alike on their node but not to a plugin that reads others', () => {
    const picture: Picture = pictureWith(nearTheLeader(() => picture));
    for (const name of ['a', 'b', 'c']) picture.node({ name, cpu: 4 });
    const workers = picture.pods(2, { name: 'worker', cpu: 1, labels: { role: 'worker' } });
    const leader = picture.pod({ name: 'leader', cpu: 1, labels: { role: 'leader' } });
    const plan = trial(picture, [...workers, leader]);
    expect(plan.placements.map(({ pod }) => pod.name)).toEqual(['leader', 'worker-0', 'worker-1']);
    expect(new Set(Object.values(nodesByPod(plan))).size).toBe(1);
  });

  it('ends when a round places nobody, with what blocks then', () => {
    const picture: Picture = pictureWith(nearTheLeader(() => picture));
    for (const name of ['a', 'b']) picture.node({ name, cpu: 2 });
    const workers = picture.pods(2, { name: 'worker', cpu: 1, labels: { role: 'worker' } });
    const leader = picture.pod({ name: 'leader', cpu: 1, labels: { role: 'leader' } });
    const plan = trial(picture, [...workers, leader]);
    expect(plan.placements.map(({ pod }) => pod.name)).toEqual(['leader', 'worker-0']);
    expect(plan.blocked!.pod.name).toBe('worker-1');
    expect(describeDiagnosis(plan.blocked!)).toBe(
      '0/2 nodes are available: 1 Insufficient cpu, 1 the leader is not there.',
    );
  });

  it('asks PreFilter anew after each placement where plugins read other nodes', () => {
    const spread: (picture: () => Picture) => Plugin = (picture) => ({
      name: 'OneANode',
      readsOtherNodes: true,
      preFilter: (state) => {
        const taken = picture().cluster.nodes.filter((node) => node.pods.size > 0);
        state.write('OneANode/taken', new Set(taken.map(({ name }) => name)));
        return undefined;
      },
      filter: (state, _pod, node) =>
        state.read<ReadonlySet<string>>('OneANode/taken')!.has(node.name)
          ? new Status('Unschedulable', 'taken')
          : undefined,
    });
    const picture: Picture = pictureWith(spread(() => picture));
    for (const name of ['a', 'b', 'c']) picture.node({ name, cpu: 8 });
    expect(new Set(Object.values(nodesByPod(trial(picture, picture.pods(3, { name: 'w', cpu: 1 }))))).size).toBe(3);
    expect(trial(picture, picture.pods(4, { name: 'x', cpu: 1 })).blocked!.pod.name).toBe('x-3');
  });

  it('is the same for the same input and seed', () => {
    const planOf = (seed: number): Record<string, string> => {
      const picture = new Picture({ plugins: defaultPlugins, seed });
      for (let i = 0; i < 20; i++) picture.node({ name: `n${i}`, cpu: 4 });
      return nodesByPod(trial(picture, picture.pods(10, { name: 'w', cpu: 2 })));
    };
    expect(planOf(7)).toEqual(planOf(7));
    expect(planOf(7)).not.toEqual(planOf(8));
  });

  it('does not depend on the trials before it', () => {
    const picture = pictureWith();
    picture.node({ name: 'a', cpu: 2 });
    picture.group({ name: 'red', minMember: 3 });
    const members = picture.pods(3, { group: 'red', cpu: 1 });
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(trial(picture, members).blocked!.pod.name).toBe('red-2');
    }
  });
});

describe('Reserve', () => {
  const refusing = (refuses: (node: NodeView) => Status | undefined, unreserved: string[] = []): Plugin => ({
    name: 'Picky',
    reserve: (_state, _pod, node) => refuses(node),
    unreserve: (_state, pod, nodeName) => unreserved.push(`${pod.name} ${nodeName}`),
  });

  it('that refuses a node sends the member to the next best, after Unreserve', () => {
    const unreserved: string[] = [];
    const picture = pictureWith(
      refusing(({ name }) => (name === 'c' ? undefined : new Status('Unschedulable', 'no disk left')), unreserved),
    );
    for (const name of ['a', 'b', 'c']) picture.node({ name, cpu: name === 'c' ? 2 : 8 });
    const [member] = picture.pods(1, { name: 'w', cpu: 1 });
    const transaction = picture.cluster.begin();
    const plan = picture.planner.plan(
      { profile: picture.profile, members: [member!], needed: 1, groupState: undefined },
      transaction,
    );
    expect(nodesByPod(plan)).toEqual({ 'w-0': 'c' });
    expect(unreserved.sort()).toEqual(['w-0 a', 'w-0 b']);
    expect(picture.cluster.nodes.map((node) => node.pods.size)).toEqual([0, 0, 1]);
    transaction.rollback();
  });

  it('that refuses every node is the reason that users and hints get', () => {
    const picture = pictureWith(refusing(() => new Status('Unschedulable', 'no disk left')));
    for (const name of ['a', 'b']) picture.node({ name, cpu: 4 });
    const plan = trial(picture, picture.pods(1, { name: 'w', cpu: 1 }));
    expect(describeDiagnosis(plan.blocked!)).toBe('0/2 nodes are available: 2 no disk left.');
    expect([...plan.refusedBy]).toEqual(['Picky']);
  });

  it('stands for identical members too, when the ranking is built anew', () => {
    let asked = 0;
    const picture = pictureWith(
      refusing(({ name }) => {
        asked++;
        return name === 'a' ? new Status('Unschedulable', 'no disk left') : undefined;
      }),
    );
    const tainted = ['slow:PreferNoSchedule'];
    picture.node({ name: 'a', cpu: 16, taints: tainted });
    picture.node({ name: 'b', cpu: 2, taints: tainted });
    picture.node({ name: 'c', cpu: 2 });
    // When this one, the worst, is full, scores are normalised anew.
    picture.node({ name: 'd', cpu: 1, taints: [...tainted, 'old:PreferNoSchedule'] });
    const plan = trial(picture, picture.pods(6, { name: 'w', cpu: 1 }));
    expect(Object.values(nodesByPod(plan))).toEqual(['c', 'c', 'b', 'b', 'd']);
    expect(asked).toBe(6);
    expect(plan.blocked!.refusal).toMatchObject({
      reasons: new Map([
        ['no disk left', 1],
        ['Insufficient cpu', 3],
      ]),
    });
  });
});

describe('a plugin that fails', () => {
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
  ] as const)('in %s ends the plan and is named', (point, name) => {
    const broken = failing(point);
    const picture = pictureWith({ ...broken, ...(point === 'preScore' && { score: () => 1 }) });
    for (const node of ['a', 'b']) picture.node({ name: node, cpu: 4 });
    const plan = trial(picture, picture.pods(2, { name: 'w', cpu: 1 }));
    expect(failureIn(plan.blocked!)).toMatchObject({
      code: 'Error',
      plugin: 'Broken',
      reasons: [`Broken failed in ${name}: a bug`],
    });
    expect([...plan.refusedBy]).toContain('Broken');
  });

  it('on the node that a member was just placed on ends the plan too', () => {
    const picture = pictureWith({
      name: 'Broken',
      sign: () => '',
      score: (_state, _pod, node) => {
        if (node.pods.size > 0) throw new Error('a bug');
        return 1;
      },
    });
    picture.node({ name: 'a', cpu: 4 });
    const plan = trial(picture, picture.pods(2, { name: 'w', cpu: 1 }));
    expect(failureIn(plan.blocked!)?.message).toBe('Broken failed in Score: a bug');
  });

  it('is not got round by placing the others', () => {
    const picture = pictureWith({
      name: 'Broken',
      sign: ({ name }) => name,
      filter: (_state, pod) => {
        if (pod.name === 'odd') throw new Error('a bug');
        return undefined;
      },
    });
    picture.node({ name: 'a', cpu: 4 });
    const plan = trial(
      picture,
      [picture.pod({ name: 'odd', cpu: 1 }), ...picture.pods(2, { name: 'w', cpu: '1m' })],
      2,
    );
    expect(failureIn(plan.blocked!)?.message).toBe('Broken failed in Filter: a bug');
  });

  it('counts one that scores with something that is no number', () => {
    const picture = pictureWith({ name: 'Broken', sign: () => '', score: () => NaN });
    picture.node({ name: 'a', cpu: 4 });
    const plan = trial(picture, picture.pods(1, { name: 'w', cpu: 1 }));
    expect(failureIn(plan.blocked!)?.message).toBe('Broken failed in Score: a score must be a finite number, not NaN');
  });
});

describe('a PreFilter', () => {
  it('that names nodes keeps the plan to them', () => {
    const picture = pictureWith({ name: 'Choosy', preFilter: () => ({ nodeNames: new Set(['b']) }) });
    for (const name of ['a', 'b']) picture.node({ name, cpu: 2 });
    expect(Object.values(nodesByPod(trial(picture, picture.pods(2, { name: 'w', cpu: 1 }))))).toEqual(['b', 'b']);
    const { blocked } = trial(picture, picture.pods(3, { name: 'x', cpu: 1 }));
    expect(describeDiagnosis(blocked!)).toBe(
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [PreFilter].",
    );
  });

  it('that refuses one of several identical members is the reason for that one', () => {
    const picture = pictureWith({
      name: 'Choosy',
      preFilter: (_state, { name }) => (name === 'w-1' ? new Status('Unschedulable', 'not this one') : undefined),
    });
    picture.node({ name: 'a', cpu: 4 });
    const plan = trial(picture, picture.pods(3, { name: 'w', cpu: 1 }));
    // With two of the three left the plan can no longer be complete.
    expect(Object.keys(nodesByPod(plan))).toEqual(['w-0']);
    expect(plan.blocked).toMatchObject({ pod: { name: 'w-1' }, refusal: { status: { reasons: ['not this one'] } } });
    expect([...plan.refusedBy]).toEqual(['Choosy']);
  });
});

describe('a PreFilter of a plugin that filters nothing', () => {
  const pinning = (signs: boolean): Plugin => ({
    name: 'Pinning',
    ...(signs && { sign: ({ labels }) => labels.pin ?? '' }),
    preFilter: (_state, { labels }) => (labels.pin === undefined ? undefined : { nodeNames: new Set([labels.pin]) }),
  });
  const pinned = (picture: Picture, name: string, pin?: string): Pod =>
    picture.pod({ name, cpu: 1, ...(pin !== undefined && { labels: { pin } }) });

  it.each([
    ['signs', true],
    ['signs nothing', false],
  ])('and %s sends each member to the node that it is pinned to', (_what, signs) => {
    const picture = pictureWith(pinning(signs));
    for (const name of ['a', 'b', 'c']) picture.node({ name, cpu: 2 });
    const members = [pinned(picture, 'x', 'c'), pinned(picture, 'y', 'a'), pinned(picture, 'z', 'c')];
    expect(nodesByPod(trial(picture, members))).toEqual({ x: 'c', y: 'a', z: 'c' });
    expect(nodesByPod(trial(picture, members.toReversed()))).toEqual({ x: 'c', y: 'a', z: 'c' });
  });

  it.each([
    ['signs', true],
    ['signs nothing', false],
  ])('and %s finds no other node for a member whose own is full, and places its siblings', (_what, signs) => {
    const picture = pictureWith(pinning(signs));
    for (const name of ['a', 'b']) picture.node({ name, cpu: 1 });
    const members = [pinned(picture, 'x', 'a'), pinned(picture, 'y', 'a'), pinned(picture, 'z')];
    expect(nodesByPod(trial(picture, members, 2))).toEqual({ x: 'a', z: 'b' });
    expect(trial(picture, members).blocked!.pod.name).toBe('y');
  });

  it('and signs nothing may refuse the first member without refusing the others', () => {
    const picture = pictureWith({
      name: 'Choosy',
      preFilter: (_state, { name }) => (name === 'w-0' ? new Status('Unschedulable', 'not this one') : undefined),
    });
    picture.node({ name: 'a', cpu: 4 });
    const members = picture.pods(3, { name: 'w', cpu: 1 });
    expect(Object.keys(nodesByPod(trial(picture, members, 2)))).toEqual(['w-1', 'w-2']);
    const { blocked, never } = trial(picture, members);
    expect(blocked).toMatchObject({ pod: { name: 'w-0' }, refusal: { status: { reasons: ['not this one'] } } });
    expect(never).toBe(false);
  });

  it('and signs speaks for all members that it signs alike, in one call', () => {
    const asked: string[] = [];
    const picture = pictureWith({
      name: 'Choosy',
      sign: ({ labels }) => labels.tier ?? '',
      preFilter: (_state, { name, labels }) => {
        asked.push(name);
        return labels.tier === 'slow' ? new Status('Unschedulable', 'nothing slow') : undefined;
      },
    });
    picture.node({ name: 'a', cpu: 4 });
    const fast = picture.pods(2, { name: 'fast', cpu: 1 });
    const slow = picture.pods(2, { name: 'slow', cpu: 1, labels: { tier: 'slow' } });
    expect(Object.keys(nodesByPod(trial(picture, [...fast, ...slow])))).toEqual([]);
    expect(Object.keys(nodesByPod(trial(picture, [...fast, ...slow], 2)))).toEqual(['fast-0', 'fast-1']);
    expect(asked).toEqual(['fast-0', 'slow-0', 'fast-0', 'slow-0']);
  });

  it('and signs nothing is asked once about each member', () => {
    const asked: string[] = [];
    const picture = pictureWith({
      name: 'Counting',
      preFilter: (_state, { name }) => void asked.push(name),
    });
    picture.node({ name: 'a', cpu: 4 });
    trial(picture, picture.pods(3, { name: 'w', cpu: 1 }));
    expect(asked).toEqual(['w-0', 'w-1', 'w-2']);
  });
});
