import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { WorkBudget } from '../../../base/work-budget.ts';
import { finish } from '../../../base/yielding.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { StorageScheduling } from '../../../plugins/testing/storage-scheduling.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { Queueing } from '../../../testkit/queueing.ts';
import { CachedResults } from '../cache/cached-results.ts';
import { RankingBuffers } from '../cache/ranking-buffers.ts';
import { packingSearch } from '../packing/packing-search.ts';
import { dryRun, harnessWith, nodesByPod } from '../testing/planning.ts';
import { stateOfNode } from '../testing/state-of-node.ts';
import { binPacking } from './bin-packing.ts';
import { PlanPasses } from './plan-passes.ts';
import { PlanWork } from './plan-work.ts';
import type { Plan, PlanRequest } from './plan.ts';
import { runStrategies } from './run-strategies.ts';

const sign = ({ name }: Pod): string => name.slice(0, 3);
const no = new Status('Unschedulable', 'no');

afterEach(() => vi.restoreAllMocks());

/** Places the members by bin packing alone, and undoes that. Expects everything to be as before. */
function pack(harness: CoreHarness, members: readonly Pod[], options: Partial<PlanRequest> = {}): Plan | undefined {
  const { cluster, profile } = harness;
  const before = cluster.nodes.map(stateOfNode);
  const transaction = cluster.begin();
  const request = { profile, members, needed: members.length, groupState: new CycleState(), ...options };
  const passes = new PlanPasses(transaction, profile);
  const scope = {
    cluster,
    buffers: new RankingBuffers(),
    cachedResults: new CachedResults(profile),
    seed: 1,
    request,
    transaction,
    work: new PlanWork(new WorkBudget(), request),
    indexes: request.within && cluster.nodes.filter(({ name }) => request.within!.has(name)).map(({ index }) => index),
  };
  const plan = finish(runStrategies(scope, passes, [binPacking]));
  if (plan?.blocked === undefined) expect(passes.assignments).toEqual(plan?.assignments ?? []);
  finish(passes.undo(new WorkBudget()));
  expect(cluster.assumedCount).toBe(0);
  transaction.rollback();
  expect(cluster.nodes.map(stateOfNode)).toEqual(before);
  return plan;
}

/** Two large and three small members, which fill two nodes of 6 CPUs in only one way. */
function gangIn(harness: CoreHarness): Pod[] {
  return [...harness.pods(2, { name: 'big', cpu: 3 }), ...harness.pods(3, { name: 'small', cpu: 2 })];
}

function countByNode(plan: Plan | undefined, name: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { pod, nodeName } of plan?.assignments ?? []) {
    if (pod.name.startsWith(name)) counts[nodeName] = (counts[nodeName] ?? 0) + 1;
  }
  return counts;
}

const isComplete = (plan: Plan | undefined): boolean => plan !== undefined && plan.blocked === undefined;

describe('bin packing', () => {
  it('places members that no order by score places', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b']) harness.node({ name, cpu: 6 });
    const plan = dryRun(harness, gangIn(harness));
    expect(plan).toMatchObject({ placed: 5, strategy: 'Search', isExhaustive: true });
    expect(Object.values(countByNode(plan, 'big'))).toEqual([2]);
  });

  it('places large gangs, which no search covers, by best fit', () => {
    const harness = harnessWith();
    for (let i = 0; i < 104; i++) harness.node({ name: `n${i}`, cpu: 6 });
    const members = [...harness.pods(104, { name: 'big', cpu: 3 }), ...harness.pods(156, { name: 'small', cpu: 2 })];
    expect(dryRun(harness, members)).toMatchObject({
      placed: 260,
      blocked: undefined,
      strategy: 'ScarcestResourceFirst',
    });
  });

  it('does nothing for identical members', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 2 });
    expect(pack(harness, harness.pods(2, { name: 'w', cpu: 1 }))).toBeUndefined();
  });

  it('returns no plan and claims no open search if it proves that none exists', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b']) harness.node({ name, cpu: 5 });
    expect(pack(harness, gangIn(harness))).toBeUndefined();
    const plan = dryRun(harness, gangIn(harness));
    expect(plan).toMatchObject({ strategy: 'HardestFirst' });
    expect(plan.searchedPlacements).toBeUndefined();
  });

  it('respects the limit of pods on a node', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 60, pods: 2 });
    harness.node({ name: 'b', cpu: 6, pods: 3 });
    const plan = pack(harness, gangIn(harness));
    expect(plan).toMatchObject({ placed: 5, blocked: undefined });
    harness.node({ name: 'b', cpu: 6, pods: 2 });
    expect(pack(harness, gangIn(harness))).toBeUndefined();
  });

  it('does nothing for members that request very many resources, even if no node has these', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b']) harness.node({ name, cpu: 6 });
    const spare = (names: number): Pod => {
      const requests = Object.fromEntries(Array.from({ length: names }, (_, i) => [`example.com/r${i}`, 1]));
      return harness.pod({ name: 'spare', cpu: 1, requests });
    };
    const members = gangIn(harness);
    expect(isComplete(pack(harness, [...members, spare(10)], { needed: 5 }))).toBe(true);
    expect(pack(harness, [...members, spare(100)], { needed: 5 })).toBeUndefined();
  });

  it('places as many members of an elastic gang as are needed', () => {
    const harness = harnessWith();
    harness.node({ name: 'a', cpu: 6 });
    expect(pack(harness, gangIn(harness), { needed: 3 })).toMatchObject({ placed: 3, blocked: undefined });
    expect(pack(harness, gangIn(harness), { needed: 4 })).toBeUndefined();
  });
});

