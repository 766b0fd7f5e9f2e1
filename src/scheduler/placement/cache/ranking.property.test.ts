import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeOptions } from '../../../testkit/builders/node.ts';
import type { PodOptions } from '../../../testkit/builders/pod.ts';
import type { Pod } from '../../../api/pod.ts';
import { seededRandom } from '../../../base/random.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import type { Profile } from '../../../framework/profile.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { Picture } from '../../../testkit/picture.ts';
import { fewPods } from '../testing/few-pods.ts';
import { KnownNodes } from './known-nodes.ts';
import type { NodeTable } from './node-table.ts';
import { Ranking } from './ranking.ts';
import { RankingRoom } from './ranking-room.ts';
import { SignatureCache } from './signature-cache.ts';

/** The fuller the better, as a share of the greatest. */
const full: Plugin & { readonly weight: number } = {
  name: 'Full',
  weight: 2,
  sign: (pod) => `${pod.template.nonZeroMilliCpu}`,
  score: (_state, pod, node) => (node.nonZeroMilliCpu + pod.template.nonZeroMilliCpu) % 2300,
  normalizeScore: (_state, _pod, scores) => {
    const greatest = Math.max(...scores);
    if (greatest > 0) for (let i = 0; i < scores.length; i++) scores[i]! *= 100 / greatest;
  },
};

const plain: Plugin & { readonly weight: number } = {
  name: 'Plain',
  weight: 1,
  sign: () => '',
  score: (_state, _pod, node) => node.name.length * 7 + node.pods.size * 11,
};

const nodeKind: fc.Arbitrary<NodeOptions> = fc.record({
  cpu: fc.integer({ min: 1, max: 6 }),
  pods: fc.integer({ min: 1, max: 6 }),
  taints: fc.subarray(['a:NoSchedule', 'b:PreferNoSchedule', 'c:PreferNoSchedule']),
  labels: fc.constantFrom<NodeOptions['labels'] & object>({}, { disk: 'ssd' }, { disk: 'hdd' }),
  unschedulable: fc.constantFrom(false, false, false, true),
});

const preferSsd = {
  preferredDuringSchedulingIgnoredDuringExecution: [
    { weight: 5, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] } },
  ],
};

const podKind: fc.Arbitrary<PodOptions> = fc.record(
  {
    cpu: fc.constantFrom('0', '300m', '1', '2'),
    tolerations: fc.constantFrom([], [{ key: 'a', operator: 'Exists' }], [{ key: 'b', operator: 'Exists' }]),
    nodeAffinity: fc.constant(preferSsd),
    hostPorts: fc.constantFrom([], [80]),
  },
  { requiredKeys: ['cpu', 'tolerations'] },
);

/** Every node's total, worked out from scratch with the plugins alone. */
function totals(profile: Profile, pod: Pod, nodes: readonly NodeInfo[]): Map<NodeInfo, number> {
  const state = new CycleState();
  profile.preFilter(state, pod);
  const feasible = nodes.filter((node) => profile.filter(profile.localFilters, state, pod, node) === undefined);
  const sums = new Map(feasible.map((node) => [node, 0]));
  for (const { plugin, weight } of profile.scorers) {
    if (feasible.length === 0 || plugin.preScore?.(state, pod, () => feasible)?.code === 'Skip') continue;
    const scores = Float64Array.from(feasible, (node) => plugin.score!(state, pod, node));
    plugin.normalizeScore?.(state, pod, scores);
    feasible.forEach((node, i) => sums.set(node, sums.get(node)! + weight * scores[i]!));
  }
  return sums;
}

/** Places as many of `pods` as fit, each on a node that is as good as any; returns how many. */
function placeAll(picture: Picture, pods: readonly Pod[], table: () => NodeTable, undo: boolean): number {
  const { cluster, profile } = picture;
  const transaction = cluster.begin();
  const state = new CycleState();
  profile.preFilter(state, pods[0]!);
  const asked = { pod: pods[0]!, state, nodeNames: undefined };
  const share = { filters: profile.localFilters, scorers: [...profile.scorers.keys()], table };
  const ranking = new Ranking(
    {
      profile,
      nodes: cluster.nodes,
      generations: () => cluster.generations,
      hasClaims: () => cluster.hasClaims,
      answering: { kept: [share], anew: { filters: [], scorers: [] } },
      hasNoClaim: (uid) => cluster.isAssumed(uid),
      room: new RankingRoom(),
      known: new KnownNodes(),
      salt: pods.length,
    },
    asked,
  );
  ranking.build(asked);
  let placed = 0;
  for (const pod of pods) {
    const expected = totals(profile, pod, cluster.nodes);
    expect(ranking.size).toBe(expected.size);
    const best = ranking.best();
    if (best === undefined) {
      expect(expected.size).toBe(0);
      break;
    }
    expect(expected.get(best)).toBeCloseTo(Math.max(...expected.values()), 6);
    transaction.assume(pod, best);
    ranking.placedOnBest();
    placed++;
  }
  if (undo) transaction.rollback();
  else transaction.commit();
  return placed;
}

