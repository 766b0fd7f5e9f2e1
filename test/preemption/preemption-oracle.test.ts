import { describe, expect, it } from 'vitest';
import { runs } from '../../src/base/testing/runs.ts';
import { drawInstance } from './draw-instance.ts';
import { families } from './families.ts';
import type { Instance } from './instance.ts';
import { judgeAnswer, mustNotHappen } from './judge-answer.ts';
import type { Judgment } from './judge-answer.ts';
import { measurePreemption } from './measure-preemption.ts';
import { PlainCluster } from './plain-cluster.ts';
import type { MemberNodes } from './plain-cluster.ts';
import { preemptInstance } from './preempt-instance.ts';
import type { Answer } from './preempt-instance.ts';
import { VictimSets } from './victim-sets.ts';

/** Returns whether the preemptor fits; tries every node, and none, for every member. */
function fitsByForce(instance: Instance, cluster: PlainCluster, plan: MemberNodes = new Map(), member = 0): boolean {
  if (member === instance.members.length) return plan.size >= instance.needed && cluster.takes(plan);
  return (
    instance.nodes.some((_, node) => fitsByForce(instance, cluster, new Map([...plan, [member, node]]), member + 1)) ||
    fitsByForce(instance, cluster, plan, member + 1)
  );
}

describe.each(families)('preemption by $name', (family) => {
  it('PE42 - is never in vain, never missed, and evicts no pod that could stay', async () => {
    const { counts, seeds } = await measurePreemption(family, 1, runs(300));
    expect(mustNotHappen.filter((name) => seeds[name].length > 0).map((name) => [name, seeds[name]])).toEqual([]);
    expect(Math.min(counts.preempts, counts.rejected)).toBeGreaterThan(0);
  });
});

describe('the exhaustive search', () => {
  it.each(families)('finds for $name what trying every node for every member finds', (family) => {
    const counts = { fits: 0, none: 0 };
    for (let seed = 1; seed <= runs(40); seed++) {
      const instance = drawInstance(family, seed);
      const sets = new VictimSets(instance);
      const set = sets.all.at(-1 - (seed % sets.all.length))!;
      const cluster = new PlainCluster(instance, (pod) => (set.mask & (1 << pod)) !== 0);
      const fits = fitsByForce(instance, cluster);
      counts[fits ? 'fits' : 'none']++;
      expect([seed, sets.suffices(set)]).toEqual([seed, fits]);
    }
    expect(Math.min(counts.fits, counts.none)).toBeGreaterThan(0);
  });
});

describe('judgeAnswer', () => {
  /** One node with 2 CPUs, where a pod of a group of two and a pod without a group run. A pod with 1 CPU preempts. */
  const pod = { amounts: [1000, 0, 0], hostPort: undefined, color: '', shuns: [] } as const;
  const running = {
    ...pod,
    node: 0,
    priority: 10,
    group: undefined,
    isLeaving: false,
    startedAt: 0,
    budget: undefined,
  };
  const instance: Instance = {
    family: 'example',
    seed: 0,
    nodes: [
      { allocatable: [2000, 0, 0], isTainted: false },
      { allocatable: [1000, 0, 0], isTainted: false },
    ],
    groups: [{ minMember: 2 }],
    running: [running, { ...running, group: 0 }, { ...running, group: 0, node: 1 }],
    kinds: [{ ...pod, priority: 50, toleratesTaint: false }],
    isGang: false,
    members: [0],
    needed: 1,
    reservations: [],
    budgets: [0],
  };
  const answer: Answer = { isPlanned: false, victims: [0], nodes: new Map([[0, 0]]), message: '' };
  const none: Answer = { isPlanned: false, victims: [], nodes: new Map(), message: '' };
  const found = (change: Partial<Answer>, of: Partial<Instance> = {}): Judgment['found'] =>
    judgeAnswer({ ...instance, ...of }, { ...answer, ...change }).found;
  const first = (change: Partial<(typeof instance.running)[number]>): Partial<Instance> => ({
    running: [{ ...running, ...change }, ...instance.running.slice(1)],
  });

  it('accepts the right answer, which the scheduler gives', () => {
    expect(preemptInstance(instance)).toMatchObject({ victims: [0], nodes: new Map([[0, 0]]) });
    expect(found({})).toEqual([]);
    expect(judgeAnswer({ ...instance, ...first({ priority: 60 }), groups: [{ minMember: 1 }] }, none).found).toEqual([
      'missed',
    ]);
  });

  it('names what is wrong', () => {
    expect(found(none)).toEqual(['missed']);
    expect(found({ victims: [1] })).toEqual(['illegal']);
    expect(found({}, first({ priority: 50 }))).toEqual(['illegal']);
    expect(found({ nodes: new Map([[0, 1]]) })).toEqual(['unfit']);
    expect(found({}, { kinds: [{ ...instance.kinds[0]!, amounts: [3000, 0, 0] }] })).toEqual(['vain']);
    expect(found({}, { nodes: [instance.nodes[0]!, instance.nodes[0]!] })).toEqual(['needless']);
    expect(found({ victims: [0, 1, 2] })).toEqual(['spare', 'not minimal']);
    expect(found({ victims: [1, 2] })).toEqual([]);
    expect(found({}, first({ priority: 20 }))).toEqual(['top']);
    expect(found({}, first({ budget: 0 }))).toEqual(['budget']);
    const kinds = [instance.kinds[0]!, instance.kinds[0]!];
    expect(found(none, { kinds, members: [0, 1], needed: 1 })).toEqual(['missed kinds']);
  });

  it('counts the pods that smaller sets spare', () => {
    expect(judgeAnswer(instance, { ...answer, victims: [1, 2] }).extra).toBe(1);
    expect(judgeAnswer(instance, answer).extra).toBe(0);
  });
});
