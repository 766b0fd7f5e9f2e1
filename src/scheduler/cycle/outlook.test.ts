import { describe, expect, it, vi } from 'vitest';
import type { NodeOptions } from '../../testkit/builders/node.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import type { PodGroupOptions } from '../../testkit/builders/pod-group.ts';
import { planAnnotations } from '../../api/pod.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { entityInFlight } from '../testing/entity.ts';
import { Picture } from '../../testkit/picture.ts';
import { Scheduling } from '../../testkit/scheduling.ts';
import type { PictureOptions } from '../../testkit/picture.ts';

const barred = new Status('Unschedulable', 'barred');
const sentence = 'It would not fit even if all other pods were gone.';

/** A picture whose trials are counted. */
interface Watched {
  readonly picture: Picture;
  /** A gang of this quorum, with as many members unless told otherwise. */
  readonly gang: (
    group: PodGroupOptions & { readonly name: string },
    members?: PodOptions & { readonly count?: number },
  ) => void;
  /** What the gang is told that it waits for, after an attempt that is refused. */
  readonly attempt: (name: string) => string;
  /** How many trials there have been since it was asked last. */
  readonly trials: () => number;
}

function open(extra: readonly Plugin[] = [], options: Partial<PictureOptions> = {}): Watched {
  const picture = new Picture({ plugins: defaultPlugins, extra, ...options });
  /** An attempt is one, and so is each trial. */
  const transactions = vi.spyOn(picture.cluster, 'begin');
  let attempts = 0;
  return {
    picture,
    gang: (group, { count = group.minMember ?? 1, ...member } = {}) => {
      picture.group(group);
      picture.pods(count, { group: group.name, cpu: 1, ...member });
    },
    attempt: (name) => {
      attempts++;
      const entity = entityInFlight({ gang: picture.cluster.gang(`default/${name}`)! });
      const before = picture.rooms();
      const { cycle, profiles } = picture.core;
      const result = cycle.run(entity, profiles.of(entity.candidate));
      if (result.kind !== 'refused') throw new Error(`the attempt ended ${result.kind}`);
      expect(picture.rooms()).toEqual(before);
      const { message, waitsFor } = result.verdict;
      expect(message.endsWith(sentence)).toBe(waitsFor === 'never');
      return waitsFor;
    },
    trials: () => {
      const count = transactions.mock.calls.length - attempts;
      transactions.mockClear();
      attempts = 0;
      return count;
    },
  };
}

