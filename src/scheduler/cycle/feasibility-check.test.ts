import { describe, expect, it, vi } from 'vitest';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import { planAnnotations } from '../../api/pod.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { withoutPreemption } from '../testing/preemption-plugins.ts';
import { entityInFlight } from '../testing/entity.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { CoreHarnessOptions } from '../../testkit/core-harness.ts';

const barred = new Status('Unschedulable', 'barred');
const sentence = 'It would not fit even if all other pods were gone.';

/** A core whose dry runs are counted. */
interface CountedCore {
  readonly harness: CoreHarness;
  /** Creates a gang with this quorum, and that many members unless `count` says otherwise. */
  readonly gang: (
    group: PodGroupOptions & { readonly name: string },
    members?: PodOptions & { readonly count?: number },
  ) => void;
  /** Makes an attempt that is rejected. Returns what the gang waits for. */
  readonly attempt: (name: string) => string;
  /** Returns the number of dry runs since the last call. */
  readonly dryRuns: () => number;
}

function open(extra: readonly Plugin[] = [], options: Partial<CoreHarnessOptions> = {}): CountedCore {
  const harness = new CoreHarness({ plugins: withoutPreemption, extra, ...options });
  /** Each attempt opens one transaction, and so does each dry run. */
  const transactions = vi.spyOn(harness.cluster, 'begin');
  let attempts = 0;
  return {
    harness,
    gang: (group, { count = group.minMember ?? 1, ...member } = {}) => {
      harness.group(group);
      harness.pods(count, { group: group.name, cpu: 1, ...member });
    },
    attempt: (name) => {
      attempts++;
      const entity = entityInFlight({ gang: harness.cluster.gang(`default/${name}`)! });
      const before = harness.capacities();
      const { cycle, profiles } = harness.core;
      const result = cycle.run(entity, profiles.of(entity.schedulingEntity));
      if (result.kind !== 'rejected') throw new Error(`the attempt ended ${result.kind}`);
      expect(harness.capacities()).toEqual(before);
      const { message, waitsFor } = result.verdict;
      expect(message.endsWith(sentence)).toBe(waitsFor === 'never');
      return waitsFor;
    },
    dryRuns: () => {
      const count = transactions.mock.calls.length - attempts;
      transactions.mockClear();
      attempts = 0;
      return count;
    },
  };
}

