import { describe, expect, it, vi } from 'vitest';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import { planAnnotations } from '../../api/pod.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { entityInFlight } from '../testing/entity.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { CoreHarnessOptions } from '../../testkit/core-harness.ts';

const barred = new Status('Unschedulable', 'barred');
const sentence = 'It would not fit even if all other pods were gone.';

/** A picture whose trials are counted. */
interface Watched {
  readonly harness: CoreHarness;
  /** A gang of this quorum, with as many members unless told otherwise. */
  readonly gang: (
    group: PodGroupOptions & { readonly name: string },
    members?: PodOptions & { readonly count?: number },
  ) => void;
  /** What the gang is told that it waits for, after an attempt that is rejected. */
  readonly attempt: (name: string) => string;
  /** How many trials there have been since it was asked last. */
  readonly dryRuns: () => number;
}

function open(extra: readonly Plugin[] = [], options: Partial<CoreHarnessOptions> = {}): Watched {
  const harness = new CoreHarness({ plugins: defaultPlugins, extra, ...options });
  /** An attempt is one, and so is each trial. */
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
  it('waits for capacity when it would fit on emptied nodes', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.pods(3, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 4 });
    expect(attempt('red')).toBe('capacity');
  });

  it('waits for capacity when members of a former group of its name hold the room', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', uid: 'second', minMember: 4 });
    const annotations = { [planAnnotations.groupUid]: 'first' };
    harness.pods(3, { name: 'old', group: 'red', cpu: 1, nodeName: 'a', annotations });
    expect(attempt('red')).toBe('capacity');
  });

  it('is told what the plugins of its own profile make of it, whichever profile comes first', () => {
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

  it('never fits when it asks for more than the whole cluster has, and is told so', () => {
    const { harness, gang, attempt, dryRuns } = open();
    harness.node({ name: 'a', cpu: 2 });
    harness.node({ name: 'b', cpu: 2 });
    gang({ name: 'red', minMember: 5 });
    expect([attempt('red'), dryRuns()]).toEqual(['never', 1]);
  });

  it('never fits when the cluster has enough in sum but not on any nodes', () => {
    const { harness, gang, attempt } = open();
    for (const name of ['a', 'b', 'c']) harness.node({ name, cpu: 3 });
    harness.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 4 }, { cpu: 2 });
    expect(attempt('red')).toBe('never');
  });

  it.each<[string, PodOptions]>([
    ['selects a label that no node has', { nodeSelector: { gpu: 'yes' } }],
    ['asks for more than the largest node has', { cpu: 5 }],
  ])('never fits when each member %s, which needs no trial to be known', (_what, member) => {
    const { harness, gang, attempt, dryRuns } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.node({ name: 'b', cpu: 4 });
    harness.pod({ name: 'old', cpu: 4, nodeName: 'a' });
    gang({ name: 'red', minMember: 2 }, member);
    expect([attempt('red'), dryRuns()]).toEqual(['never', 0]);
  });

  it('never fits when one member that it needs never does', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.pod({ name: 'old', cpu: 4, nodeName: 'a' });
    gang({ name: 'red', minMember: 3 }, { count: 2 });
    harness.pod({ name: 'huge', group: 'red', cpu: 5 });
    expect(attempt('red')).toBe('never');
  });

  it('waits for capacity when one that never fits is not needed', () => {
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

  it('waits for capacity when its minResources are there but not free', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    harness.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 1, minResources: { cpu: 4 } });
    expect(attempt('red')).toBe('capacity');
  });

  it('never fits when its minResources are more than the cluster has', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', minMember: 1, minResources: { cpu: 5 } });
    expect(attempt('red')).toBe('never');
  });

  it('has the nodes to itself, but shares them with its own members that are bound', () => {
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

  it('waits for capacity while its own former members are on their way out', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', minMember: 4 });
    harness.pods(4, { name: 'former', group: 'red', cpu: 1, nodeName: 'a', deleting: true });
    expect(attempt('red')).toBe('capacity');
    // Nor do they speak for a gang that asks for the same.
    gang({ name: 'blue', minMember: 4 });
    expect(attempt('blue')).toBe('capacity');
  });

  it('does not count the room that is kept for others, theirs or ours', () => {
    const { harness, gang, attempt } = open();
    harness.node({ name: 'a', cpu: 2 });
    harness.node({ name: 'b', cpu: 2 });
    harness.pod({ name: 'nominated', cpu: 2, priority: 10, nominatedNodeName: 'a' });
    const owner = harness.pod({ name: 'repaired', cpu: 2 });
    harness.cluster.reservation({ kind: 'repair', owner, nodeName: 'b', isKept: true });
    gang({ name: 'red', minMember: 4 });
    expect(attempt('red')).toBe('capacity');
    // What counts as free in the trial is not free in the next attempt.
    expect(attempt('red')).toBe('capacity');
  });

  it('that a plugin fails on waits for the error to be over, and is not tried', () => {
    const { harness, gang, attempt, dryRuns } = open([{ name: 'Broken', filter: () => new Status('Error', 'a bug') }]);
    harness.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', minMember: 1 });
    expect([attempt('red'), dryRuns()]).toEqual(['error', 0]);
  });
});

