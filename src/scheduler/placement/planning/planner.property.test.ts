import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { hashText } from '../../../base/hash-text.ts';
import { WorkBudget } from '../../../base/work-budget.ts';
import { seededRandom } from '../../../base/random.ts';
import { runs } from '../../../base/testing/runs.ts';
import { mustRespect } from '../../../cluster/reservation.ts';
import type { NodeInfo } from '../../../cluster/node-info.ts';
import { CycleState } from '../../../framework/cycle-state.ts';
import { describeDiagnosis, reasonsIn } from '../../../framework/diagnosis.ts';
import { notPreselected } from '../../../framework/profile.ts';
import type { Profile } from '../../../framework/profile.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { dryRun } from '../testing/planning.ts';
import { isBlocked, isUnderRule, no, occupancyOf, misbehaving } from '../testing/world-plugins.ts';
import { copyAssumptions, profileOf, World } from '../testing/world.ts';
import type { WorldGang } from '../testing/world.ts';
import type { WorldSize } from '../testing/world-draws.ts';
import type { Plan } from './planner.ts';

/** A small world with a gang to place, and an identical second gang. */
interface Scene {
  readonly world: World;
  readonly harness: CoreHarness;
  readonly members: readonly Pod[];
  readonly twin: readonly Pod[];
  readonly needed: number;
}

function sceneOf(seed: number, world = new World(seed)): Scene {
  const harness = world.harness();
  const gang = world.gang(11);
  const needed = Math.max(1, gang.length - world.upTo(Math.ceil(gang.length / 2)));
  const [members, twin] = ['first', 'second'].map((group) => {
    harness.group({ name: group, minMember: needed });
    return gang.map((options, i) => harness.pod({ ...options, name: `${group}-${i}`, uid: `${group}-${i}`, group }));
  });
  return { world, harness, members: members!, twin: twin!, needed };
}

interface PlanOptions {
  readonly profile?: Profile;
  /** Work of each step; absent: one step. */
  readonly work?: number;
  readonly within?: ReadonlySet<string>;
  /** Uids of pods to take out of the cluster cache. */
  readonly out?: readonly string[];
  /** Abandon the plan before this step. */
  readonly giveUpAt?: number;
  /** Restrict the nodes as extenders do, seeded by this text. */
  readonly narrow?: string;
  readonly nodeNames?: readonly string[];
}

/** Makes a plan and rolls it back. Returns no plan if it was abandoned or a plugin failed. */
function planAndRollBack(
  harness: CoreHarness,
  members: readonly Pod[],
  needed: number,
  options: PlanOptions = {},
): { readonly plan?: Plan; readonly failure?: string } {
  const { profile = harness.profile, work, within, out = [], giveUpAt, narrow, nodeNames = [] } = options;
  const transaction = harness.cluster.begin();
  transaction.takeOut(out.flatMap((uid) => harness.cluster.pod(uid) ?? []));
  const request = {
    profile,
    members,
    needed,
    groupState: new CycleState(),
    within,
    ...(narrow !== undefined && {
      nodeSubsetOf: ({ labels }: Pod) => {
        if (labels.own === '1') return undefined;
        const of = (name: string): number => hashText(`${narrow} ${labels.own} ${name}`);
        return {
          allowed: new Map(nodeNames.filter((name) => of(name) % 4 > 0).map((name) => [name, (of(name) % 70) / 7])),
          rejected: new Map(nodeNames.filter((name) => of(name) % 4 === 0).map((name) => [name, no])),
        };
      },
    }),
  };
  const budget = new WorkBudget();
  const open = harness.planner.steps(request, transaction, budget);
  try {
    for (let steps = 0; ; steps++) {
      expect(steps).toBeLessThan(10_000);
      if (work !== undefined) budget.allow(work);
      if (steps === giveUpAt) {
        open.return(undefined as never);
        return {};
      }
      const { done, value: plan } = open.next();
      if (work !== undefined) {
        // Readers of the cluster cache see nothing of a suspended plan.
        transaction.suspend();
        for (const id of [0, 1, 3]) void harness.cluster.amounts.of(id);
        transaction.resume();
      }
      if (done !== true) continue;
      if (plan.blocked === undefined) harness.planner.unreserve(profile, plan.assignments);
      return { plan };
    }
  } catch (error) {
    if ((error as Error).name !== 'PluginFailure') throw error;
    return { failure: (error as Error).message };
  } finally {
    transaction.rollback();
  }
}

