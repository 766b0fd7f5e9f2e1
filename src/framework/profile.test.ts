import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import { CycleState } from './cycle-state.ts';
import type { PointsConfiguration } from './enabled-plugin.ts';
import type { Plugin, PostFilterResult } from './plugin.ts';
import { Profile } from './profile.ts';
import { skip, Status } from './status.ts';

const build = new Builders();
const pod = build.projectedPod();
const node = build.nodeInfo({ name: 'a' });
const order: Plugin = { name: 'Order', compare: () => 0 };
const binder: Plugin = { name: 'Binder', bind: () => Promise.resolve(undefined) };
const no = new Status('Unschedulable', 'no');

function profileOf(...plugins: Plugin[]): Profile {
  const registry = new Map(plugins.map((plugin) => [plugin.name, () => plugin]));
  return new Profile({ schedulerName: 'mine', enabled: plugins, registry, handle: pluginHandle(build) });
}

function withBasics(...plugins: Plugin[]): Profile {
  return profileOf(order, ...plugins, binder);
}

function bug(): never {
  throw new Error('a bug');
}

describe('a profile', () => {
  it('rejects an unknown plugin', () => {
    const make = (): Profile =>
      new Profile({
        schedulerName: 'mine',
        enabled: [{ name: 'Typo' }],
        registry: new Map([
          ['Order', () => order],
          ['Binder', () => binder],
        ]),
        handle: pluginHandle(build),
      });
    expect(make).toThrow('profile mine: unknown plugin Typo; known plugins: Order, Binder');
  });

  it('requires exactly one QueueSort plugin', () => {
    expect(() => profileOf(binder)).toThrow('profile mine: exactly one QueueSort plugin must be enabled (got none)');
    expect(() => withBasics({ name: 'Other', compare: () => 0 })).toThrow('must be enabled (got Order, Other)');
  });

  it('requires a Bind plugin', () => {
    expect(() => profileOf(order)).toThrow('profile mine: no Bind plugin is enabled; enable DefaultBinder');
  });

  it('separates plugins that read other nodes from those whose results can be reused', () => {
    const profile = withBasics(
      { name: 'Local', filter: () => undefined, sign: () => '' },
      { name: 'Global', filter: () => undefined, readsOtherNodes: true },
    );
    expect(profile.localFilters.map(({ name }) => name)).toEqual(['Local']);
    expect(profile.otherFilters.map(({ name }) => name)).toEqual(['Global']);
  });
});