describe('bin packing learns', () => {
  it('that members with the same host port cannot share a node', () => {
    const harness = harnessWith();
    for (const [name, cpu] of Object.entries({ a: 6, b: 6, c: 3 })) harness.node({ name, cpu });
    const packed = vi.spyOn(packingSearch, 'pack');
    const plan = pack(harness, [
      ...harness.pods(2, { name: 'big', cpu: 3, hostPorts: [80] }),
      ...harness.pods(3, { name: 'small', cpu: 2 }),
    ]);
    expect(isComplete(plan)).toBe(true);
    expect(Object.values(countByNode(plan, 'big'))).toEqual([1, 1]);
    expect(packed.mock.calls.at(-1)![0].apart.map((others) => [...others])).toEqual([[0], []]);
  });

  it('that two classes of members cannot share a node', () => {
    const affinity = {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'small' } } },
        ],
      },
    };
    const packed = vi.spyOn(packingSearch, 'pack');
    for (const [larger, smaller] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      const harness = harnessWith();
      for (const [name, cpu] of Object.entries({ [larger]: 8, [smaller]: 6 })) {
        harness.node({ name, cpu, labels: { 'kubernetes.io/hostname': name } });
      }
      const plan = pack(harness, [
        ...harness.pods(2, { name: 'big', cpu: 3, spec: { affinity } }),
        ...harness.pods(4, { name: 'small', cpu: 2, labels: { app: 'small' } }),
      ]);
      expect([countByNode(plan, 'big'), countByNode(plan, 'small')]).toEqual([{ [smaller]: 2 }, { [larger]: 4 }]);
    }
    // The one whose larger node comes first begins with a packing that fills it with both.
    expect(packed.mock.calls).toHaveLength(3);
    expect(packed.mock.calls.map(([{ apart }]) => apart.map((others) => [...others]))).toContainEqual([[1], [0]]);
  });

  it('that a node takes no member of a class, and nothing about the members that were to share it', () => {
    const rejecting: Plugin = {
      name: 'Rejecting',
      sign,
      reserve: (_state, { name }, node) => (name.startsWith('big') && node.name === rejected ? no : undefined),
    };
    let rejected = 'none';
    const harness = harnessWith(rejecting);
    for (const name of ['a', 'b']) harness.node({ name, cpu: 5 });
    const members = [harness.pod({ name: 'big', cpu: 3 }), ...harness.pods(3, { name: 'small', cpu: 2 })];
    const packed = vi.spyOn(packingSearch, 'pack');
    // The first packing puts the large member on a node together with a small one. Each must be possible.
    for (rejected of ['a', 'b']) {
      const plan = pack(harness, members);
      expect([rejected, isComplete(plan)]).toEqual([rejected, true]);
      expect(nodesByPod(plan!).big).toBe(rejected === 'a' ? 'b' : 'a');
    }
    expect(packed.mock.calls.map(([{ apart }]) => apart.map(({ size }) => size))).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  it('no more than its work is worth, with a pause after each question to the plugins', () => {
    let [calls, sincePause, most] = [0, 0, 0];
    const harness = harnessWith({
      name: 'ThreePerNode',
      readsOtherNodes: true,
      preFilter: () => {
        calls++;
        most = Math.max(most, ++sincePause);
        return undefined;
      },
      filter: (_state, _pod, { pods }) => (pods.size < 3 ? undefined : no),
    });
    for (const name of ['a', 'b']) harness.node({ name, cpu: 60, pods: 60 });
    const members = Array.from({ length: 30 }, (_, i) => harness.pod({ name: `m${i}`, cpu: `${1000 + i}m` }));
    const transaction = harness.cluster.begin();
    const budget = new WorkBudget();
    const request = { profile: harness.profile, members, needed: members.length, groupState: new CycleState() };
    const steps = harness.planner.steps(request, transaction, budget);
    for (let isDone = false; !isDone; isDone = steps.next().done === true) {
      sincePause = 0;
      budget.allow(1);
    }
    transaction.rollback();
    // Each pair of members on a node would take several hundred.
    expect(calls).toBeLessThan(300);
    expect(most).toBeLessThan(10);
  });

  it('and then claims no proof', () => {
    const harness = harnessWith({
      name: 'Rejecting',
      sign,
      reserve: (_state, { name }) => (name.startsWith('big') ? no : undefined),
    });
    for (const name of ['a', 'b']) harness.node({ name, cpu: 6 });
    expect(pack(harness, gangIn(harness))!.searchedPlacements).toBeGreaterThan(0);
  });
});