/** Names of the strategies that do not choose nodes by score. */
const packingStrategies = new Set(['Search', 'ScarcestResourceFirst', 'LargestRequestFirst']);

/** Returns all that a plan reports; `nameOf` names the members. */
function reportOf(plan: Plan, nameOf: (pod: Pod) => unknown = ({ name }) => name): unknown {
  const { assignments, placed, blocked, unschedulablePlugins, pending, never, isExhaustive } = plan;
  const { strategy, searchedPlacements } = plan;
  return {
    assignments: assignments.map(({ pod, nodeName }) => [nameOf(pod), nodeName]),
    placed,
    blocked: blocked && [nameOf(blocked.pod), describeDiagnosis(blocked)],
    nodes: blocked?.rejection.kind === 'nodes' ? [...reasonsIn(blocked.rejection.rejections)].sort() : undefined,
    rejectors: blocked && [...blocked.plugins].sort(),
    unschedulablePlugins: [...unschedulablePlugins].sort(),
    pending: [...pending],
    never,
    isExhaustive,
    strategy,
    searchedPlacements,
  };
}

/** Computes everything from scratch, one pod and one node at a time: without signatures, tables or shares. */
class Reference {
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** Returns why the node rejects the pod now; `isOwn`: only reasons of node-local plugins. */
  rejection(pod: Pod, node: NodeInfo, isOwn = false): Status | undefined {
    const { profile } = this.#scene.harness;
    const state = new CycleState(new CycleState());
    const result = profile.preFilter(state, pod);
    if (result.status !== undefined) return result.status;
    const rejects = (isBeside: boolean): Status | undefined =>
      profile.filter(profile.localFilters, state, pod, node) ??
      (!isOwn && this.#isBlocked(pod, node, isBeside) ? no : undefined);
    const alone = rejects(false);
    if (alone !== undefined) return alone;
    const owners = this.#owners(pod, node);
    const occupied = isOwn ? undefined : this.#isBlocked(pod, node, true);
    for (const owner of owners) node.addPod(owner);
    const beside = profile.filter(profile.localFilters, state, pod, node);
    for (const owner of owners.toReversed()) node.removePod(owner);
    const reserved = beside ?? (occupied === true ? no : undefined);
    if (reserved !== undefined) {
      const reasons = reserved.reasons.map((reason) => `${reason} (capacity reserved for other pods)`);
      return new Status(reserved.code, reasons, reserved.plugin);
    }
    return result.nodeNames?.has(node.name) === false ? notPreselected : undefined;
  }

  #owners(pod: Pod, node: NodeInfo): Pod[] {
    return [...node.reservations.values()]
      .filter((reservation) => mustRespect(pod, reservation))
      .map(({ owner }) => owner);
  }

  #isBlocked(pod: Pod, node: NodeInfo, isBeside: boolean): boolean {
    const { rule } = this.#scene.world;
    if (rule === undefined || !isUnderRule(pod)) return false;
    const { nodes } = this.#scene.harness.cluster;
    const occupancy = occupancyOf(nodes);
    // A plugin that reads pods in PreFilter only does not see the owners of reservations.
    if (isBeside && rule.learns !== 'inPreFilter') occupancy.get(node.name)!.push(...this.#owners(pod, node));
    return isBlocked(rule, pod, node, nodes, occupancy);
  }

  feasible(pod: Pod, isOwn = false): NodeInfo[] {
    return this.#scene.harness.cluster.nodes.filter((node) => this.rejection(pod, node, isOwn) === undefined);
  }

  totals(pod: Pod): Map<string, number> {
    const { profile } = this.#scene.harness;
    const nodes = this.feasible(pod);
    const state = new CycleState(new CycleState());
    profile.preFilter(state, pod);
    const sums = new Map(nodes.map(({ name }) => [name, 0]));
    if (nodes.length === 0) return sums;
    for (const { plugin, weight } of profile.scorers) {
      if (plugin.preScore?.(state, pod, () => nodes)?.code === 'Skip') continue;
      const scores = Float64Array.from(nodes, (node) => plugin.score!(state, pod, node));
      plugin.normalizeScore?.(state, pod, scores);
      nodes.forEach(({ name }, i) => sums.set(name, sums.get(name)! + weight * scores[i]!));
    }
    return sums;
  }

