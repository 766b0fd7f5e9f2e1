import { beforeEach, describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/pod.ts';
import { keptBy } from '../../../cluster/testing/node-assignments.ts';
import { describeDiagnosis, failureIn } from '../../../framework/diagnosis.ts';
import type { SchedulingEntity } from '../../../framework/scheduling-entity.ts';
import type { Plugin } from '../../../framework/plugin.ts';
import type { PluginHandle } from '../../../framework/plugin-handle.ts';
import { Status } from '../../../framework/status.ts';
import { defaultPlugins } from '../../../plugins/registry.ts';
import { CoreHarness } from '../../../testkit/core-harness.ts';
import { DryRuns } from './dry-runs.ts';
import type { CoreDryRunOptions, DryRun } from './dry-runs.ts';

let harness: CoreHarness;

/** Creates nodes a and b with capacity for two members each. */
function open(...extra: Plugin[]): void {
  harness = new CoreHarness({ plugins: defaultPlugins, extra });
  for (const name of ['a', 'b']) harness.node({ name, cpu: 2 });
}

/** Creates a gang with this quorum and `pending` members that request one CPU each. Returns its scheduling entity. */
function gang(name: string, minMember: number, pending = minMember): SchedulingEntity {
  harness.group({ name, minMember });
  harness.pods(pending, { group: name, cpu: 1 });
  return entityOf(name);
}

function entityOf(name: string): SchedulingEntity {
  return { kind: 'gang', gang: harness.cluster.gang(`default/${name}`)! };
}

/** Returns everything that a dry run could have changed. */
function everything(): unknown {
  const { cluster, waitingPods } = harness;
  const terms: unknown[] = [];
  cluster.affinityTerms.each((rules, namespace) => terms.push([rules, namespace]));
  return {
    terms,
    placed: keptBy(cluster),
    generations: [...cluster.generations.subarray(0, cluster.nodes.length)],
    capacities: harness.capacities(),
    gangs: [...cluster.gangs()].map(({ key, order, counted, missing, started, members }) => {
      return { key, order, counted, missing, started, members: [...members.keys()] };
    }),
    reservations: cluster.nodes.flatMap(({ name, reservations }) => [...reservations.keys()].map((uid) => [uid, name])),
    counts: [cluster.podCount, cluster.assumedCount, cluster.nodesRevision, waitingPods.size],
  };
}

/** Makes a dry run and expects everything to be as before. */
function dryRun(schedulingEntity: SchedulingEntity, options?: CoreDryRunOptions): DryRun {
  const before = everything();
  const result = new DryRuns(harness.cluster, harness.planner).run(harness.profile, schedulingEntity, options);
  expect(everything()).toEqual(before);
  return result;
}

function nodesOf({ plan }: DryRun): Record<string, string> {
  return Object.fromEntries(plan.map(({ pod, nodeName }) => [pod.name, nodeName]));
}

/** Creates bound pods that request one CPU each. */
function bound(count: number, nodeName: string, name = 'old'): Pod[] {
  return harness.pods(count, { name: `${name}-${nodeName}`, cpu: 1, nodeName });
}

beforeEach(() => open());

describe('a dry run', () => {
  it('returns the nodes where a gang that fits would go', () => {
    const { fits, plan, blocked, isExhaustive } = dryRun(gang('red', 3));
    expect([fits, blocked, isExhaustive]).toEqual([true, undefined, true]);
    expect(plan.map(({ nodeName }) => nodeName).sort()).toHaveLength(3);
  });

  it('returns how many members of a gang that does not fit would be placed, and what blocks the rest', () => {
    bound(1, 'a');
    const { fits, plan, blocked } = dryRun(gang('red', 4));
    expect(fits).toBe(false);
    expect(plan).toHaveLength(3);
    expect(blocked!.pod.name).toBe('red-3');
    expect(describeDiagnosis(blocked!)).toBe('0/2 nodes are available: 2 Insufficient cpu.');
  });

  it('adds arriving pods, and drops their affinity terms afterwards', () => {
    const schedulingEntity = gang('blue', 2, 1);
    const term = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'noisy' } } };
    const coming = harness.build.projectedPod({
      name: 'coming',
      cpu: 1,
      group: 'blue',
      spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    });
    for (const name of ['a', 'b']) harness.node({ name, cpu: 2, labels: { zone: name } });
    harness.pod({ name: 'noisy', cpu: 1, nodeName: 'a', labels: { app: 'noisy' } });
    const suppose = (): DryRun => dryRun(schedulingEntity, { arrivals: [coming], members: [coming], need: 1 });
    expect(nodesOf(suppose())).toEqual({ coming: 'b' });
    harness.pod({ name: 'noisy-too', cpu: 1, nodeName: 'b', labels: { app: 'noisy' } });
    expect(describeDiagnosis(suppose().blocked!)).toContain("didn't match pod anti-affinity rules");
  });

  it('returns the same result when repeated', () => {
    const red = gang('red', 3);
    const old = bound(2, 'a');
    const [first, second] = [dryRun(red, { without: old }), dryRun(red, { without: old })];
    expect([first.fits, second.fits, dryRun(red).fits]).toEqual([true, true, false]);
  });

  it('works for a single pod too', () => {
    bound(2, 'a');
    const pod = harness.pod({ name: 'x', cpu: 2 });
    const old = bound(1, 'b');
    expect(dryRun({ kind: 'pod', pod }).fits).toBe(false);
    expect(nodesOf(dryRun({ kind: 'pod', pod }, { without: old }))).toEqual({ x: 'b' });
  });

  it('places nothing if the pod is deleted or already bound', () => {
    const pod = harness.pod({ name: 'x', cpu: 1 });
    harness.cluster.setPod({ ...pod, nodeName: 'a' });
    expect(dryRun({ kind: 'pod', pod })).toMatchObject({ fits: false, plan: [] });
    harness.cluster.removePod(pod.uid);
    expect(dryRun({ kind: 'pod', pod })).toMatchObject({ fits: false, plan: [] });
  });

  it('places nothing for a gang that already has its quorum', () => {
    harness.group({ name: 'red', minMember: 1 });
    harness.pod({ group: 'red', cpu: 1, nodeName: 'a' });
    harness.pod({ group: 'red', cpu: 1 });
    expect(dryRun(entityOf('red'))).toMatchObject({ fits: true, plan: [] });
  });

  it('proves that a gang can never fit if every node rejects it as unresolvable', () => {
    harness.group({ name: 'red', minMember: 2 });
    harness.pods(2, { group: 'red', nodeSelector: { gpu: 'yes' } });
    expect(dryRun(entityOf('red'))).toMatchObject({ fits: false, isExhaustive: true });
  });
});