describe('bin packing', () => {
  it('claims no proof if the plugins ignore a resource', () => {
    // A profile without NodeResourcesFit overcommits nodes.
    const onePerNode: Plugin = {
      name: 'One',
      sign: () => '',
      filter: (_state, _pod, { pods }) => (pods.size < 1 ? undefined : no),
    };
    const plugins = defaultPlugins.filter(({ name }) => name !== 'NodeResourcesFit');
    const harness = new CoreHarness({ plugins, extra: [onePerNode] });
    for (const [name, cpu] of Object.entries({ a: 6, b: 2, c: 2, d: 2 })) harness.node({ name, cpu });
    const plan = dryRun(harness, gangIn(harness));
    expect(plan.blocked).toBeDefined();
    expect(plan.searchedPlacements).toBeDefined();
  });
});

describe('bin packing with plugins that contradict themselves', () => {
  /** Answers by a fixed pattern, whatever the question. */
  function flaky(pattern: number, points: readonly ('preFilter' | 'filter' | 'reserve')[], signs: boolean): Plugin {
    let calls = 0;
    const answer = (): Status | undefined => (((pattern >> (calls++ % 16)) & 1) === 1 ? no : undefined);
    return {
      name: 'Flaky',
      readsOtherNodes: true,
      ...(signs && { sign }),
      ...Object.fromEntries(points.map((point) => [point, answer])),
    };
  }

  it.each([[['filter']], [['reserve']], [['preFilter']], [['preFilter', 'filter', 'reserve']]] as const)(
    'ends, reserves nothing and returns only what they accepted, if they do so in %s',
    (points) => {
      const packed = vi.spyOn(packingSearch, 'pack');
      let complete = 0;
      for (let pattern = 1; pattern < 65_536; pattern += 997) {
        const harness = harnessWith(flaky(pattern, points, pattern % 2 === 0));
        for (const name of ['a', 'b']) harness.node({ name, cpu: 6 });
        const members = gangIn(harness);
        packed.mockClear();
        if (isComplete(pack(harness, members))) complete++;
        expect(packed.mock.calls.length).toBeLessThanOrEqual(4);
        dryRun(harness, members);
      }
      expect(complete).toBeGreaterThan(0);
    },
  );

  it('ends the plan when a plugin fails, and uses only allowed nodes', () => {
    for (let fails = 1; fails < 60; fails++) {
      let calls = 0;
      const harness = harnessWith({
        name: 'Failing',
        readsOtherNodes: true,
        filter: () => (++calls === fails ? new Status('Error', 'once') : undefined),
      });
      for (const name of ['a', 'b', 'c', 'd']) harness.node({ name, cpu: 6 });
      const plan = pack(harness, gangIn(harness), { within: new Set(['c', 'd']) });
      const used = plan?.assignments.map(({ nodeName }) => nodeName) ?? [];
      expect([fails, used.filter((name) => name < 'c')]).toEqual([fails, []]);
    }
  });
});