describe('a gang that does not fit', () => {
  it('waits for capacity when it would fit on emptied nodes', () => {
    const { picture, gang, attempt } = open();
    picture.node({ name: 'a', cpu: 4 });
    picture.pods(3, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 4 });
    expect(attempt('red')).toBe('capacity');
  });

  it('waits for capacity when members of a former group of its name hold the room', () => {
    const { picture, gang, attempt } = open();
    picture.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', uid: 'second', minMember: 4 });
    const annotations = { [planAnnotations.groupUid]: 'first' };
    picture.pods(3, { name: 'old', group: 'red', cpu: 1, nodeName: 'a', annotations });
    expect(attempt('red')).toBe('capacity');
  });

  it('is told what the plugins of its own profile make of it, whichever profile comes first', () => {
    const bars: Plugin = { name: 'Bars', filter: () => barred, sign: () => '' };
    const { picture, gang, attempt } = open([bars], {
      profiles: { first: () => true, second: ({ name }) => name !== 'Bars' },
    });
    for (const name of ['a', 'b']) picture.node({ name, cpu: 2 });
    picture.pods(2, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 4 }, { schedulerName: 'second' });
    expect(attempt('red')).toBe('capacity');
    gang({ name: 'blue', minMember: 4 }, { schedulerName: 'first' });
    expect(attempt('blue')).toBe('never');
  });

  it('never fits when it asks for more than the whole cluster has, and is told so', () => {
    const { picture, gang, attempt, trials } = open();
    picture.node({ name: 'a', cpu: 2 });
    picture.node({ name: 'b', cpu: 2 });
    gang({ name: 'red', minMember: 5 });
    expect([attempt('red'), trials()]).toEqual(['never', 1]);
  });

  it('never fits when the cluster has enough in sum but not on any nodes', () => {
    const { picture, gang, attempt } = open();
    for (const name of ['a', 'b', 'c']) picture.node({ name, cpu: 3 });
    picture.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 4 }, { cpu: 2 });
    expect(attempt('red')).toBe('never');
  });

  it.each<[string, PodOptions]>([
    ['selects a label that no node has', { nodeSelector: { gpu: 'yes' } }],
    ['asks for more than the largest node has', { cpu: 5 }],
  ])('never fits when each member %s, which needs no trial to be known', (_what, member) => {
    const { picture, gang, attempt, trials } = open();
    picture.node({ name: 'a', cpu: 4 });
    picture.node({ name: 'b', cpu: 4 });
    picture.pod({ name: 'old', cpu: 4, nodeName: 'a' });
    gang({ name: 'red', minMember: 2 }, member);
    expect([attempt('red'), trials()]).toEqual(['never', 0]);
  });

  it('never fits when one member that it needs never does', () => {
    const { picture, gang, attempt } = open();
    picture.node({ name: 'a', cpu: 4 });
    picture.pod({ name: 'old', cpu: 4, nodeName: 'a' });
    gang({ name: 'red', minMember: 3 }, { count: 2 });
    picture.pod({ name: 'huge', group: 'red', cpu: 5 });
    expect(attempt('red')).toBe('never');
  });

  it('waits for capacity when one that never fits is not needed', () => {
    const { picture, gang, attempt } = open();
    picture.node({ name: 'a', cpu: 4 });
    picture.pod({ name: 'old', cpu: 4, nodeName: 'a' });
    gang({ name: 'red', minMember: 2 });
    picture.pod({ name: 'huge', group: 'red', cpu: 5 });
    expect(attempt('red')).toBe('capacity');
  });

  it('never fits without nodes', () => {
    const { gang, attempt } = open();
    gang({ name: 'red', minMember: 1 });
    expect(attempt('red')).toBe('never');
  });

  it('waits for capacity when its minResources are there but not free', () => {
    const { picture, gang, attempt } = open();
    picture.node({ name: 'a', cpu: 4 });
    picture.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 1, minResources: { cpu: 4 } });
    expect(attempt('red')).toBe('capacity');
  });

  it('never fits when its minResources are more than the cluster has', () => {
    const { picture, gang, attempt } = open();
    picture.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', minMember: 1, minResources: { cpu: 5 } });
    expect(attempt('red')).toBe('never');
  });

  it('has the nodes to itself, but shares them with its own members that are bound', () => {
    const { picture, gang, attempt } = open();
    picture.node({ name: 'a', cpu: 4 });
    picture.pods(2, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 3 }, { cpu: 2, count: 2 });
    picture.pods(1, { name: 'bound', group: 'red', cpu: 1, nodeName: 'a' });
    expect(attempt('red')).toBe('never');
    gang({ name: 'blue', minMember: 3 }, { cpu: '1500m', count: 2 });
    picture.pods(1, { name: 'blue-bound', group: 'blue', cpu: 1, nodeName: 'a' });
    expect(attempt('blue')).toBe('capacity');
  });

  it('waits for capacity while its own former members are on their way out', () => {
    const { picture, gang, attempt } = open();
    picture.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', minMember: 4 });
    picture.pods(4, { name: 'former', group: 'red', cpu: 1, nodeName: 'a', deleting: true });
    expect(attempt('red')).toBe('capacity');
    // Nor do they speak for a gang that asks for the same.
    gang({ name: 'blue', minMember: 4 });
    expect(attempt('blue')).toBe('capacity');
  });

  it('does not count the room that is kept for others, theirs or ours', () => {
    const { picture, gang, attempt } = open();
    picture.node({ name: 'a', cpu: 2 });
    picture.node({ name: 'b', cpu: 2 });
    picture.pod({ name: 'nominated', cpu: 2, priority: 10, nominatedNodeName: 'a' });
    const claimant = picture.pod({ name: 'repaired', cpu: 2 });
    picture.cluster.claim({ kind: 'repair', claimant, nodeName: 'b', isKept: true });
    gang({ name: 'red', minMember: 4 });
    expect(attempt('red')).toBe('capacity');
    // What counts as free in the trial is not free in the next attempt.
    expect(attempt('red')).toBe('capacity');
  });

  it('that a plugin fails on waits for the error to be over, and is not tried', () => {
    const { picture, gang, attempt, trials } = open([{ name: 'Broken', filter: () => new Status('Error', 'a bug') }]);
    picture.node({ name: 'a', cpu: 4 });
    gang({ name: 'red', minMember: 1 });
    expect([attempt('red'), trials()]).toEqual(['error', 0]);
  });
});