  /** reason -> number of nodes */
  reasons(pod: Pod): Map<string, number> {
    const reasons = new Map<string, number>();
    for (const node of this.#scene.harness.cluster.nodes) {
      for (const reason of this.rejection(pod, node)?.reasons ?? [])
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    return reasons;
  }
}

describe('a plan', () => {
  it('matches the result of calling every plugin for every pod and node', () => {
    const counts = { complete: 0, incomplete: 0, easiestFirst: 0, packed: 0, withRule: 0 };
    for (let seed = 1; seed <= runs(1600); seed++) {
      const scene = sceneOf(seed);
      const { world, harness, members, needed } = scene;
      // The reference does not model Reserve rejections, and it knows only one plugin that reads other nodes.
      if (world.plugins.has('Accounting') || world.plugins.has('Far')) continue;
      const isPlain = world.rule === undefined;
      const reference = new Reference(scene);
      const feasibleCounts = new Map(members.map((pod) => [pod, reference.feasible(pod).length]));
      const { plan } = planAndRollBack(harness, members, needed);
      const { assignments, placed, blocked, strategy = '' } = plan!;
      const isByScore = !packingStrategies.has(strategy);
      /** Negative: the first is harder to place. */
      const compare = (a: Pod, b: Pod): number =>
        feasibleCounts.get(a)! - feasibleCounts.get(b)! || b.template.nonZeroMilliCpu - a.template.nonZeroMilliCpu;
      const order = assignments.map(({ pod }) => pod);
      const isHardestFirst = order.every((pod, i) => i === 0 || compare(order[i - 1]!, pod) <= 0);
      const isEasiestFirst = order.every((pod, i) => i === 0 || compare(order[i - 1]!, pod) >= 0);
      const transaction = harness.cluster.begin();
      for (const { pod, nodeName } of assignments) {
        const totals = reference.totals(pod);
        expect([...totals.keys()], `${pod.name}, seed ${seed}`).toContain(nodeName);
        if (isByScore) {
          expect(totals.get(nodeName), `${pod.name}, seed ${seed}`).toBeCloseTo(Math.max(...totals.values()), 6);
        }
        transaction.assume(pod, harness.cluster.node(nodeName)!);
      }
      const left = members.filter(({ uid }) => !harness.cluster.isAssumed(uid));
      if (world.rule !== undefined) counts.withRule++;
      if (assignments.length === needed) {
        counts.complete++;
        if (!isByScore) counts.packed++;
        if (isPlain && isByScore) {
          if (!isHardestFirst) counts.easiestFirst++;
          expect(isHardestFirst || (isEasiestFirst && needed < members.length), `seed ${seed}`).toBe(true);
        }
      } else {
        counts.incomplete++;
        expect(blocked, `seed ${seed}`).toBeDefined();
        const hadRetry = !isByScore || (placed > 0 && needed < members.length);
        if (isPlain && !hadRetry) {
          expect(isHardestFirst, `seed ${seed}`).toBe(true);
          expect(placed).toBe(assignments.length);
          expect(left).toContain(blocked!.pod);
          const { rejection } = blocked!;
          if (rejection.kind === 'nodes') {
            expect(reasonsIn(rejection.rejections), `${blocked!.pod.name}, seed ${seed}`).toEqual(
              reference.reasons(blocked!.pod),
            );
          }
        }
        // A placeable member stays without a node only if too few of them exist anyway.
        const possible = left.filter((pod) => reference.feasible(pod, true).length > 0);
        if (assignments.length + possible.length >= needed) {
          for (const pod of possible) expect(reference.feasible(pod), `${pod.name}, seed ${seed}`).toHaveLength(0);
        }
      }
      transaction.rollback();
    }
    expect(Math.min(counts.complete, counts.incomplete, counts.withRule), JSON.stringify(counts)).toBeGreaterThan(
      runs(100),
    );
    // Too rare to require for a tenth of the seeds.
    expect(counts.easiestFirst).toBeGreaterThanOrEqual(Math.floor(runs(20) / 20));
  });

  it('reserves exactly what it places and leaves no trace after a rollback, whatever plugins return or throw', () => {
    const ends = { complete: 0, incomplete: 0, thrown: 0, exhausted: 0 };
    for (let seed = 1; seed <= runs(900); seed++) {
      const log: string[] = [];
      const isWellBehaved = seed % 3 === 0;
      const plugins = ['One', 'Two'];
      const made = (random: () => number) => plugins.map((name) => misbehaving(name, random, isWellBehaved, log));
      const { harness, members, needed } = sceneOf(seed, new World(seed, { plugins: made }));
      const before = harness.capacities();
      const freeBefore = new Map(harness.cluster.nodes.map((node) => [node, node.free(0)]));
      const random = seededRandom(seed);
      const limit = random() < 0.3 ? random() * 600 : Infinity;
      let spent = 0;
      const spend = (steps: number): void => {
        spent += steps;
        if (spent > limit) throw new Error('too much');
      };
      const transaction = harness.cluster.begin();
      try {
        const request = { profile: harness.profile, members, needed, groupState: new CycleState(), spend };
        const plan = harness.planner.plan(request, transaction);
        const { assignments } = plan;
        ends[assignments.length < needed ? 'incomplete' : 'complete']++;
        const nodeOf = new Map(assignments.map(({ pod, nodeName }) => [pod, nodeName]));
        expect(nodeOf.size, `seed ${seed}`).toBe(assignments.length);
        expect(assignments.length).toBeLessThanOrEqual(needed);
        expect(plan.blocked === undefined, `seed ${seed}`).toBe(assignments.length === needed);
        const inEffect = plan.blocked === undefined ? nodeOf : new Map<Pod, string>();
        for (const pod of members) {
          const on = harness.cluster.nodes.filter(({ pods }) => pods.has(pod.uid)).map(({ name }) => name);
          expect(on, `seed ${seed}`).toEqual(inEffect.has(pod) ? [inEffect.get(pod)] : []);
        }
        for (const node of harness.cluster.nodes) {
          expect(node.free(0)).toBeGreaterThanOrEqual(Math.min(0, freeBefore.get(node)!));
        }
        const assumed = new Set([...inEffect].map(([{ name }, nodeName]) => `${name} ${nodeName}`));
        for (const name of plugins) expect(openIn(log, name), `seed ${seed}`).toEqual(assumed);
        if (plan.blocked === undefined) harness.planner.unreserve(harness.profile, assignments);
      } catch (error) {
        const isExhausted = (error as Error).message === 'too much';
        if (!isExhausted && (error as Error).name !== 'PluginFailure') throw error;
        ends[isExhausted ? 'exhausted' : 'thrown']++;
      }
      for (const name of plugins) expect(openIn(log, name), `seed ${seed}`).toEqual(new Set());
      transaction.rollback();
      expect(harness.capacities(), `seed ${seed}`).toEqual(before);
      expect([harness.cluster.assumedCount, harness.cluster.isPlanning]).toEqual([0, false]);
    }
    expect(Math.min(...Object.values(ends)), JSON.stringify(ends)).toBeGreaterThan(runs(15));
  });
});

/**
 * Returns what the plugin has reserved and not unreserved. Expects at most one Unreserve per Reserve. An Unreserve without a
 * Reserve is allowed only if another plugin rejected first.
 */
function openIn(log: readonly string[], name: string): ReadonlySet<string> {
  const open = new Set<string>();
  const undone = new Set<string>();
  for (const line of log) {
    const [what, plugin, pod, node] = line.split(' ');
    const where = `${pod} ${node}`;
    // A new attempt there, which may not reach this plugin.
    if (what === '+' && plugin !== name) undone.delete(where);
    if (plugin !== name) continue;
    if (what === '+') {
      expect(open, line).not.toContain(where);
      open.add(where);
      undone.delete(where);
    } else {
      expect(undone, `${line} again`).not.toContain(where);
      open.delete(where);
      undone.add(where);
    }
  }
  return open;
}

describe('the same request on the same cluster state', () => {
  it('has the same result, at once and in steps, for each identical gang, whatever was planned in between', () => {
    let rejected = 0;
    for (let seed = 1; seed <= runs(500); seed++) {
      const { harness, members, twin, needed } = sceneOf(seed);
      const result = (gang: readonly Pod[], options: PlanOptions = {}): unknown =>
        reportOf(planAndRollBack(harness, gang, needed, options).plan!, (pod) => gang.indexOf(pod));
      const first = result(members);
      if ((first as { blocked?: unknown }).blocked !== undefined) rejected++;
      // Other plans. Some use the same tables, and some evict them.
      const random = seededRandom(seed);
      for (let i = 0; i < 5; i++) {
        const some = [...members, ...twin].filter(() => random() < 0.5);
        planAndRollBack(harness, some, Math.ceil(some.length * random()));
      }
      expect(result(members), `seed ${seed}`).toEqual(first);
      expect(result(twin), `the twin, seed ${seed}`).toEqual(first);
      for (const work of [0, 1, 50, 500]) {
        expect(result(members, { work }), `seed ${seed}, steps of ${work}`).toEqual(first);
      }
    }
    expect(rejected).toBeGreaterThan(runs(100));
  });

  it('has the same result after any history', () => {
    const counts = { complete: 0, rejected: 0, failed: 0, withClaims: 0, committed: 0 };
    const sizes: readonly WorldSize[] = ['any', 'any', 'huge scores', 'any', 'many nodes', 'any', 'many pod classes'];
    for (let seed = 1; seed <= runs(180); seed++) playHistory(seed, sizes[seed % sizes.length]!, counts);
    expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThanOrEqual(runs(10));
  });
});

type HistoryCounts = Record<'complete' | 'rejected' | 'failed' | 'withClaims' | 'committed', number>;

/** A plan that is being bound: its pods and volumes are assumed. */
interface Committed {
  readonly profile: Profile;
  readonly assignments: Plan['assignments'];
}

/**
 * One core sees a world change and makes many plans. For each plan, a new core gets only the latest state and must plan the same.
 */
function playHistory(seed: number, size: WorldSize, counts: HistoryCounts): void {
  const world = new World(seed, { size });
  const old = world.harness();
  const { pods, nodeNames } = world;
  const max = size === 'many pod classes' ? 45 : size === 'many nodes' ? 25 : 5;
  const makeGang = (): WorldGang => {
    const gang = world.gang(max - 1);
    for (const options of gang) old.pod(world.add(options));
    const profileName = world.pick(['default-scheduler', 'default-scheduler', 'other']);
    return { uids: gang.map(({ uid }) => uid!), profileName };
  };
  const waiting = Array.from({ length: 3 }, makeGang);
  const committed: Committed[] = [];
  /** Binds the pods of a plan to their nodes, or drops the plan. */
  const settle = (): void => {
    const one = committed.splice(world.upTo(committed.length - 1), 1)[0]!;
    const isBound = world.flag(0.6);
    if (!isBound) old.planner.unreserve(one.profile, one.assignments);
    for (const { pod, nodeName } of one.assignments) {
      const options = pods.get(pod.uid);
      if (!isBound || world.flag(0.3)) old.cluster.forget(pod);
      if (isBound && options !== undefined) old.pod(world.add({ ...options, nodeName }));
    }
  };
  const boundPods = (): string[] =>
    [...pods.values()].filter(({ nodeName }) => nodeName !== undefined && world.flag(0.5)).map(({ uid }) => uid!);
  const someNodes = (): ReadonlySet<string> => new Set(nodeNames.filter(() => world.flag(0.5)));

  for (let round = 0; round < 12; round++) {
    for (let i = world.upTo(size === 'many nodes' ? 25 : 4); i > 0; i--) world.change(old);
    if (committed.length > 0 && world.flag(0.5)) settle();
    if (world.flag(0.3)) world.podClasses[world.upTo(world.podClasses.length - 1)] = world.podClass();
    const position = world.upTo(waiting.length - 1);
    const { uids, profileName } = waiting[position]!;
    const open = uids.filter((uid) => old.cluster.openPod(uid) !== undefined);
    if (open.length === 0) {
      waiting[position] = makeGang();
      continue;
    }
    const needed = Math.max(1, open.length - world.upTo(2));
    const membersOf = (harness: CoreHarness, some = open): Pod[] => some.map((uid) => harness.cluster.pod(uid)!);
    const profileIn = (harness: CoreHarness, name: string): Profile => profileOf(harness, name, membersOf(harness));
    // History: other plans, dry runs and abandoned plans.
    for (let i = world.upTo(3); i > 0; i--) {
      const some = open.filter(() => world.flag(0.6));
      if (some.length === 0) continue;
      planAndRollBack(old, membersOf(old, some), Math.max(1, some.length - world.upTo(1)), {
        profile: profileIn(old, world.pick(['default-scheduler', 'other'])),
        nodeNames,
        ...(world.flag(0.4) && { work: world.pick([0, 5, 50]) }),
        ...(world.flag(0.3) && { within: someNodes() }),
        ...(world.flag(0.4) && { out: boundPods() }),
        ...(world.flag(0.3) && { giveUpAt: world.upTo(4) }),
        ...(world.flag(0.2) && { narrow: `${world.upTo(1)}` }),
      });
    }
    const options: PlanOptions = {
      nodeNames,
      ...(world.flag(0.2) && { within: someNodes() }),
      ...(world.flag(0.2) && { out: boundPods() }),
      ...(world.flag(0.2) && { narrow: `${world.upTo(1)}` }),
    };
    const work = world.flag(0.3) ? world.pick([0, 5, 50]) : undefined;
    const profile = profileIn(old, profileName);
    const result = planAndRollBack(old, membersOf(old), needed, {
      ...options,
      profile,
      ...(work !== undefined && { work }),
    });

    const fresh = world.harness(old);
    copyAssumptions(old, fresh);
    const freshResult = planAndRollBack(fresh, membersOf(fresh), needed, {
      ...options,
      profile: profileIn(fresh, profileName),
    });
    const reported = ({ plan, failure }: typeof result): unknown => failure ?? reportOf(plan!);
    expect(reported(result), `seed ${seed}, round ${round}`).toEqual(reported(freshResult));
    const { plan } = result;
    if (plan === undefined || JSON.stringify(reportOf(plan)).includes('too odd')) counts.failed++;
    else if (plan.blocked === undefined) counts.complete++;
    else counts.rejected++;
    if (plan?.assignments.some(({ pod }) => pod.volumes.some(({ type }) => type === 'claim'))) counts.withClaims++;
    const isAsIs = options.within === undefined && options.out === undefined && options.narrow === undefined;
    if (plan !== undefined && plan.blocked === undefined && isAsIs && world.flag(0.6)) {
      const transaction = old.cluster.begin();
      const request = { profile, members: membersOf(old), needed, groupState: new CycleState() };
      const { assignments } = old.planner.plan(request, transaction);
      transaction.commit();
      committed.push({ profile, assignments });
      counts.committed++;
    }
  }
}

describe('a plan in steps', () => {
  it('takes more steps the less work each has, and leaves nothing reserved or assumed if it is abandoned after any step', () => {
    let steps = 0;
    for (let seed = 1; seed <= runs(200); seed++) {
      const { harness, members, needed } = sceneOf(seed);
      const before = harness.capacities();
      const transaction = harness.cluster.begin();
      let spent = 0;
      const spend = (work: number): void => void (spent += work);
      const request = { profile: harness.profile, members, needed, groupState: new CycleState(), spend };
      const budget = new WorkBudget();
      const open = harness.planner.steps(request, transaction, budget);
      let plan: Plan | undefined;
      for (let i = seed % 7; i > 0 && plan === undefined; i--) {
        spent = 0;
        budget.allow(0);
        plan = open.next().value;
        steps++;
        // One step counts up to eight pod classes. A member costs a check of each node, plus at most 40.
        expect(spent).toBeLessThanOrEqual(40 + 8 * harness.cluster.nodes.length);
      }
      open.return(undefined as never);
      if (plan?.blocked === undefined) harness.planner.unreserve(harness.profile, plan?.assignments ?? []);
      transaction.rollback();
      expect(harness.capacities()).toEqual(before);
      expect(open.next()).toEqual({ done: true, value: undefined });
    }
    expect(steps).toBeGreaterThan(runs(300));
  });
});

describe('equal nodes', () => {
  const nodeOf = (cpu: string, seed: number): string => {
    const harness = new CoreHarness({ plugins: defaultPlugins, seed });
    for (let i = 0; i < 10; i++) harness.node({ name: `n${i}`, cpu: 64 });
    const [pod] = harness.pods(1, { cpu });
    return dryRun(harness, [pod!]).assignments[0]!.nodeName;
  };
  const sizes = Array.from({ length: 20 }, (_, i) => `${100 + i}m`);

  it('have a different order for pods with another signature and for another scheduler', () => {
    expect(new Set(sizes.map((cpu) => nodeOf(cpu, 1))).size).toBeGreaterThan(5);
    expect(new Set(sizes.map((_, seed) => nodeOf('1', seed))).size).toBeGreaterThan(5);
  });

  it('have the same order in the same scheduler, whatever the order of their arrival', () => {
    const namesOf = (nodes: readonly string[]): string[] => {
      const harness = new CoreHarness({ plugins: defaultPlugins, seed: 7 });
      for (const name of nodes) harness.node({ name, cpu: 1 });
      const pods = harness.pods(nodes.length, { cpu: 1 });
      return dryRun(harness, pods).assignments.map(({ nodeName }) => nodeName);
    };
    const names = Array.from({ length: 12 }, (_, i) => `n${i}`);
    expect(namesOf(names.toReversed())).toEqual(namesOf(names));
    expect(namesOf(names)).not.toEqual(names);
  });
});