describe('a profile with configuration per point', () => {
  const calls: string[] = [];
  const recording = (name: string, ...points: string[]): Plugin => ({
    name,
    sign: () => '',
    ...Object.fromEntries(points.map((point) => [point, () => void calls.push(`${point} ${name}`)])),
  });
  const one = recording('One', 'preFilter', 'filter', 'preScore', 'reserve', 'permit');
  const two = recording('Two', 'preFilter', 'filter', 'preScore', 'reserve', 'permit');
  const three = recording('Three', 'preFilter', 'filter');

  function profileWith(points: PointsConfiguration, enabled: readonly Plugin[] = [order, one, two, binder]): Profile {
    calls.length = 0;
    const registry = new Map([order, one, two, three, binder].map((plugin) => [plugin.name, () => plugin]));
    return new Profile({ schedulerName: 'mine', enabled, points, registry, handle: pluginHandle(build) });
  }
  const filters = (profile: Profile): readonly string[] => profile.localFilters.map(({ name }) => name);

  it('first runs plugins named at the point and enabled everywhere, then the rest enabled everywhere, then the rest named', () => {
    const profile = profileWith({ filter: { enabled: [{ name: 'Three' }, { name: 'Two' }] } });
    expect(filters(profile)).toEqual(['Two', 'One', 'Three']);
    profile.preFilter(new CycleState(), pod);
    expect(calls).toEqual(['preFilter One', 'preFilter Two']);
  });

  it('omits a plugin only at the point where it is disabled', () => {
    const profile = profileWith({ filter: { disabled: ['One'] }, reserve: { disabled: ['*'] } });
    expect(filters(profile)).toEqual(['Two']);
    profile.reserve(new CycleState(), pod, node);
    profile.permit(new CycleState(), pod, 'a');
    expect(calls).toEqual(['permit One', 'permit Two']);
  });

  it('runs a plugin that is both enabled and disabled at the point', () => {
    expect(filters(profileWith({ filter: { enabled: [{ name: 'Two' }], disabled: ['*'] } }))).toEqual(['Two']);
    expect(filters(profileWith({ filter: { enabled: [{ name: 'One' }], disabled: ['One'] } }))).toEqual(['Two', 'One']);
  });

  it('runs PreScore of a plugin that has no Score', () => {
    profileWith({ preScore: { disabled: ['One'] } }).scoring.preScore(new CycleState(), pod, () => []);
    expect(calls).toEqual(['preScore Two']);
  });

  it('uses the weight of the score point before the weight set for all points', () => {
    const scorer = (name: string): Plugin => ({ name, score: () => 0 });
    const plugins = [order, scorer('A'), scorer('B'), binder];
    const registry = new Map(plugins.map((plugin) => [plugin.name, () => plugin]));
    const enabled = plugins.map(({ name }) => ({ name, weight: 3 }));
    const points = { score: { enabled: [{ name: 'B', weight: 5 }] } };
    const { scorers } = new Profile({
      schedulerName: 'mine',
      enabled,
      points,
      registry,
      handle: pluginHandle(build),
    });
    expect(scorers.map(({ plugin, weight }) => [plugin.name, weight])).toEqual([
      ['B', 5],
      ['A', 3],
    ]);
  });

  it('creates one instance of a plugin that several points name', () => {
    let created = 0;
    const factory = (): Plugin => {
      created++;
      return three;
    };
    const named = { enabled: [{ name: 'Three' }] };
    const registry = new Map([
      ['Order', () => order],
      ['Three', factory],
      ['Binder', () => binder],
    ]);
    const enabled = [order, binder];
    const points = { preFilter: named, filter: named };
    new Profile({ schedulerName: 'mine', enabled, points, registry, handle: pluginHandle(build) });
    expect(created).toBe(1);
  });

  it('ignores a plugin that runs at no point', () => {
    const gangs: Plugin = { name: 'Gangs', decidesGangs: true, permit: () => undefined };
    const registry = new Map([order, gangs, binder].map((plugin) => [plugin.name, () => plugin]));
    const options = { schedulerName: 'mine', enabled: [order, gangs, binder], registry, handle: pluginHandle(build) };
    expect(new Profile(options).gangPolicy).toBe('Gangs');
    expect(new Profile({ ...options, points: { permit: { disabled: ['Gangs'] } } }).gangPolicy).toBeUndefined();
  });

  it('needs no signature from a plugin that neither filters nor scores', () => {
    const unsigned: Plugin = { name: 'Unsigned', filter: () => undefined };
    const registry = new Map([order, unsigned, binder].map((plugin) => [plugin.name, () => plugin]));
    const options = {
      schedulerName: 'mine',
      enabled: [order, unsigned, binder],
      registry,
      handle: pluginHandle(build),
    };
    expect(new Profile(options).signaturesOf(pod).local).toBeUndefined();
    const points = { filter: { disabled: ['*'] } };
    expect(new Profile({ ...options, points }).signaturesOf(pod).local).toBe('');
  });

  it.each<[PointsConfiguration, string]>([
    [{ bind: { enabled: [{ name: 'One' }] } }, 'plugin One does not implement bind; it implements preFilter, filter'],
    [{ filter: { enabled: [{ name: 'Typo' }] } }, 'unknown plugin Typo; known plugins: Order, One, Two'],
    [{ filter: { enabled: [{ name: 'One' }, { name: 'One' }] } }, 'plugin One is enabled twice at filter'],
    [{ score: { enabled: [{ name: 'One', weight: 0 }] } }, 'weight of One must be at least 1, not 0'],
    [{ queueSort: { disabled: ['*'] } }, 'exactly one QueueSort plugin must be enabled (got none)'],
    [{ bind: { disabled: ['Binder'] } }, 'no Bind plugin is enabled; enable DefaultBinder'],
  ])('rejects an invalid configuration: %j', (points, problem) => {
    expect(() => profileWith(points)).toThrow(`profile mine: ${problem}`);
  });
});