describe('a dry run without some pods', () => {
  it('gives the capacity of these pods to the entity', () => {
    const red = gang('red', 4);
    const old = bound(2, 'b');
    expect(dryRun(red).fits).toBe(false);
    expect(dryRun(red, { without: [old[0]!] }).fits).toBe(false);
    expect(Object.values(nodesOf(dryRun(red, { without: old }))).sort()).toEqual(['a', 'a', 'b', 'b']);
  });

  it('takes any iterable of pods, even one that can be read only once', () => {
    const red = gang('red', 4);
    const old = bound(2, 'b');
    expect(dryRun(red, { without: old.values() }).fits).toBe(true);
    expect(dryRun(red, { without: new Set(old) }).fits).toBe(true);
  });

  it('removes a whole gang and restores it', () => {
    harness.group({ name: 'blue', minMember: 3 });
    harness.pods(2, { name: 'blue-a', group: 'blue', cpu: 1, nodeName: 'a' });
    harness.pods(1, { name: 'blue-b', group: 'blue', cpu: 1, nodeName: 'b' });
    const red = gang('red', 4);
    const blue = harness.cluster.gang('default/blue')!;
    expect(dryRun(red).fits).toBe(false);
    expect(dryRun(red, { without: blue.members.values() }).fits).toBe(true);
    expect([blue.counted, blue.missing, blue.started]).toEqual([3, 0, true]);
  });

  it('places a replacement for a member that it removes from the gang itself', () => {
    harness.group({ name: 'red', minMember: 2 });
    const own = harness.pod({ name: 'own', group: 'red', cpu: 1, nodeName: 'a' });
    harness.pods(2, { group: 'red', cpu: 1 });
    expect(dryRun(entityOf('red')).plan).toHaveLength(1);
    expect(dryRun(entityOf('red'), { without: [own] }).plan).toHaveLength(2);
  });

  it('does not place the members of the gang that it removes', () => {
    const red = gang('red', 2, 3);
    const [first, second] = harness.cluster.gang('default/red')!.pending.values();
    expect(Object.keys(nodesOf(dryRun(red, { without: [first!] })))).toEqual(['red-1', 'red-2']);
    expect(dryRun(red, { without: [first!, second!] }).fits).toBe(false);
  });

  it('frees capacity reserved for the removed pods, but not capacity reserved for other pods', () => {
    const pod = harness.pod({ name: 'x', cpu: 2 });
    const [one, other] = ['a', 'b'].map((nodeName) =>
      harness.pod({ name: `nominated-${nodeName}`, cpu: 2, nominatedNodeName: nodeName }),
    );
    expect(dryRun({ kind: 'pod', pod }).fits).toBe(false);
    expect(nodesOf(dryRun({ kind: 'pod', pod }, { without: [one!] }))).toEqual({ x: 'a' });
    expect(nodesOf(dryRun({ kind: 'pod', pod }, { without: [other!] }))).toEqual({ x: 'b' });
    expect(dryRun({ kind: 'pod', pod }).fits).toBe(false);
  });
});