describe('what one gang is found out to have before it', () => {
  function full(): Watched {
    const watched = open();
    watched.harness.node({ name: 'a', cpu: 4 });
    watched.harness.pods(4, { name: 'old', cpu: 1, nodeName: 'a' });
    return watched;
  }

  it('is known of the same gang in its next attempts', () => {
    const { gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 2 });
    expect([attempt('red'), attempt('red'), dryRuns()]).toEqual(['capacity', 'capacity', 1]);
  });

  it('is known of every gang that asks for the same', () => {
    const { harness, gang, attempt, dryRuns } = full();
    for (const name of ['red', 'blue', 'green']) {
      gang({ name, minMember: 2 }, { count: 1 });
      harness.pod({ group: name, cpu: 2 });
    }
    const answers = ['red', 'blue', 'green'].map(attempt);
    expect([answers, dryRuns()]).toEqual([['capacity', 'capacity', 'capacity'], 1]);
  });

  it.each<[string, PodGroupOptions, PodOptions & { readonly count?: number }]>([
    ['another quorum', { minMember: 5 }, { count: 6 }],
    ['more members', { minMember: 3 }, { count: 7 }],
    ['other requests', { minMember: 3 }, { count: 6, cpu: 2 }],
    ['other minResources', { minMember: 3, minResources: { cpu: 4 } }, { count: 6 }],
    ['another selector', { minMember: 3 }, { count: 6, nodeSelector: { 'kubernetes.io/hostname': 'a' } }],
  ])('says nothing of a gang with %s', (_what, group, members) => {
    const { gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 3 }, { count: 6 });
    attempt('red');
    dryRuns();
    gang({ ...group, name: 'blue' }, members);
    attempt('blue');
    expect(dryRuns()).toBe(1);
  });

  it('says nothing of a gang of another profile', () => {
    const factory: PluginFactory = (_args, { schedulerName }) => ({
      name: 'OneProfileOnly',
      sign: () => '',
      filter: () => (schedulerName === 'ml' ? new Status('Unschedulable', 'not in this profile') : undefined),
    });
    const { harness, gang, attempt, dryRuns } = open([], {
      plugins: [...defaultPlugins, { name: 'OneProfileOnly', factory }],
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
  ])('says nothing of a gang that is otherwise for the %s of a plugin that signs nothing', (_point, plugin) => {
    const { harness, gang, attempt } = open([{ name: 'Barring', ...plugin }]);
    harness.node({ name: 'a', cpu: 4 });
    harness.pods(4, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 2 }, { labels: { barred: 'yes' } });
    gang({ name: 'blue', minMember: 2 });
    expect([attempt('red'), attempt('blue')]).toEqual(['unknown', 'capacity']);
  });

  it('is found out anew for each attempt of a gang that is on nodes in part', () => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 4 }, { count: 3 });
    harness.pod({ name: 'red-bound', group: 'red', cpu: 1, nodeName: 'a' });
    expect([attempt('red'), attempt('red'), dryRuns()]).toEqual(['capacity', 'capacity', 2]);
    harness.pod({ name: 'red-bound-too', group: 'red', cpu: 2, nodeName: 'a' });
    harness.group({ name: 'red', minMember: 5 });
    expect([attempt('red'), dryRuns()]).toEqual(['never', 1]);
  });

  it('holds while pods come and go, and while nodes only say that they are alive', () => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 4 });
    attempt('red');
    harness.pod({ name: 'more', cpu: 1, nodeName: 'a' });
    harness.cluster.removePod([...harness.cluster.node('a')!.pods.keys()][0]!);
    harness.node({ name: 'a', cpu: 4 });
    expect([attempt('red'), dryRuns()]).toEqual(['capacity', 1]);
  });

  it.each<[string, NodeOptions, string]>([
    ['has less room', { cpu: 3 }, 'never'],
    ['has more room', { cpu: 5 }, 'capacity'],
    ['has another label', { cpu: 4, labels: { zone: 'z' } }, 'capacity'],
    ['has a taint that turns nobody away', { cpu: 4, taints: ['slow:PreferNoSchedule'] }, 'capacity'],
  ])('is found out anew once a node %s', (_what, change, expected) => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 4 });
    expect([attempt('red'), dryRuns()]).toEqual(['capacity', 1]);
    harness.pod({ name: 'more', cpu: 1, nodeName: 'a' });
    harness.node({ name: 'a', ...change });
    expect([attempt('red'), dryRuns()]).toEqual([expected, 1]);
  });

  it.each<[string, (harness: CoreHarness) => unknown]>([
    ['is tainted', (harness) => harness.node({ name: 'a', cpu: 4, taints: ['x:NoSchedule'] })],
    ['is cordoned', (harness) => harness.node({ name: 'a', cpu: 4, unschedulable: true })],
    ['is gone', (harness) => harness.cluster.removeNode('a')],
  ])('is no longer true once the only node %s, which takes no trial', (_what, happens) => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 4 });
    expect([attempt('red'), dryRuns()]).toEqual(['capacity', 1]);
    happens(harness);
    expect([attempt('red'), dryRuns()]).toEqual(['never', 0]);
  });

  it('is found out anew once a node has come', () => {
    const { harness, gang, attempt, dryRuns } = full();
    gang({ name: 'red', minMember: 6 });
    expect(attempt('red')).toBe('never');
    harness.node({ name: 'b', cpu: 2 });
    harness.pod({ name: 'old-b', cpu: 2, nodeName: 'b' });
    expect([attempt('red'), dryRuns()]).toEqual(['capacity', 2]);
  });
});

