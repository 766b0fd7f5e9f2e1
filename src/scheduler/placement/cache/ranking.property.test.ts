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
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { fewPods } from '../testing/few-pods.ts';
import { NodeTable } from './node-table.ts';
import { Ranking } from './ranking.ts';
import { RankingBuffers } from './ranking-buffers.ts';
import { SignatureCache } from './signature-cache.ts';

/** Prefers fuller nodes. Normalizes each score relative to the highest. */
const full: Plugin & { readonly weight: number } = {
  name: 'Full',
  weight: 2,
  sign: (pod) => `${pod.template.nonZeroMilliCpu}`,
  score: (_state, pod, node) => (node.nonZeroMilliCpu + pod.template.nonZeroMilliCpu) % 2300,
  normalizeScore: (_state, _pod, scores) => {
    const highest = Math.max(...scores);
    if (highest > 0) for (let i = 0; i < scores.length; i++) scores[i]! *= 100 / highest;
  },
};

const plain: Plugin & { readonly weight: number } = {
  name: 'Plain',
  weight: 1,
  sign: () => '',
  score: (_state, _pod, node) => node.name.length * 7 + node.pods.size * 11,
};

const nodeClass: fc.Arbitrary<NodeOptions> = fc.record({
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

const podClass: fc.Arbitrary<PodOptions> = fc.record(
  {
    cpu: fc.constantFrom('0', '300m', '1', '2'),
    tolerations: fc.constantFrom([], [{ key: 'a', operator: 'Exists' }], [{ key: 'b', operator: 'Exists' }]),
    nodeAffinity: fc.constant(preferSsd),
    hostPorts: fc.constantFrom([], [80]),
  },
  { requiredKeys: ['cpu', 'tolerations'] },
);

/** Returns the total score of each feasible node, computed from scratch by calling the plugins. */
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

/** Places as many of `pods` as fit, each on a node with the highest total score. Returns how many. */
function placeAll(harness: CoreHarness, pods: readonly Pod[], table: () => NodeTable, undo: boolean): number {
  const { cluster, profile } = harness;
  const transaction = cluster.begin();
  const state = new CycleState();
  profile.preFilter(state, pods[0]!);
  const target = { pod: pods[0]!, state, nodeNames: undefined };
  const share = { filters: profile.localFilters, scorers: [...profile.scorers.keys()], table };
  const ranking = new Ranking(
    {
      profile,
      nodes: cluster.nodes,
      generations: () => cluster.generations,
      reservedFor: () => [],
      split: { cached: [share], uncached: { filters: [], scorers: [] }, ownerVerdicts: undefined },
      hasNoReservation: (uid) => cluster.isAssumed(uid),
      buffers: new RankingBuffers(),
      salt: pods.length,
    },
    target,
  );
  ranking.build(target);
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

const newHarness = (): CoreHarness => new CoreHarness({ plugins: defaultPlugins, extra: [fewPods, full, plain] });

describe('a ranking', () => {
  it('always offers a node that a newly built ranking would put first, however often it is updated', () => {
    fc.assert(
      fc.property(
        fc.array(nodeClass, { minLength: 1, maxLength: 8, size: 'max' }),
        fc.array(fc.record({ cpu: fc.constantFrom('100m', '1'), on: fc.nat(7) }), { maxLength: 6 }),
        podClass,
        (nodes, running, podOptions) => {
          const harness = newHarness();
          nodes.forEach((node, i) => harness.node({ ...node, name: 'n'.repeat(1 + (i % 3)) + i }));
          for (const { cpu, on } of running) {
            harness.pod({ cpu, nodeName: harness.cluster.nodes[on % nodes.length]!.name });
          }
          const cache = new SignatureCache(() => new NodeTable(harness.profile.scorers.length));
          placeAll(harness, harness.pods(20, podOptions), () => cache.of('one'), true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('stays correct with a cache that is too small, while nodes are added, changed and removed', () => {
    const round = fc.record({
      classIndex: fc.nat(4),
      count: fc.integer({ min: 1, max: 3 }),
      undo: fc.boolean(),
      change: fc.option(fc.record({ name: fc.constantFrom('n0', 'n1', 'n2', 'n3', 'n4'), node: nodeClass })),
      removed: fc.option(fc.constantFrom('n0', 'n1', 'n2', 'n3', 'n4'), { freq: 3 }),
    });
    fc.assert(
      fc.property(
        fc.array(podClass, { minLength: 5, maxLength: 5 }),
        fc.array(round, { minLength: 5, maxLength: 20, size: 'max' }),
        (classes, rounds) => {
          const harness = newHarness();
          for (let i = 0; i < 5; i++) harness.node({ name: `n${i}`, cpu: 4 });
          const cache = new SignatureCache(() => new NodeTable(harness.profile.scorers.length), 2);
          for (const { classIndex, count, undo, change, removed } of rounds) {
            if (removed !== null) harness.cluster.removeNode(removed);
            if (change !== null) harness.node({ ...change.node, name: change.name });
            const pods = harness.pods(count, classes[classIndex]);
            const signature = harness.profile.signaturesOf(pods[0]!).local!;
            placeAll(harness, pods, () => cache.of(signature), undo);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a plan', () => {
  it('places all of the identical pods if the nodes have capacity for them, and otherwise as many as fit', () => {
    fc.assert(
      fc.property(
        fc.array(nodeClass, { minLength: 1, maxLength: 6 }),
        podClass,
        fc.integer({ min: 1, max: 25 }),
        (nodes, podOptions, count) => {
          const harness = newHarness();
          nodes.forEach((node, i) => harness.node({ ...node, name: `n${i}` }));
          const pods = harness.pods(count, podOptions);
          const capacity = capacityFor(harness, count, podOptions);
          const transaction = harness.cluster.begin();
          const plan = harness.planner.plan(
            { profile: harness.profile, members: pods, needed: count, groupState: undefined },
            transaction,
          );
          transaction.rollback();
          expect(plan.assignments).toHaveLength(Math.min(count, capacity));
          expect(plan.blocked === undefined).toBe(capacity >= count);
        },
      ),
      { numRuns: 80 },
    );
  });

  it('never overcommits a node, even with more pod classes than cached tables', () => {
    fc.assert(
      fc.property(
        fc.array(nodeClass, { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 0, max: 40 }),
        (nodes, seed) => {
          const harness = newHarness();
          nodes.forEach((node, i) => harness.node({ ...node, name: `n${i}` }));
          const random = seededRandom(seed);
          const members = Array.from({ length: 80 }, (_, i) =>
            harness.pod({ name: `m${i}`, cpu: `${1 + i + Math.floor(random() * 3) * 100}m` }),
          );
          const transaction = harness.cluster.begin();
          const plan = harness.planner.plan(
            { profile: harness.profile, members, needed: members.length, groupState: undefined },
            transaction,
          );
          for (const node of harness.cluster.nodes) {
            expect(Math.min(node.free(0), node.free(3)), node.name).toBeGreaterThanOrEqual(0);
          }
          transaction.rollback();
          expect(plan.assignments.length).toBeLessThanOrEqual(members.length);
        },
      ),
      { numRuns: 20 },
    );
  });
});

function capacityFor(harness: CoreHarness, count: number, podOptions: PodOptions): number {
  const { cluster, profile } = harness;
  const transaction = cluster.begin();
  const any = harness.build.projectedPod(podOptions);
  let capacity = 0;
  for (const node of cluster.nodes) {
    for (let i = 0; i < count; i++) {
      const pod = { ...any, uid: `${capacity}` };
      const state = new CycleState();
      profile.preFilter(state, pod);
      if (profile.filter(profile.localFilters, state, pod, node) !== undefined) break;
      transaction.assume(pod, node);
      capacity++;
    }
  }
  transaction.rollback();
  return capacity;
}