describe('a dry run within some nodes', () => {
  it('places members only there, and reports the number of these nodes', () => {
    const red = gang('red', 2);
    expect(nodesOf(dryRun(red, { within: new Set(['b']) }))).toEqual({ 'red-0': 'b', 'red-1': 'b' });
    const blue = dryRun(gang('blue', 3), { within: new Set(['b']) });
    expect(blue.fits).toBe(false);
    expect(describeDiagnosis(blue.blocked!)).toBe('0/1 nodes are available: 1 Insufficient cpu.');
  });

  it('ignores nodes that do not exist', () => {
    const red = gang('red', 2);
    expect(nodesOf(dryRun(red, { within: new Set(['gone', 'a']) }))).toEqual({ 'red-0': 'a', 'red-1': 'a' });
    expect(dryRun(red, { within: new Set(['gone']) })).toMatchObject({ fits: false, plan: [] });
    expect(dryRun(red, { within: new Set() })).toMatchObject({ fits: false, plan: [] });
  });

  it('does not restrict the dry runs after it', () => {
    const red = gang('red', 4);
    dryRun(red, { within: new Set(['b']) });
    expect(dryRun(red).fits).toBe(true);
    expect(dryRun(red, { within: new Set(['a']) }).plan).toHaveLength(2);
  });

  it('reports a pod that fits on none of these nodes as never fitting, even if it fits elsewhere', () => {
    harness.node({ name: 'large', cpu: 8 });
    const pod = harness.pod({ name: 'x', cpu: 4 });
    expect(dryRun({ kind: 'pod', pod }, { within: new Set(['a', 'b']) })).toMatchObject({
      fits: false,
      isExhaustive: true,
    });
    expect(dryRun({ kind: 'pod', pod }).fits).toBe(true);
  });

  it('can remove pods on them at the same time', () => {
    const red = gang('red', 2);
    const old = [...bound(2, 'a'), ...bound(2, 'b')];
    expect(dryRun(red, { within: new Set(['b']), without: old.slice(0, 2) }).fits).toBe(false);
    expect(nodesOf(dryRun(red, { within: new Set(['b']), without: old }))).toEqual({ 'red-0': 'b', 'red-1': 'b' });
  });
});

describe('a dry run with a different number of needed members', () => {
  it('stops at the requested number', () => {
    const red = gang('red', 4);
    expect(dryRun(red, { need: 1 }).plan).toHaveLength(1);
    expect(dryRun(red, { need: 3 }).plan).toHaveLength(3);
  });

  it('goes beyond the quorum on request', () => {
    const red = gang('red', 2, 5);
    expect(dryRun(red).plan).toHaveLength(2);
    expect(dryRun(red, { need: 4 })).toMatchObject({ fits: true });
    expect(dryRun(red, { need: 5 })).toMatchObject({ fits: false });
  });

  it('does not fit if there are fewer members than needed', () => {
    expect(dryRun(gang('red', 2), { need: 3 })).toMatchObject({ fits: false, isExhaustive: true });
  });
});

