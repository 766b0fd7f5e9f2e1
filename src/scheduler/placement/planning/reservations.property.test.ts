import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { runs } from '../../../base/testing/runs.ts';
import { WorkBudget } from '../../../base/work-budget.ts';
import { finish } from '../../../base/yielding.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { notPreselected } from '../../../framework/profile.ts';
import type { Profile } from '../../../framework/profile.ts';
import type { Status } from '../../../framework/status.ts';
import { reasonsIn } from '../../../framework/diagnosis.ts';
import type { CoreHarness } from '../../../testkit/core-harness.ts';
import { CachedResults } from '../cache/cached-results.ts';
import { filterWithReservations } from '../cache/filter-with-reservations.ts';
import { RankingBuffers } from '../cache/ranking-buffers.ts';
import { dryRun, nodesByPod } from '../testing/planning.ts';
import { profileOf, World } from '../testing/world.ts';
import { amongOf, batchOf, hasNoReservation } from './batch.ts';
import type { Batch } from './batch.ts';
import type { PlanScope } from './plan-scope.ts';
import { PlanWork } from './plan-work.ts';
import { podClassesOf } from './pod-classes.ts';

type Counts = Record<
  'feasible' | 'rejected' | 'failed' | 'uniform' | 'byOwners' | 'assumed' | 'gone' | 'exclusive' | 'ownGroup',
  number
>;

/** Changes reservations in the harness. The world knows only nominations. */
function changeReservations(world: World, harness: CoreHarness): void {
  const { cluster } = harness;
  for (const { kind, owner } of [...cluster.reservations()]) {
    if (kind === 'repair' && world.flag(0.2)) cluster.endReservation(owner.uid);
  }
  for (let i = world.upTo(6); i > 0; i--) {
    const options = {
      ...world.pod(world.pick(world.podClasses)),
      priority: world.pick([0, 5, 9]),
      ...(world.flag(0.4) && { group: world.pick(['g', 'h']) }),
    };
    // A placeholder is not in the cluster.
    const owner = world.flag(0.5) ? harness.pod(world.add(options)) : harness.build.projectedPod(options);
    const nodeName = world.pick([...world.nodeNames, 'unseen']);
    cluster.reservation({ kind: 'repair', owner, nodeName, isExclusive: world.flag(0.3), isKept: true });
    if (cluster.pod(owner.uid) !== undefined && world.flag(0.2)) harness.pod(world.add({ ...options, group: 'g' }));
  }
}

/** Returns why the node rejects the pod, by calling every plugin. */
function naiveRejection(scope: PlanScope, pod: Pod, node: NodeInfo): Status | undefined {
  const { profile, groupState } = scope.request;
  const state = new CycleState(groupState);
  const answer = profile.preFilter(state, pod);
  const counts = (uid: string): boolean => hasNoReservation(scope, uid);
  const rejection = filterWithReservations(profile, profile.localFilters, state, pod, node, counts);
  if (rejection !== undefined) return rejection;
  if (amongOf(answer)?.has(node.name) === false) return notPreselected;
  return filterWithReservations(profile, profile.otherFilters, state, pod, node, counts);
}

/**
 * Compares the nodes that the batch's ranking lists for a member without a node, and its reasons, with those of the naive evaluation. Returns
 * the feasible nodes.
 */
function compare(scope: PlanScope, batch: Batch, pod: Pod, counts: Counts, context: string): readonly NodeInfo[] {
  const { cluster, buffers, request, indexes } = scope;
  const { isUniform, answer, ranking } = batch;
  const own = new CycleState(request.groupState);
  const ownAnswer = request.profile.preFilter(own, pod);
  const nodes = (indexes ?? [...cluster.nodes.keys()]).map((index) => cluster.nodes[index]!);
  if (ranking === undefined || ownAnswer.status !== undefined) return [];
  // Like a plan, which begins each pass with a PreFilter result.
  ranking.build({ pod, state: isUniform ? batch.state : own, nodeNames: amongOf(isUniform ? answer : ownAnswer) });
  ranking.look();
  const listed = [...buffers.order.indexes.subarray(0, buffers.order.size)].map((index) => cluster.nodes[index]!.name);
  const { error } = ranking;
  const { rejection } = ranking.diagnose(pod);
  if (isUniform) counts.uniform++;
  const naive = nodes.map((node) => [node, naiveRejection(scope, pod, node)] as const);
  if (naive.some(([, rejection]) => rejection?.code === 'Error')) {
    counts.failed++;
    expect(rejection.kind, context).toBe('pod');
    return [];
  }
  // Score may fail where Filter does not.
  if (error !== undefined) return [];
  const feasible = naive.flatMap(([node, status]) => (status === undefined ? [node] : []));
  expect(listed, context).toEqual(feasible.map(({ name }) => name));
  const reasons: Record<string, number> = {};
  for (const [, status] of naive)
    for (const reason of status?.reasons ?? []) reasons[reason] = (reasons[reason] ?? 0) + 1;
  expect(rejection.kind === 'nodes' && Object.fromEntries(reasonsIn(rejection.rejections)), context).toEqual(reasons);
  counts[feasible.length > 0 ? 'feasible' : 'rejected']++;
  if (Object.keys(reasons).some((reason) => reason.endsWith('(capacity reserved for other pods)'))) counts.byOwners++;
  for (const { owner, isExclusive = false } of cluster.reservations()) {
    if (isExclusive && owner.priority < pod.priority) counts.exclusive++;
    if (owner.podGroupKey !== undefined && owner.podGroupKey === pod.podGroupKey) counts.ownGroup++;
  }
  return feasible;
}