describe('a gang that does not fit', () => {
  it('waits for capacity if it would fit on empty nodes', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.pods(3, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 4 });
    expect(attempt('red')).toBe('capacity');
  });

  it('waits for capacity if members of a former group of the same name use it', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', uid: 'second', minMember: 4 });
    const annotations = { [planAnnotations.groupUid]: 'first' };
    harness.pods(3, { name: 'old', group: 'red', cpu: 1, nodeName: 'a', annotations });
    expect(attempt('red')).toBe('capacity');
  });

  it('gets the result of its own profile’s plugins, whichever profile comes first', () => {
    const bars: Plugin = { name: 'Bars', filter: () => barred, sign: () => '' };
    const { harness, gang, attempt } = open([bars], {
      profiles: { first: () => true, second: ({ name }) => name !== 'Bars' },
    });
    for (const name of ['a', 'b']) harness.node({ name, cpu: 2 });
    harness.pods(2, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 4 }, { schedulerName: 'second' });
    expect(attempt('red')).toBe('capacity');
    gang({ name: 'blue', minMember: 4 }, { schedulerName: 'first' });
    expect(attempt('blue')).toBe('never');
  });

  it('never fits if it requests more than the whole cluster has, and its verdict says so', () => {
    const { harness, gang, attempt, dryRuns } = open();
    harness.node({ name: 'a', cpu: 2 });
    harness.node({ name: 'b', cpu: 2 });
    gang({ name: 'red', minMember: 5 });
    expect([attempt('red'), dryRuns()]).toEqual(['never', 1]);
  });

  it('never fits if the cluster has enough in total but no set of nodes does', () => {
    const { harness, gang, attempt } = open();
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: 3 });
    harness.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 4 }, { cpu: 2 });
    expect(attempt('red')).toBe('never');
  });

  it.each<[string, PodOptions]>([
    ['selects a label that no node has', { nodeSelector: { gpu: 'yes' } }],
    ['requests more than the largest node has', { cpu: 5 }],
  ])('never fits, without a dry run, if each member %s', (_what, member) => {
    const { harness, gang, attempt, dryRuns } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.node({ name: 'b', cpu: 4 });
    harness.pod({ name: 'old', cpu: 4, nodeName: 'a' });
    gang({ name: 'red', minMember: 2 }, member);
    expect([attempt('red'), dryRuns()]).toEqual(['never', 0]);
  });

  it('never fits if a member that it needs never fits', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.pod({ name: 'old', cpu: 4, nodeName: 'a' });
    gang({ name: 'red', minMember: 3 }, { count: 2 });
    harness.pod({ name: 'huge', group: 'red', cpu: 5 });
    expect(attempt('red')).toBe('never');
  });

  it('waits for capacity if a member that never fits is not needed', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.pod({ name: 'old', cpu: 4, nodeName: 'a' });
    gang({ name: 'red', minMember: 2 });
    harness.pod({ name: 'huge', group: 'red', cpu: 5 });
    expect(attempt('red')).toBe('capacity');
  });

  it('never fits without nodes', () => {
    const { gang, attempt } = open();
    gang({ name: 'red', minMember: 1 });
    expect(attempt('red')).toBe('never');
  });

  it('waits for capacity if its minResources exist but are not free', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 1, minResources: { cpu: 4 } });
    expect(attempt('red')).toBe('capacity');
  });

  it('never fits if its minResources exceed the cluster', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', minMember: 1, minResources: { cpu: 5 } });
    expect(attempt('red')).toBe('never');
  });

  it('is checked on nodes without other pods, but with its own bound members', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.pods(2, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 3 }, { cpu: 2, count: 2 });
    harness.pods(1, { name: 'bound', group: 'red', cpu: 1, nodeName: 'a' });
    expect(attempt('red')).toBe('never');
    gang({ name: 'blue', minMember: 3 }, { cpu: '1500m', count: 2 });
    harness.pods(1, { name: 'blue-bound', group: 'blue', cpu: 1, nodeName: 'a' });
    expect(attempt('blue')).toBe('capacity');
  });

  it('waits for capacity while its own former members are terminating', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', minMember: 4 });
    harness.pods(4, { name: 'former', group: 'red', cpu: 1, nodeName: 'a', deleting: true });
    expect(attempt('red')).toBe('capacity');
    // They do not affect the result for a gang with the same demand either.
    gang({ name: 'blue', minMember: 4 });
    expect(attempt('blue')).toBe('capacity');
  });

  it('is checked as if capacity reserved for other pods, nominated or repaired, were free', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 2 });
    harness.node({ name: 'b', cpu: 2 });
    harness.pod({ name: 'nominated', cpu: 2, priority: 10, nominatedNodeName: 'a' });
    const owner = harness.pod({ name: 'repaired', cpu: 2 });
    harness.cluster.reservation({ kind: 'repair', owner, nodeName: 'b', isKept: true });
    gang({ name: 'red', minMember: 4 });
    expect(attempt('red')).toBe('capacity');
    // Capacity that is free in the dry run is not free in the next attempt.
    expect(attempt('red')).toBe('capacity');
  });

  it('reports `error` if a plugin fails, without a dry run', () => {
    const { harness, gang, attempt, dryRuns } = open([{ name: 'Broken', filter: () => new Status('Error', 'a bug') }]);
    harness.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', minMember: 1 });
    expect([attempt('red'), dryRuns()]).toEqual(['error', 0]);
  });
});