describe('the strategies before bin packing', () => {
  it('leave no rejection by Reserve behind', () => {
    let rejections = 0;
    const harness = harnessWith({
      name: 'Rejecting',
      sign: () => '',
      // As often as the first strategy reserves on this node.
      reserve: (_state, _pod, { name }) => (name === 'b' && rejections++ < 2 ? no : undefined),
    });
    for (const name of ['a', 'b']) harness.node({ name, cpu: 6 });
    const plan = dryRun(harness, gangIn(harness));
    expect(rejections).toBeGreaterThan(2);
    expect(plan).toMatchObject({ placed: 5, blocked: undefined, strategy: 'Search' });
  });
});

describe('a plan that bin packing makes', () => {
  it('leaves nothing reserved or assumed if it is abandoned at any pause, or ends for lack of work', () => {
    const reserved = new Set<string>();
    const harness = harnessWith({
      name: 'Reserving',
      sign: () => '',
      reserve: (_state, { name }) => void reserved.add(name),
      unreserve: (_state, { name }) => void reserved.delete(name),
    });
    for (const [name, cpu] of Object.entries({ a: 6, b: 6, c: 3 })) harness.node({ name, cpu });
    const members = [
      ...harness.pods(2, { name: 'big', cpu: 3, hostPorts: [80] }),
      ...harness.pods(3, { name: 'small', cpu: 2 }),
      ...harness.pods(2, { name: 'tiny', cpu: '1500m' }),
    ];
    const { cluster, profile } = harness;
    const before = cluster.nodes.map(stateOfNode);
    /** Ends the plan at this pause, or when this work is done. Returns whether it came to an end before. */
    const plan = (atPause: number, atWork: number): boolean => {
      const transaction = cluster.begin();
      const budget = new WorkBudget();
      let [work, isComplete] = [0, false];
      const spend = (steps: number): void => {
        if ((work += steps) > atWork) throw new Error('no work left');
      };
      const request = { profile, members, needed: members.length, groupState: new CycleState(), spend };
      const steps = harness.planner.steps(request, transaction, budget);
      try {
        for (let pause = 0; pause < atPause; pause++) {
          budget.allow(1);
          const { done, value } = steps.next();
          if (done !== true) continue;
          isComplete = true;
          expect(value.strategy).toBe('Search');
          harness.planner.unreserve(profile, value.assignments);
          break;
        }
        steps.return(undefined as never);
      } catch (error) {
        expect((error as Error).message).toBe('no work left');
      }
      expect([atPause, atWork, [...reserved]]).toEqual([atPause, atWork, []]);
      transaction.rollback();
      expect(cluster.assumedCount).toBe(0);
      expect(cluster.nodes.map(stateOfNode)).toEqual(before);
      return isComplete;
    };
    let pauses = 0;
    while (!plan(pauses, Infinity)) pauses++;
    expect(pauses).toBeGreaterThan(20);
    let work = 0;
    while (!plan(Infinity, work)) work += 20;
    expect(work).toBeGreaterThan(400);
  });
});

describe('bin packing respects', () => {
  it('what is reserved for others', () => {
    const harness = harnessWith();
    for (const [name, cpu] of Object.entries({ a: 6, b: 6, c: 2 })) harness.node({ name, cpu });
    harness.pod({ name: 'nominated', cpu: 1, priority: 10, nominatedNodeName: 'a' });
    const plan = pack(harness, gangIn(harness));
    expect(isComplete(plan)).toBe(true);
    expect(plan!.assignments.filter(({ nodeName }) => nodeName === 'a').length).toBeLessThan(3);
    harness.pod({ name: 'second', cpu: 1, priority: 10, nominatedNodeName: 'c' });
    expect(pack(harness, gangIn(harness))).toBeUndefined();
    // The owners are gone in this dry run.
    expect(isComplete(pack(harness, gangIn(harness), { ignoresReservationOf: () => true }))).toBe(true);
  });

  it('what is reserved for others from some of the members only', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b']) harness.node({ name, cpu: 6 });
    harness.pod({ name: 'nominated', cpu: 3, priority: 5, nominatedNodeName: 'a' });
    const large = harness.pods(2, { name: 'big', cpu: 3, priority: 9 });
    const plan = pack(harness, [...large, ...harness.pods(3, { name: 'small', cpu: 2 })]);
    expect([countByNode(plan, 'big'), countByNode(plan, 'small')]).toEqual([{ a: 2 }, { b: 3 }]);
  });

  it('the nodes that a dry run allows', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b', 'c', 'd']) harness.node({ name, cpu: 6 });
    const within = new Set(['b', 'd']);
    const plan = pack(harness, gangIn(harness), { within });
    expect(isComplete(plan)).toBe(true);
    expect(new Set(plan!.assignments.map(({ nodeName }) => nodeName))).toEqual(within);
    expect(pack(harness, gangIn(harness), { within: new Set(['b', 'gone']) })).toBeUndefined();
  });

  it('the nodes that extenders left to each member', () => {
    const harness = harnessWith();
    for (const name of ['a', 'b', 'c', 'd']) harness.node({ name, cpu: 6 });
    const only = (...names: string[]): NonNullable<ReturnType<NonNullable<PlanRequest['nodeSubsetOf']>>> => ({
      allowed: new Map(names.map((name) => [name, 0])),
      rejected: new Map(),
    });
    const [big, small] = [only('c'), only('c', 'd')];
    const plan = pack(harness, gangIn(harness), { nodeSubsetOf: ({ name }) => (name.startsWith('big') ? big : small) });
    expect([countByNode(plan, 'big'), countByNode(plan, 'small')]).toEqual([{ c: 2 }, { d: 3 }]);
  });
});