/** Places members on random feasible nodes. Compares all batches before and after each placement. */
function playPlan(world: World, scope: PlanScope, counts: Counts, context: string): void {
  const { cluster, cachedResults, request, transaction, work } = scope;
  const podClasses = finish(podClassesOf(cluster, request, work.budget));
  const splits = cachedResults.of(podClasses.map(({ signatures }) => signatures));
  const batches = podClasses.map((podClass, i) => batchOf(scope, { podClass, split: splits[i]! }));
  let open = [...request.members];
  for (let step = 0; step < 4; step++) {
    const choices = batches.flatMap((batch) => {
      const pod = open.find((each) => batch.pods.includes(each));
      if (pod === undefined) return [];
      return compare(scope, batch, pod, counts, `${context}, step ${step}`).map((node) => ({ pod, node }));
    });
    if (choices.length === 0) return;
    const { pod, node } = world.pick(choices);
    open = open.filter((each) => each !== pod);
    transaction.assume(pod, node);
    for (const { isUniform, ranking, state, sample } of batches) {
      if (isUniform && ranking !== undefined) request.profile.preFilters.addPod(state, sample, pod, node);
    }
  }
}

describe('nodes with reservations', () => {
  it('get the same results as if Filter ran twice on every node, whatever was planned in between', () => {
    const counts: Counts = {
      feasible: 0,
      rejected: 0,
      failed: 0,
      uniform: 0,
      byOwners: 0,
      assumed: 0,
      gone: 0,
      exclusive: 0,
      ownGroup: 0,
    };
    for (let seed = 1; seed <= runs(1500); seed++) {
      const world = new World(seed, { size: seed % 4 === 0 ? 'small' : 'any' });
      const harness = world.harness();
      const { cluster } = harness;
      for (const namespace of ['default', 'one']) {
        for (const name of ['g', 'h']) harness.group({ namespace, name, minMember: 1 });
      }
      const buffers = new RankingBuffers();
      /** profile -> cached results, which all rounds share */
      const cached = new Map<Profile, CachedResults>();
      for (let round = 0; round < 6; round++) {
        for (let i = world.upTo(2); i > 0; i--) world.change(harness);
        changeReservations(world, harness);
        const gang = world.gang(3).map((options) => {
          const group = world.flag(0.6) ? { group: world.pick(['g', 'h']) } : {};
          return harness.pod(world.add({ ...options, ...group, priority: world.pick([0, 5, 6, 9]) }));
        });
        // Owners of reservations are placed, too, if their names are known.
        const owners = [...cluster.reservations()].flatMap(({ owner }) => cluster.openPod(owner.uid) ?? []);
        const members = [...gang, ...owners.filter(() => world.flag(0.2))];
        const profile = profileOf(harness, world.pick(['default-scheduler', 'default-scheduler', 'other']), members);
        const cachedResults = cached.get(profile) ?? new CachedResults(profile);
        cached.set(profile, cachedResults);
        const isEmptied = world.flag(0.1);
        const transaction = cluster.begin(
          isEmptied ? { onlyWith: [...cluster.pods()].filter(() => world.flag(0.5)) } : {},
        );
        transaction.takeOut([...cluster.pods()].filter((pod) => !members.includes(pod) && world.flag(0.1)));
        const reserving = [...cluster.reservations()].map(({ owner }) => owner.uid);
        const gone = new Set(reserving.filter((uid) => !members.some((pod) => pod.uid === uid) && world.flag(0.2)));
        counts.gone += gone.size;
        for (const owner of owners) {
          if (members.includes(owner) || cluster.nodes.length === 0 || !world.flag(0.2)) continue;
          transaction.assume(owner, world.pick(cluster.nodes));
          counts.assumed++;
        }
        const request = {
          profile,
          members,
          needed: members.length,
          groupState: new CycleState(),
          ...(world.flag(0.6) && { isGone: (uid: string) => gone.has(uid) }),
        };
        const indexes = world.flag(0.3) ? [...cluster.nodes.keys()].filter(() => world.flag(0.7)) : undefined;
        const scope: PlanScope = {
          cluster,
          buffers,
          cachedResults,
          seed: 1,
          request,
          transaction,
          work: new PlanWork(new WorkBudget(), request),
          indexes,
        };
        playPlan(world, scope, counts, `seed ${seed}, round ${round}`);
        transaction.rollback();
      }
    }
    expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(runs(100));
  });
});

it("plans a gang as if the gang's own reservations were not there", () => {
  let [reserved, spread] = [0, 0];
  for (let seed = 1; seed <= runs(1500); seed++) {
    const world = new World(seed, { size: seed % 2 === 0 ? 'small' : 'any' });
    const harness = world.harness();
    const { cluster } = harness;
    harness.group({ name: 'g', minMember: 1 });
    const members = world
      .gang(5)
      .map((options) => harness.pod(world.add({ ...options, namespace: 'default', group: 'g', priority: 5 })));
    const before = nodesByPod(dryRun(harness, members));
    const plan = { priority: 5 };
    for (const owner of members) {
      const nodeName = before[owner.name];
      if (nodeName === undefined || world.flag(0.2)) continue;
      cluster.reservation({ kind: 'backfill', owner, nodeName, isKept: true, plan });
    }
    expect(nodesByPod(dryRun(harness, members)), `seed ${seed}`).toEqual(before);
    if ([...cluster.reservations()].some(({ kind }) => kind === 'backfill')) reserved++;
    if (new Set(Object.values(before)).size > 1) spread++;
  }
  expect(reserved).toBeGreaterThan(runs(500));
  expect(spread).toBeGreaterThan(runs(100));
});