describe('the feasibility of one gang', () => {
  function full(): CountedCore {
    const counted = open();
    counted.harness.node({ name: 'a', cpu: 4 });
    counted.harness.pods(4, { name: 'old', cpu: 1, nodeName: 'a' });
    return counted;
  }

  it('is reused for the next attempts of the same gang', () => {
    const { gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 2 });
    expect([attempt('red'), attempt('red'), dryRuns()]).toEqual(['capacity', 'capacity', 1]);
  });

  it('is reused for every gang with the same demand', () => {
    const { harness, gang, attempt, dryRuns } = full();
    for (const name of ['red', 'blue', 'green']) {
      gang({ name, minMember: 2 }, { count: 1 });
      harness.pod({ group: name, cpu: 2 });
    }
    const results = ['red', 'blue', 'green'].map(attempt);
    expect([results, dryRuns()]).toEqual([['capacity', 'capacity', 'capacity'], 1]);
  });

  it.each<[string, PodGroupOptions, PodOptions & { readonly count?: number }]>([
    ['another quorum', { minMember: 5 }, { count: 6 }],
    ['more members', { minMember: 3 }, { count: 7 }],
    ['other requests', { minMember: 3 }, { count: 6, cpu: 2 }],
    ['other minResources', { minMember: 3, minResources: { cpu: 4 } }, { count: 6 }],
    ['another selector', { minMember: 3 }, { count: 6, nodeSelector: { 'kubernetes.io/hostname': 'a' } }],
  ])('is not reused for a gang with %s', (_what, group, members) => {
    const { gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 3 }, { count: 6 });
    attempt('red');
    dryRuns();
    gang({ ...group, name: 'blue' }, members);
    attempt('blue');
    expect(dryRuns()).toBe(1);
  });

  it('is not reused for a gang of another profile', () => {
    const factory: PluginFactory = (_args, { schedulerName }) => ({
      name: 'OneProfileOnly',
      sign: () => '',
      filter: () => (schedulerName === 'ml' ? new Status('Unschedulable', 'not in this profile') : undefined),
    });
    const { harness, gang, attempt, dryRuns } = open([], {
      plugins: [...withoutPreemption, { name: 'OneProfileOnly', factory }],
      profiles: { ml: () => true, web: () => true },
    });
    harness.node({ name: 'a', cpu: 1 });
    harness.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 1 }, { schedulerName: 'ml' });
    gang({ name: 'blue', minMember: 1 }, { schedulerName: 'web' });
    expect([attempt('red'), attempt('blue'), dryRuns()]).toEqual(['never', 'capacity', 2]);
    expect([attempt('red'), attempt('blue'), dryRuns()]).toEqual(['never', 'capacity', 0]);
  });

  it.each<[string, Omit<Plugin, 'name'>]>([
    ['PreFilter', { preFilter: (_state, { labels }) => (labels.barred === 'yes' ? barred : undefined) }],
    ['Reserve', { reserve: (_state, { labels }) => (labels.barred === 'yes' ? barred : undefined) }],
  ])('is not reused for a gang that the %s of a plugin without signatures treats differently', (_point, plugin) => {
    const { harness, gang, attempt } = open([{ name: 'Barring', ...plugin }]);
    harness.node({ name: 'a', cpu: 4 });
    harness.pods(4, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 2 }, { labels: { barred: 'yes' } });
    gang({ name: 'blue', minMember: 2 });
    expect([attempt('red'), attempt('blue')]).toEqual(['unknown', 'capacity']);
  });

  it('is computed again for each attempt of a partially bound gang', () => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 4 }, { count: 3 });
    harness.pod({ name: 'red-bound', group: 'red', cpu: 1, nodeName: 'a' });
    expect([attempt('red'), attempt('red'), dryRuns()]).toEqual(['capacity', 'capacity', 2]);
    harness.pod({ name: 'red-bound-too', group: 'red', cpu: 2, nodeName: 'a' });
    harness.group({ name: 'red', minMember: 5 });
    expect([attempt('red'), dryRuns()]).toEqual(['never', 1]);
  });

  it('stays valid while pods come and go, and while nodes only send heartbeats', () => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 4 });
    attempt('red');
    harness.pod({ name: 'more', cpu: 1, nodeName: 'a' });
    harness.cluster.removePod([...harness.cluster.node('a')!.pods.keys()][0]!);
    harness.node({ name: 'a', cpu: 4 });
    expect([attempt('red'), dryRuns()]).toEqual(['capacity', 1]);
  });

  it.each<[string, NodeOptions, string]>([
    ['has less capacity', { cpu: 3 }, 'never'],
    ['has more capacity', { cpu: 5 }, 'capacity'],
    ['has another label', { cpu: 4, labels: { zone: 'z' } }, 'capacity'],
    ['has a taint that rejects no pod', { cpu: 4, taints: ['slow:PreferNoSchedule'] }, 'capacity'],
  ])('is computed again once a node %s', (_what, change, expected) => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 4 });
    expect([attempt('red'), dryRuns()]).toEqual(['capacity', 1]);
    harness.pod({ name: 'more', cpu: 1, nodeName: 'a' });
    harness.node({ name: 'a', ...change });
    expect([attempt('red'), dryRuns()]).toEqual([expected, 1]);
  });

  it.each<[string, (harness: CoreHarness) => unknown]>([
    ['is tainted', (harness) => harness.node({ name: 'a', cpu: 4, taints: ['x:NoSchedule'] })],
    ['is gone', (harness) => harness.cluster.removeNode('a')],
  ])('is no longer valid once the only node %s, without a dry run', (_what, change) => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 4 });
    expect([attempt('red'), dryRuns()]).toEqual(['capacity', 1]);
    change(harness);
    expect([attempt('red'), dryRuns()]).toEqual(['never', 0]);
  });

  it('is computed again after a node is added', () => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 6 });
    expect(attempt('red')).toBe('never');
    harness.node({ name: 'b', cpu: 2 });
    harness.pod({ name: 'old-b', cpu: 2, nodeName: 'b' });
    expect([attempt('red'), dryRuns()]).toEqual(['capacity', 2]);
  });
});