describe('what one gang is found out to have before it', () => {
  function full(): Watched {
    const watched = open();
    watched.picture.node({ name: 'a', cpu: 4 });
    watched.picture.pods(4, { name: 'old', cpu: 1, nodeName: 'a' });
    return watched;
  }

  it('is known of the same gang in its next attempts', () => {
    const { gang, attempt, trials } = full();
    gang({ name: 'red', minMember: 2 });
    expect([attempt('red'), attempt('red'), trials()]).toEqual(['capacity', 'capacity', 1]);
  });

  it('is known of every gang that asks for the same', () => {
    const { picture, gang, attempt, trials } = full();
    for (const name of ['red', 'blue', 'green']) {
      gang({ name, minMember: 2 }, { count: 1 });
      picture.pod({ group: name, cpu: 2 });
    }
    const answers = ['red', 'blue', 'green'].map(attempt);
    expect([answers, trials()]).toEqual([['capacity', 'capacity', 'capacity'], 1]);
  });

  it.each<[string, PodGroupOptions, PodOptions & { readonly count?: number }]>([
    ['another quorum', { minMember: 5 }, { count: 6 }],
    ['more members', { minMember: 3 }, { count: 7 }],
    ['other requests', { minMember: 3 }, { count: 6, cpu: 2 }],
    ['other minResources', { minMember: 3, minResources: { cpu: 4 } }, { count: 6 }],
    ['another selector', { minMember: 3 }, { count: 6, nodeSelector: { 'kubernetes.io/hostname': 'a' } }],
  ])('says nothing of a gang with %s', (_what, group, members) => {
    const { gang, attempt, trials } = full();
    gang({ name: 'red', minMember: 3 }, { count: 6 });
    attempt('red');
    trials();
    gang({ ...group, name: 'blue' }, members);
    attempt('blue');
    expect(trials()).toBe(1);
  });

  it('says nothing of a gang of another profile', () => {
    const factory: PluginFactory = (_args, { schedulerName }) => ({
      name: 'OneProfileOnly',
      sign: () => '',
      filter: () => (schedulerName === 'ml' ? new Status('Unschedulable', 'not in this profile') : undefined),
    });
    const { picture, gang, attempt, trials } = open([], {
      plugins: [...defaultPlugins, { name: 'OneProfileOnly', factory }],
      profiles: { ml: () => true, web: () => true },
    });
    picture.node({ name: 'a', cpu: 1 });
    picture.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 1 }, { schedulerName: 'ml' });
    gang({ name: 'blue', minMember: 1 }, { schedulerName: 'web' });
    expect([attempt('red'), attempt('blue'), trials()]).toEqual(['never', 'capacity', 2]);
    expect([attempt('red'), attempt('blue'), trials()]).toEqual(['never', 'capacity', 0]);
  });

  it.each<[string, Omit<Plugin, 'name'>]>([
    ['PreFilter', { preFilter: (_state, { labels }) => (labels.barred === 'yes' ? barred : undefined) }],
    ['Reserve', { reserve: (_state, { labels }) => (labels.barred === 'yes' ? barred : undefined) }],
  ])('says nothing of a gang that is otherwise for the %s of a plugin that signs nothing', (_point, plugin) => {
    const { picture, gang, attempt } = open([{ name: 'Barring', ...plugin }]);
    picture.node({ name: 'a', cpu: 4 });
    picture.pods(4, { name: 'old', cpu: 1, nodeName: 'a' });
    gang({ name: 'red', minMember: 2 }, { labels: { barred: 'yes' } });
    gang({ name: 'blue', minMember: 2 });
    expect([attempt('red'), attempt('blue')]).toEqual(['unknown', 'capacity']);
  });

  it('is found out anew for each attempt of a gang that is on nodes in part', () => {
    const { picture, gang, attempt, trials } = full();
    gang({ name: 'red', minMember: 4 }, { count: 3 });
    picture.pod({ name: 'red-bound', group: 'red', cpu: 1, nodeName: 'a' });
    expect([attempt('red'), attempt('red'), trials()]).toEqual(['capacity', 'capacity', 2]);
    picture.pod({ name: 'red-bound-too', group: 'red', cpu: 2, nodeName: 'a' });
    picture.group({ name: 'red', minMember: 5 });
    expect([attempt('red'), trials()]).toEqual(['never', 1]);
  });

  it('holds while pods come and go, and while nodes only say that they are alive', () => {
    const { picture, gang, attempt, trials } = full();
    gang({ name: 'red', minMember: 4 });
    attempt('red');
    picture.pod({ name: 'more', cpu: 1, nodeName: 'a' });
    picture.cluster.removePod([...picture.cluster.node('a')!.pods.keys()][0]!);
    picture.node({ name: 'a', cpu: 4 });
    expect([attempt('red'), trials()]).toEqual(['capacity', 1]);
  });

  it.each<[string, NodeOptions, string]>([
    ['has less room', { cpu: 3 }, 'never'],
    ['has more room', { cpu: 5 }, 'capacity'],
    ['has another label', { cpu: 4, labels: { zone: 'z' } }, 'capacity'],
    ['has a taint that turns nobody away', { cpu: 4, taints: ['slow:PreferNoSchedule'] }, 'capacity'],
  ])('is found out anew once a node %s', (_what, change, expected) => {
    const { picture, gang, attempt, trials } = full();
    gang({ name: 'red', minMember: 4 });
    expect([attempt('red'), trials()]).toEqual(['capacity', 1]);
    picture.pod({ name: 'more', cpu: 1, nodeName: 'a' });
    picture.node({ name: 'a', ...change });
    expect([attempt('red'), trials()]).toEqual([expected, 1]);
  });

  it.each<[string, (picture: Picture) => unknown]>([
    ['is tainted', (picture) => picture.node({ name: 'a', cpu: 4, taints: ['x:NoSchedule'] })],
    ['is cordoned', (picture) => picture.node({ name: 'a', cpu: 4, unschedulable: true })],
    ['is gone', (picture) => picture.cluster.removeNode('a')],
  ])('is no longer true once the only node %s, which takes no trial', (_what, happens) => {
    const { picture, gang, attempt, trials } = full();
    gang({ name: 'red', minMember: 4 });
    expect([attempt('red'), trials()]).toEqual(['capacity', 1]);
    happens(picture);
    expect([attempt('red'), trials()]).toEqual(['never', 0]);
  });

  it('is found out anew once a node has come', () => {
    const { picture, gang, attempt, trials } = full();
    gang({ name: 'red', minMember: 6 });
    expect(attempt('red')).toBe('never');
    picture.node({ name: 'b', cpu: 2 });
    picture.pod({ name: 'old-b', cpu: 2, nodeName: 'b' });
    expect([attempt('red'), trials()]).toEqual(['capacity', 2]);
  });
});