const newPicture = (): Picture => new Picture({ plugins: defaultPlugins, extra: [fewPods, full, plain] });

describe('a ranking', () => {
  it('that is kept up to date step by step always offers a node that a ranking from scratch would put first', () => {
    fc.assert(
      fc.property(
        fc.array(nodeKind, { minLength: 1, maxLength: 8, size: 'max' }),
        fc.array(fc.record({ cpu: fc.constantFrom('100m', '1'), on: fc.nat(7) }), { maxLength: 6 }),
        podKind,
        (nodes, running, kind) => {
          const picture = newPicture();
          nodes.forEach((node, i) => picture.node({ ...node, name: 'n'.repeat(1 + (i % 3)) + i }));
          for (const { cpu, on } of running) {
            picture.pod({ cpu, nodeName: picture.cluster.nodes[on % nodes.length]!.name });
          }
          const cache = new SignatureCache(picture.profile.scorers.length);
          placeAll(picture, picture.pods(20, kind), () => cache.table('one'), true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('stays right when its answers come from a cache that is too small, while nodes come, change and go', () => {
    const round = fc.record({
      kind: fc.nat(4),
      count: fc.integer({ min: 1, max: 3 }),
      undo: fc.boolean(),
      change: fc.option(fc.record({ name: fc.constantFrom('n0', 'n1', 'n2', 'n3', 'n4'), node: nodeKind })),
      gone: fc.option(fc.constantFrom('n0', 'n1', 'n2', 'n3', 'n4'), { freq: 3 }),
    });
    fc.assert(
      fc.property(
        fc.array(podKind, { minLength: 5, maxLength: 5 }),
        fc.array(round, { minLength: 5, maxLength: 20, size: 'max' }),
        (kinds, rounds) => {
          const picture = newPicture();
          for (let i = 0; i < 5; i++) picture.node({ name: `n${i}`, cpu: 4 });
          const cache = new SignatureCache(picture.profile.scorers.length, 2);
          for (const { kind, count, undo, change, gone } of rounds) {
            if (gone !== null) picture.cluster.removeNode(gone);
            if (change !== null) picture.node({ ...change.node, name: change.name });
            const pods = picture.pods(count, kinds[kind]);
            const signature = picture.profile.signaturesOf(pods[0]!).local!;
            placeAll(picture, pods, () => cache.table(signature), undo);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a plan for identical pods', () => {
  it('places all of them when that many fit, counted node by node, and else as many as fit', () => {
    fc.assert(
      fc.property(
        fc.array(nodeKind, { minLength: 1, maxLength: 6 }),
        podKind,
        fc.integer({ min: 1, max: 25 }),
        (nodes, kind, count) => {
          const picture = newPicture();
          nodes.forEach((node, i) => picture.node({ ...node, name: `n${i}` }));
          const pods = picture.pods(count, kind);
          const room = roomFor(picture, count, kind);
          const transaction = picture.cluster.begin();
          const plan = picture.planner.plan(
            { profile: picture.profile, members: pods, needed: count, groupState: undefined },
            transaction,
          );
          transaction.rollback();
          expect(plan.placements).toHaveLength(Math.min(count, room));
          expect(plan.blocked === undefined).toBe(room >= count);
        },
      ),
      { numRuns: 80 },
    );
  });

  it('and for pods of more kinds than there are tables never puts one where it does not fit', () => {
    fc.assert(
      fc.property(
        fc.array(nodeKind, { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 0, max: 40 }),
        (nodes, seed) => {
          const picture = newPicture();
          nodes.forEach((node, i) => picture.node({ ...node, name: `n${i}` }));
          const random = seededRandom(seed);
          const members = Array.from({ length: 80 }, (_, i) =>
            picture.pod({ name: `m${i}`, cpu: `${1 + i + Math.floor(random() * 3) * 100}m` }),
          );
          const transaction = picture.cluster.begin();
          const plan = picture.planner.plan(
            { profile: picture.profile, members, needed: members.length, groupState: undefined },
            transaction,
          );
          for (const node of picture.cluster.nodes) {
            expect(Math.min(node.free(0), node.free(3)), node.name).toBeGreaterThanOrEqual(0);
          }
          transaction.rollback();
          expect(plan.placements.length).toBeLessThanOrEqual(members.length);
        },
      ),
      { numRuns: 20 },
    );
  });
});

function roomFor(picture: Picture, count: number, kind: PodOptions): number {
  const { cluster, profile } = picture;
  const transaction = cluster.begin();
  const any = picture.build.projectedPod(kind);
  let room = 0;
  for (const node of cluster.nodes) {
    for (let i = 0; i < count; i++) {
      const pod = { ...any, uid: `${room}` };
      const state = new CycleState();
      profile.preFilter(state, pod);
      if (profile.filter(profile.localFilters, state, pod, node) !== undefined) break;
      transaction.assume(pod, node);
      room++;
    }
  }
  transaction.rollback();
  return room;
}