describe('a signature', () => {
  it('consists of what the plugins that filter or score read of the pod, except those that read other nodes', () => {
    const profile = withBasics(
      { name: 'One', filter: () => undefined, sign: ({ name }) => name },
      { name: 'Two', score: () => 0, sign: ({ namespace }) => namespace },
      { name: 'Global', filter: () => undefined, readsOtherNodes: true },
      { name: 'Neither', sign: () => 'not called' },
    );
    const of = (options: Parameters<Builders['projectedPod']>[0]): string | undefined =>
      profile.signaturesOf(build.projectedPod(options)).local;
    expect(of({ name: 'x', cpu: 1 })).toBe(of({ name: 'x', cpu: 2 }));
    expect(of({ name: 'x' })).not.toBe(of({ name: 'y' }));
    expect(of({ name: 'x', namespace: 'y' })).not.toBe(of({ name: 'y', namespace: 'x' }));
  });

  it('keeps its texts but changes a fragment when the state behind signCluster changes', () => {
    let clusterText = 'before';
    const profile = withBasics(
      { name: 'One', filter: () => undefined, sign: ({ name }) => name },
      { name: 'Two', score: () => 0, sign: () => 'x', signCluster: () => clusterText },
    );
    const before = profile.signaturesOf(pod);
    expect(profile.signaturesOf(pod)).toBe(before);
    clusterText = 'after';
    const after = profile.signaturesOf(pod);
    expect([after.local, after.whole]).toEqual([before.local, before.whole]);
    expect(after.fragments[0]).toBe(before.fragments[0]);
    expect(after.fragments[1]).not.toBe(before.fragments[1]);
    clusterText = 'before';
    expect(profile.signaturesOf(pod)).toBe(before);
  });

  it('fails the pod if signCluster returns an invalid value', () => {
    const profile = withBasics({
      name: 'One',
      filter: () => undefined,
      sign: () => '',
      signCluster: () => 7 as unknown as string,
    });
    expect(() => profile.signaturesOf(pod)).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ plugin: 'One' }) }) as Error,
    );
  });

  it('contains what a plugin with only PostFilter signs in `withPostFilter` alone, because PostFilter chooses no nodes', () => {
    const one: Plugin = { name: 'One', filter: () => undefined, sign: ({ name }) => name };
    const postFilter: Plugin = { name: 'Two', postFilter: () => undefined, sign: ({ priority }) => `p${priority}` };
    const signatures = withBasics(postFilter, one).signaturesOf(pod);
    expect(signatures.withPostFilter).toContain('p0');
    expect([signatures.local, signatures.whole, signatures.fragments.join()].join()).not.toContain('p0');
    const { whole, withPostFilter } = withBasics(one).signaturesOf(pod);
    expect(withPostFilter).toBe(whole);
  });

  it('without that of a plugin with PostFilter is undefined only in `withPostFilter`', () => {
    const one: Plugin = { name: 'One', filter: () => undefined, sign: ({ name }) => name };
    const { whole, withPostFilter } = withBasics(one, { name: 'Two', postFilter: () => undefined }).signaturesOf(pod);
    expect([whole === undefined, withPostFilter]).toEqual([false, undefined]);
  });

  it('is undefined if a plugin cannot sign the pod', () => {
    expect(withBasics({ name: 'Unsigned', filter: () => undefined }).signaturesOf(pod).local).toBeUndefined();
  });
});

describe('PreFilter', () => {
  it('ends with the first rejection and names its plugin', () => {
    const calls: string[] = [];
    const profile = withBasics(
      { name: 'One', preFilter: () => no },
      { name: 'Two', preFilter: () => void calls.push('Two') },
    );
    expect(profile.preFilter(new CycleState(), pod).status).toMatchObject({ message: 'no', plugin: 'One' });
    expect(calls).toEqual([]);
  });

  it('returns the intersection of the nodes that plugins name', () => {
    const profile = withBasics(
      { name: 'One', preFilter: () => ({ nodeNames: new Set(['a', 'b']) }) },
      { name: 'Two', preFilter: () => undefined },
      { name: 'Three', preFilter: () => ({ nodeNames: new Set(['b', 'c']) }) },
    );
    expect(profile.preFilter(new CycleState(), pod)).toEqual({
      status: undefined,
      nodeNames: new Set(['b']),
      mayChange: false,
    });
    expect(withBasics().preFilter(new CycleState(), pod)).toEqual({
      status: undefined,
      nodeNames: undefined,
      mayChange: false,
    });
  });

  it('disables the Filter of a plugin that skips, for this attempt', () => {
    const profile = withBasics({ name: 'One', preFilter: () => skip, filter: () => no, sign: () => '' });
    const state = new CycleState();
    profile.preFilter(state, pod);
    expect(profile.filter(profile.localFilters, state, pod, node)).toBeUndefined();
    expect(profile.filter(profile.localFilters, new CycleState(), pod, node)).toMatchObject({ plugin: 'One' });
  });
});