describe('a gang whose future is not worth finding out', () => {
  it('because nothing is known to be alike to its members waits for what nobody knows', () => {
    const { picture, gang, attempt, trials } = open([{ name: 'Mute', filter: () => undefined }]);
    picture.node({ name: 'a', cpu: 1 });
    gang({ name: 'red', minMember: 2 });
    expect([attempt('red'), trials()]).toEqual(['unknown', 0]);
  });

  it('because one of its members is like nobody waits for what nobody knows', () => {
    const { picture, gang, attempt, trials } = open([
      { name: 'Particular', sign: ({ labels }) => labels.alike, filter: () => undefined },
    ]);
    picture.node({ name: 'a', cpu: 1 });
    gang({ name: 'red', minMember: 2 }, { labels: { alike: 'yes' } });
    expect([attempt('red'), trials()]).toEqual(['never', 1]);
    gang({ name: 'blue', minMember: 2 }, { labels: { alike: 'yes' }, count: 1 });
    picture.pod({ group: 'blue', cpu: 1 });
    expect(attempt('blue')).toBe('unknown');
  });

  it('because it is too large waits for what nobody knows', () => {
    const { picture, gang, attempt, trials } = open();
    picture.node({ name: 'a', cpu: 2_450, pods: 10_000 });
    picture.pod({ name: 'old', cpu: 2_450, nodeName: 'a' });
    gang({ name: 'red', minMember: 2_400 });
    expect(attempt('red')).toBe('capacity');
    gang({ name: 'blue', minMember: 2_500 });
    expect(attempt('blue')).toBe('unknown');
    expect(trials()).toBe(2);
  });

  it('is told that it never fits all the same where that takes no trial', () => {
    const { picture, gang, attempt, trials } = open();
    picture.node({ name: 'a', cpu: 1, pods: 10_000 });
    gang({ name: 'red', minMember: 2500 }, { cpu: 2 });
    expect([attempt('red'), trials()]).toEqual(['never', 0]);
  });
});

describe('a lone pod that does not fit', () => {
  it('is told what its refusal proves, without a trial', () => {
    const { picture, trials } = open();
    picture.node({ name: 'a', cpu: 2 });
    picture.pod({ name: 'old', cpu: 1, nodeName: 'a' });
    const waitsFor = (cpu: number): unknown => {
      const entity = entityInFlight({ pod: picture.pod({ cpu }) });
      const result = picture.core.cycle.run(entity, picture.profile);
      return result.kind === 'refused' ? result.verdict.waitsFor : result.kind;
    };
    expect([waitsFor(2), waitsFor(3)]).toEqual(['capacity', 'never']);
    // The attempts themselves.
    expect(trials()).toBe(2);
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
  expect(core.picture.written.map(({ verdict }) => verdict.waitsFor)[0]).toBe('capacity');
});