describe('a gang whose future is not worth finding out', () => {
  it('because nothing is known to be alike to its members waits for what nobody knows', () => {
    const { harness, gang, attempt, dryRuns } = open([{ name: 'Mute', filter: () => undefined }]);
    harness.node({ name: 'a', cpu: 1 });
    gang({ name: 'red', minMember: 2 });
    expect([attempt('red'), dryRuns()]).toEqual(['unknown', 0]);
  });

  it('because one of its members is like nobody waits for what nobody knows', () => {
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

  it('because it is too large waits for what nobody knows', () => {
    const { harness, gang, attempt, dryRuns } = open();
    harness.node({ name: 'a', cpu: 2_450, pods: 10_000 });
    harness.pod({ name: 'old', cpu: 2_450, nodeName: 'a' });
    gang({ name: 'red', minMember: 2_400 });
    expect(attempt('red')).toBe('capacity');
    gang({ name: 'blue', minMember: 2_500 });
    expect(attempt('blue')).toBe('unknown');
    expect(dryRuns()).toBe(2);
  });

  it('is told that it never fits all the same where that takes no trial', () => {
    const { harness, gang, attempt, dryRuns } = open();
    harness.node({ name: 'a', cpu: 1, pods: 10_000 });
    gang({ name: 'red', minMember: 2500 }, { cpu: 2 });
    expect([attempt('red'), dryRuns()]).toEqual(['never', 0]);
  });
});

describe('a lone pod that does not fit', () => {
  it('is told what its rejection proves, without a trial', () => {
    const { harness, dryRuns } = open();
    harness.node({ name: 'a', cpu: 2 });
    harness.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    const waitsFor = (cpu: number): unknown => {
      const entity = entityInFlight({ pod: harness.pod({ cpu }) });
      const result = harness.core.cycle.run(entity, harness.profile);
      return result.kind === 'rejected' ? result.verdict.waitsFor : result.kind;
    };
    expect([waitsFor(2), waitsFor(3)]).toEqual(['capacity', 'never']);
    // The attempts themselves.
    expect(dryRuns()).toBe(2);
  });
});

it('counts a look at the nodes once for each kind when they have to be looked at one by one', async () => {
  const core = new Scheduling({ plugins: defaultPlugins });
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