describe('a gang whose feasibility costs too much to check', () => {
  it('is not repeated after a node is added, even if other gangs have used up the budget for checks', () => {
    const { harness, gang, attempt } = open();
    for (let i = 0; i < 500; i++) harness.node({ name: `n${i}`, cpu: 4, labels: { red: String(i === 0) } });
    gang({ name: 'red', minMember: 2 }, { cpu: 3, nodeSelector: { red: 'true' } });
    expect(attempt('red')).toBe('never');
    harness.group({ name: 'costly', minMember: 501 });
    for (let i = 0; i < 501; i++) harness.pod({ name: `costly-${i}`, group: 'costly', cpu: `${3000 + i}m` });
    expect(attempt('costly')).toBe('unknown');
    expect(attempt('red')).toBe('never');
    harness.node({ name: 'more', cpu: 4, labels: { red: 'true' } });
    harness.pod({ name: 'old', cpu: 4, nodeName: 'more' });
    expect(attempt('red')).toBe('unknown');
    harness.clock.advance(60_000);
    expect(attempt('red')).toBe('capacity');
  });

  it('waits for `unknown` if its members have no signature', () => {
    const { harness, gang, attempt, dryRuns } = open([{ name: 'Mute', filter: () => undefined }]);
    harness.node({ name: 'a', cpu: 1 });
    gang({ name: 'red', minMember: 2 });
    expect([attempt('red'), dryRuns()]).toEqual(['unknown', 0]);
  });

  it('waits for `unknown` if one of its members has no signature', () => {
    const { harness, gang, attempt, dryRuns } = open([
      { name: 'Particular', sign: ({ labels }) => labels.alike, filter: () => undefined },
    ]);
    harness.node({ name: 'a', cpu: 1 });
    gang({ name: 'red', minMember: 2 }, { labels: { alike: 'yes' } });
    expect([attempt('red'), dryRuns()]).toEqual(['never', 1]);
    gang({ name: 'blue', minMember: 2 }, { labels: { alike: 'yes' }, count: 1 });
    harness.pod({ group: 'blue', cpu: 1 });
    expect(attempt('blue')).toBe('unknown');
  });

  it('still never fits if no dry run is needed to know that', () => {
    const { harness, gang, attempt, dryRuns } = open();
    harness.node({ name: 'a', cpu: 1, pods: 10_000 });
    gang({ name: 'red', minMember: 2500 }, { cpu: 2 });
    expect([attempt('red'), dryRuns()]).toEqual(['never', 0]);
  });
});

describe('a single pod that does not fit', () => {
  it('gets what its rejection proves, without a dry run', () => {
    const { harness, dryRuns } = open();
    harness.node({ name: 'a', cpu: 2 });
    harness.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    const waitsFor = (cpu: number): unknown => {
      const entity = entityInFlight({ pod: harness.pod({ cpu }) });
      const result = harness.core.cycle.run(entity, harness.profile);
      return result.kind === 'rejected' ? result.verdict.waitsFor : result.kind;
    };
    expect([waitsFor(2), waitsFor(3)]).toEqual(['capacity', 'never']);
    // These are the attempts themselves.
    expect(dryRuns()).toBe(2);
  });
});

it('charges one pass over the nodes per pod class if nodes must be checked one by one', async () => {
  const core = new Scheduling({ plugins: withoutPreemption });
  for (let i = 0; i < 1000; i++) {
    core.node({ name: `n${i}`, cpu: 1 });
    core.pod({ name: `old-${i}`, cpu: 1, nodeName: `n${i}` });
  }
  core.pod({ name: 'nominated', cpu: 2, priority: 5, nominatedNodeName: 'n0', gates: ['held'] });
  core.group({ name: 'g', minMember: 40 });
  for (let i = 0; i < 40; i++) core.pod({ name: `g-${i}`, group: 'g', cpu: `${100 + i}m` });
  await core.attempt();
  expect(core.harness.written.map(({ verdict }) => verdict.waitsFor)[0]).toBe('capacity');
});