describe('a partially bound gang', () => {
  it('gets nodes only for the members that are missing, and the bound ones stay', () => {
    const core = new Queueing({ plugins: defaultPlugins });
    for (const name of ['a', 'b']) core.node({ name, cpu: 6 });
    core.group({ name: 'red', minMember: 6 });
    core.pod({ name: 'bound', group: 'red', cpu: 1, nodeName: 'a' });
    for (const i of [1, 2]) core.pod({ name: `big-${i}`, group: 'red', cpu: i === 1 ? 3 : 2, labels: { i: `${i}` } });
    for (const i of [1, 2, 3]) core.pod({ name: `small-${i}`, group: 'red', cpu: 2 });
    const result = core.harness.core.attempt();
    expect(result?.kind).toBe('planned');
    if (result?.kind !== 'planned') return;
    expect(result.plan.assignments.map(({ pod }) => pod.name).sort()).toEqual([
      ...['big-1', 'big-2', 'small-1', 'small-2', 'small-3'],
    ]);
    expect(core.harness.cluster.node('a')!.pods.has('bound')).toBe(true);
    expect(['a', 'b'].map((name) => core.harness.cluster.node(name)!.free(0))).toEqual([0, 0]);
  });
});

describe('bin packing of members with volumes', () => {
  /** Two large members with a volume each, on nodes where only one packing exists. */
  function worldOf(volumes: Readonly<Record<string, string>>): { world: StorageScheduling; members: Pod[] } {
    const world = new StorageScheduling();
    const { harness } = world;
    for (const name of ['a', 'b']) {
      harness.node({ name, cpu: 6, labels: { 'kubernetes.io/hostname': name } });
    }
    for (const [name, node] of Object.entries(volumes)) world.volume(name, { node });
    for (const name of ['c0', 'c1']) world.claim(name, { storageClass: 'manual' });
    const members = [
      ...[0, 1].map((i) =>
        harness.pod({
          name: `big-${i}`,
          cpu: 3,
          spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: `c${i}` } }] },
        }),
      ),
      ...harness.pods(3, { name: 'small', cpu: 2 }),
    ];
    return { world, members };
  }

  const assumed = ({ harness }: StorageScheduling): unknown =>
    ['pv0', 'pv1', 'pv2'].map((name) => harness.cluster.assumedVolumes.volume(name)?.claim);

  it('takes the volumes of one node for both, and leaves none assumed', () => {
    const { world, members } = worldOf({ pv0: 'a', pv1: 'b', pv2: 'b' });
    const before = assumed(world);
    const plan = pack(world.harness, members);
    expect(isComplete(plan)).toBe(true);
    expect(countByNode(plan, 'big')).toEqual({ b: 2 });
    expect(assumed(world)).toEqual(before);
    expect(dryRun(world.harness, members)).toMatchObject({ placed: 5, blocked: undefined });
    expect(assumed(world)).toEqual(before);
  });

  it('leaves none assumed if no node has enough', () => {
    const { world, members } = worldOf({ pv0: 'a', pv1: 'b' });
    const before = assumed(world);
    expect(isComplete(pack(world.harness, members))).toBe(false);
    expect(assumed(world)).toEqual(before);
    expect(dryRun(world.harness, members).blocked).toBeDefined();
    expect(assumed(world)).toEqual(before);
  });
});