describe('Permit', () => {
  it('collects the waits of all plugins', () => {
    const profile = withBasics(
      { name: 'One', permit: () => ({ waitMs: 1 }) },
      { name: 'Two', permit: () => undefined },
      { name: 'Three', permit: () => ({ waitMs: 3 }) },
    );
    const result = profile.permit(new CycleState(), pod, 'a');
    expect(result).toEqual({
      status: undefined,
      waits: new Map([
        ['One', 1],
        ['Three', 3],
      ]),
    });
  });

  it('returns a rejection rather than a wait', () => {
    const profile = withBasics({ name: 'One', permit: () => ({ waitMs: 1 }) }, { name: 'Two', permit: () => no });
    expect(profile.permit(new CycleState(), pod, 'a').status).toMatchObject({ plugin: 'Two' });
  });
});

describe('Bind', () => {
  it('uses the first plugin that does not skip', async () => {
    const profile = withBasics(
      { name: 'One', bind: () => Promise.resolve(skip) },
      { name: 'Two', bind: () => Promise.resolve(no) },
    );
    const status = await profile.bind(new CycleState(), pod, 'a', new AbortController().signal);
    expect(status).toMatchObject({ plugin: 'Two', message: 'no' });
  });

  it('fails when all plugins skip', async () => {
    const profile = profileOf(order, { name: 'One', bind: () => Promise.resolve(skip) });
    const status = await profile.bind(new CycleState(), pod, 'a', new AbortController().signal);
    expect(status).toMatchObject({ code: 'Error', message: 'every Bind plugin skipped the pod' });
  });
});

describe('Unreserve', () => {
  it('runs in reverse order and continues after a plugin fails', () => {
    const undone: string[] = [];
    const profile = withBasics(
      { name: 'One', unreserve: () => void undone.push('One') },
      { name: 'Two', unreserve: bug },
      { name: 'Three', unreserve: () => void undone.push('Three') },
    );
    profile.unreserve(new CycleState(), pod, 'a');
    expect(undone).toEqual(['Three', 'One']);
  });
});

describe('PostFilter', () => {
  it('asks the plugins in order, until the caller has a result that helps or a plugin fails', () => {
    const asked: string[] = [];
    const answering = (name: string, answer: () => PostFilterResult | undefined): Plugin => ({
      name,
      postFilter: () => {
        asked.push(name);
        return answer();
      },
    });
    const profile = withBasics(
      answering('One', () => undefined),
      answering('Two', () => ({ message: 'two' })),
      answering('Three', bug),
      answering('Four', () => ({ message: 'four' })),
    );
    const rejection = { kind: 'nodes', rejections: [], resolvable: false } as const;
    const diagnosis = { pod, nodeCount: 0, rejection, plugins: new Set<string>() };
    for (const answer of profile.postFilter({ kind: 'pod', pod }, diagnosis)) {
      expect(answer).toEqual({ plugin: 'Two', result: { message: 'two' } });
      break;
    }
    expect(asked).toEqual(['One', 'Two']);
    const answers = [...profile.postFilter({ kind: 'pod', pod }, diagnosis)];
    expect(answers).toMatchObject([{ plugin: 'Two' }, { code: 'Error', plugin: 'Three' }]);
    expect(asked.slice(2)).toEqual(['One', 'Two', 'Three']);
  });
});

describe('a plugin that throws', () => {
  const signal = new AbortController().signal;
  const broken: Plugin = {
    name: 'Broken',
    preEnqueue: bug,
    preFilter: bug,
    filter: bug,
    preScore: bug,
    score: () => 0,
    reserve: bug,
    permit: bug,
    preBind: bug,
    bind: bug,
    postBind: bug,
  };
  const profile = profileOf(order, broken);

  it.each<[string, () => unknown]>([
    ['PreEnqueue', () => profile.preEnqueue({ kind: 'pod', pod })],
    ['PreFilter', () => profile.preFilter(new CycleState(), pod).status],
    ['Filter', () => profile.filter(profile.localFilters, new CycleState(), pod, node)],
    ['PreScore', () => profile.scoring.preScore(new CycleState(), pod, () => [node])],
    ['Reserve', () => profile.reserve(new CycleState(), pod, node)],
    ['Permit', () => profile.permit(new CycleState(), pod, 'a').status],
    ['PreBind', () => profile.preBind(new CycleState(), pod, 'a', signal)],
    ['Bind', () => profile.bind(new CycleState(), pod, 'a', signal)],
  ])('in %s returns an Error that names it', async (point, run) => {
    expect(await run()).toMatchObject({ code: 'Error', plugin: 'Broken', message: `Broken failed in ${point}: a bug` });
  });

  it('in PostBind does not fail the pod', () => {
    expect(() => profile.postBind(new CycleState(), pod, 'a')).not.toThrow();
  });
});