describe('the dry run in a plugin’s handle', () => {
  /** Creates a harness with a plugin that has this extension point and uses the handle. */
  function openWith(point: (handle: () => PluginHandle) => Omit<Plugin, 'name'>): void {
    let handle: PluginHandle | undefined;
    const factory = (_args: unknown, pluginHandle: PluginHandle): Plugin => {
      handle = pluginHandle;
      return { name: 'Trying', ...point(() => handle!) };
    };
    harness = new CoreHarness({ plugins: [...defaultPlugins, { name: 'Trying', factory }] });
    harness.node({ name: 'a', cpu: 2 });
  }

  it('throws while a plan is in progress, which fails the entity and breaks nothing else', () => {
    openWith((handle) => ({
      sign: () => '',
      filter: (_state, pod) => void handle().dryRun({ kind: 'pod', pod }),
    }));
    const { blocked } = dryRun(gang('red', 1));
    expect(failureIn(blocked!)?.message).toContain('Trying failed in Filter: cannot start a dry run');
    const second = dryRun(entityOf('red'));
    expect(failureIn(second.blocked!)?.message).toContain(
      'Trying failed in Filter: cannot start a dry run while a plan is in progress',
    );
    harness.cluster.begin().rollback();
  });

  it('plans for the plugin’s own profile, and works between cycles', () => {
    let handle: () => PluginHandle = () => expect.fail('the factory was not called');
    openWith((own) => {
      handle = own;
      return {};
    });
    const red = gang('red', 2);
    const before = everything();
    expect(handle().dryRun(red).fits).toBe(true);
    expect(handle().dryRun(red, { within: new Set() }).fits).toBe(false);
    expect(everything()).toEqual(before);
  });
});

describe('a plugin in a dry run', () => {
  const bug = (): never => {
    throw new Error('a bug');
  };

  it.each<[string, Omit<Plugin, 'name'>]>([
    ['PreFilter', { sign: () => '', preFilter: bug }],
    ['Filter', { sign: () => '', filter: bug }],
    ['Score', { sign: () => '', score: bug }],
    ['Reserve', { reserve: bug }],
    ['Reserve', { reserve: (_state, { name }) => (name === 'red-1' ? bug() : undefined) }],
  ])(
    'that throws in %s ends it with an error that names the plugin, and leaves the cluster cache as it was',
    (point, broken) => {
      open({ name: 'Broken', ...broken });
      const red = gang('red', 3);
      const { fits, blocked } = dryRun(red, { without: bound(2, 'a') });
      expect(fits).toBe(false);
      expect(failureIn(blocked!)?.message).toBe(`Broken failed in ${point}: a bug`);
    },
  );

  it('that throws in `sign` makes the dry run throw and leaves the cluster cache as it was', () => {
    open({ name: 'Broken', filter: () => undefined, sign: bug });
    const red = gang('red', 3);
    const old = bound(2, 'a');
    const before = everything();
    expect(() => harness.core.dryRun(red, { without: old })).toThrow('a bug');
    expect(everything()).toEqual(before);
    harness.cluster.begin().rollback();
  });

  it('gets Unreserve for each reserved pod, latest first', () => {
    const undone: string[] = [];
    open({
      name: 'Broken',
      reserve: (_state, { name }) => (name === 'red-2' ? new Status('Unschedulable', 'no') : undefined),
      unreserve: (_state, { name }, nodeName) => void undone.push(`${name} ${nodeName}`),
    });
    const { plan } = dryRun(gang('red', 3));
    const placed = plan.map(({ pod, nodeName }) => `${pod.name} ${nodeName}`);
    // The pod that Reserve rejects is unreserved on each node that was tried.
    expect(undone.slice(0, 2).sort()).toEqual(['red-2 a', 'red-2 b']);
    expect(undone.slice(2)).toEqual(placed.toReversed());
  });

  it('gets as many Unreserve calls as Reserve calls when the dry run succeeds', () => {
    const log: string[] = [];
    open({
      name: 'Keeping',
      reserve: (_state, { name }) => void log.push(`+${name}`),
      unreserve: (_state, { name }) => void log.push(`-${name}`),
    });
    dryRun(gang('red', 3));
    expect(log).toEqual(['+red-0', '+red-1', '+red-2', '-red-2', '-red-1', '-red-0']);
  });
});
