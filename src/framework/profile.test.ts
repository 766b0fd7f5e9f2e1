import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import { CycleState } from './cycle-state.ts';
import type { PointsConfiguration } from './enabled-plugin.ts';
import type { Plugin } from './plugin.ts';
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
  it('cannot name a plugin that nobody knows', () => {
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
    expect(make).toThrow('profile mine: no plugin is called Typo; known are Order, Binder');
  });

  it('has exactly one plugin that sorts the queue', () => {
    expect(() => profileOf(binder)).toThrow(
      'profile mine: exactly one enabled plugin must sort the queue, but enabled is none',
    );
    expect(() => withBasics({ name: 'Other', compare: () => 0 })).toThrow('but enabled is Order, Other');
  });

  it('has a plugin that binds', () => {
    expect(() => profileOf(order)).toThrow('profile mine: no enabled plugin binds; enable DefaultBinder');
  });

  it('keeps plugins that read other nodes apart from those whose answers may be reused', () => {
    const profile = withBasics(
      { name: 'Local', filter: () => undefined, sign: () => '' },
      { name: 'Global', filter: () => undefined, readsOtherNodes: true },
    );
    expect(profile.localFilters.map(({ name }) => name)).toEqual(['Local']);
    expect(profile.otherFilters.map(({ name }) => name)).toEqual(['Global']);
  });
});

describe('a profile that treats some points otherwise', () => {
  const asked: string[] = [];
  const asks = (name: string, ...points: string[]): Plugin => ({
    name,
    sign: () => '',
    ...Object.fromEntries(points.map((point) => [point, () => void asked.push(`${point} ${name}`)])),
  });
  const one = asks('One', 'preFilter', 'filter', 'preScore', 'reserve', 'permit');
  const two = asks('Two', 'preFilter', 'filter', 'preScore', 'reserve', 'permit');
  const three = asks('Three', 'preFilter', 'filter');

  function profileWith(points: PointsConfiguration, enabled: readonly Plugin[] = [order, one, two, binder]): Profile {
    asked.length = 0;
    const registry = new Map([order, one, two, three, binder].map((plugin) => [plugin.name, () => plugin]));
    return new Profile({ schedulerName: 'mine', enabled, points, registry, handle: pluginHandle(build) });
  }
  const filters = (profile: Profile): readonly string[] => profile.localFilters.map(({ name }) => name);

  it('runs those that the point names first, then the others that are enabled everywhere, then those named there alone', () => {
    const profile = profileWith({ filter: { enabled: [{ name: 'Three' }, { name: 'Two' }] } });
    expect(filters(profile)).toEqual(['Two', 'One', 'Three']);
    profile.preFilter(new CycleState(), pod);
    expect(asked).toEqual(['preFilter One', 'preFilter Two']);
  });

  it('leaves out what is disabled there, and there alone', () => {
    const profile = profileWith({ filter: { disabled: ['One'] }, reserve: { disabled: ['*'] } });
    expect(filters(profile)).toEqual(['Two']);
    profile.reserve(new CycleState(), pod, node);
    profile.permit(new CycleState(), pod, 'a');
    expect(asked).toEqual(['permit One', 'permit Two']);
  });

  it('runs what is enabled there though it is disabled there', () => {
    expect(filters(profileWith({ filter: { enabled: [{ name: 'Two' }], disabled: ['*'] } }))).toEqual(['Two']);
    expect(filters(profileWith({ filter: { enabled: [{ name: 'One' }], disabled: ['One'] } }))).toEqual(['Two', 'One']);
  });

  it('runs a PreScore without its Score', () => {
    profileWith({ preScore: { disabled: ['One'] } }).scoring.preScore(new CycleState(), pod, () => []);
    expect(asked).toEqual(['preScore Two']);
  });

  it('takes the weight of a score from the point, else from where all points are named', () => {
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

  it('has one of each plugin, also of one that several points name', () => {
    let made = 0;
    const factory = (): Plugin => {
      made++;
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
    expect(made).toBe(1);
  });

  it('does not count a plugin that runs nowhere', () => {
    const gangs: Plugin = { name: 'Gangs', decidesGangs: true, permit: () => undefined };
    const registry = new Map([order, gangs, binder].map((plugin) => [plugin.name, () => plugin]));
    const options = { schedulerName: 'mine', enabled: [order, gangs, binder], registry, handle: pluginHandle(build) };
    expect(new Profile(options).gangPolicy).toBe('Gangs');
    expect(new Profile({ ...options, points: { permit: { disabled: ['Gangs'] } } }).gangPolicy).toBeUndefined();
  });

  it('asks for no signature of a plugin that neither filters nor scores there', () => {
    const mute: Plugin = { name: 'Mute', filter: () => undefined };
    const registry = new Map([order, mute, binder].map((plugin) => [plugin.name, () => plugin]));
    const options = { schedulerName: 'mine', enabled: [order, mute, binder], registry, handle: pluginHandle(build) };
    expect(new Profile(options).signaturesOf(pod).local).toBeUndefined();
    const points = { filter: { disabled: ['*'] } };
    expect(new Profile({ ...options, points }).signaturesOf(pod).local).toBe('');
  });

  it.each<[PointsConfiguration, string]>([
    [
      { bind: { enabled: [{ name: 'One' }] } },
      'plugin One has nothing to do at bind; its points are preFilter, filter',
    ],
    [{ filter: { enabled: [{ name: 'Typo' }] } }, 'no plugin is called Typo; known are Order, One, Two'],
    [{ filter: { enabled: [{ name: 'One' }, { name: 'One' }] } }, 'plugin One is enabled twice at filter'],
    [{ score: { enabled: [{ name: 'One', weight: 0 }] } }, 'weight of One must be at least 1, not 0'],
    [{ queueSort: { disabled: ['*'] } }, 'exactly one enabled plugin must sort the queue, but enabled is none'],
    [{ bind: { disabled: ['Binder'] } }, 'no enabled plugin binds; enable DefaultBinder'],
  ])('is rejected when it cannot be: %j', (points, problem) => {
    expect(() => profileWith(points)).toThrow(`profile mine: ${problem}`);
  });
});

describe('a signature', () => {
  it('is what the plugins that filter or score read of the pod, those aside that read other nodes', () => {
    const profile = withBasics(
      { name: 'One', filter: () => undefined, sign: ({ name }) => name },
      { name: 'Two', score: () => 0, sign: ({ namespace }) => namespace },
      { name: 'Global', filter: () => undefined, readsOtherNodes: true },
      { name: 'Neither', sign: () => 'not asked' },
    );
    const of = (options: Parameters<Builders['projectedPod']>[0]): string | undefined =>
      profile.signaturesOf(build.projectedPod(options)).local;
    expect(of({ name: 'x', cpu: 1 })).toBe(of({ name: 'x', cpu: 2 }));
    expect(of({ name: 'x' })).not.toBe(of({ name: 'y' }));
    expect(of({ name: 'x', namespace: 'y' })).not.toBe(of({ name: 'y', namespace: 'x' }));
  });

  it('stays the same, and its fragments do not, when something changes that a plugin reads of the picture', () => {
    let harness = 'before';
    const profile = withBasics(
      { name: 'One', filter: () => undefined, sign: ({ name }) => name },
      { name: 'Two', score: () => 0, sign: () => 'x', signCluster: () => harness },
    );
    const before = profile.signaturesOf(pod);
    expect(profile.signaturesOf(pod)).toBe(before);
    harness = 'after';
    const after = profile.signaturesOf(pod);
    expect([after.local, after.whole]).toEqual([before.local, before.whole]);
    expect(after.fragments[0]).toBe(before.fragments[0]);
    expect(after.fragments[1]).not.toBe(before.fragments[1]);
    harness = 'before';
    expect(profile.signaturesOf(pod)).toBe(before);
  });

  it('fails the pod where a plugin cannot say what it reads of the picture', () => {
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

  it('is none when one plugin cannot sign the pod', () => {
    expect(withBasics({ name: 'Mute', filter: () => undefined }).signaturesOf(pod).local).toBeUndefined();
  });
});

describe('PreFilter', () => {
  it('ends with the first rejection, in the name of its plugin', () => {
    const asked: string[] = [];
    const profile = withBasics(
      { name: 'One', preFilter: () => no },
      { name: 'Two', preFilter: () => void asked.push('Two') },
    );
    expect(profile.preFilter(new CycleState(), pod).status).toMatchObject({ message: 'no', plugin: 'One' });
    expect(asked).toEqual([]);
  });

  it('keeps the nodes that all plugins which name some have in common', () => {
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

  it('that skips switches the plugin’s Filter off for this attempt', () => {
    const profile = withBasics({ name: 'One', preFilter: () => skip, filter: () => no, sign: () => '' });
    const state = new CycleState();
    profile.preFilter(state, pod);
    expect(profile.filter(profile.localFilters, state, pod, node)).toBeUndefined();
    expect(profile.filter(profile.localFilters, new CycleState(), pod, node)).toMatchObject({ plugin: 'One' });
  });
});

describe('Permit', () => {
  it('collects what every plugin wants to wait, also after one that does', () => {
    const profile = withBasics(
      { name: 'One', permit: () => ({ waitMs: 1 }) },
      { name: 'Two', permit: () => undefined },
      { name: 'Three', permit: () => ({ waitMs: 3 }) },
    );
    const answer = profile.permit(new CycleState(), pod, 'a');
    expect(answer).toEqual({
      status: undefined,
      waits: new Map([
        ['One', 1],
        ['Three', 3],
      ]),
    });
  });

  it('that rejects beats those that wait', () => {
    const profile = withBasics({ name: 'One', permit: () => ({ waitMs: 1 }) }, { name: 'Two', permit: () => no });
    expect(profile.permit(new CycleState(), pod, 'a').status).toMatchObject({ plugin: 'Two' });
  });
});

describe('Bind', () => {
  it('is up to the first plugin that does not skip', async () => {
    const profile = withBasics(
      { name: 'One', bind: () => Promise.resolve(skip) },
      { name: 'Two', bind: () => Promise.resolve(no) },
    );
    const status = await profile.bind(new CycleState(), pod, 'a', new AbortController().signal);
    expect(status).toMatchObject({ plugin: 'Two', message: 'no' });
  });

  it('fails when all of them skip', async () => {
    const profile = profileOf(order, { name: 'One', bind: () => Promise.resolve(skip) });
    const status = await profile.bind(new CycleState(), pod, 'a', new AbortController().signal);
    expect(status).toMatchObject({ code: 'Error', message: 'every Bind plugin skipped the pod' });
  });
});

describe('Unreserve', () => {
  it('runs in reverse order, past plugins that fail', () => {
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
  it('ends with the first plugin that has a result', () => {
    const profile = withBasics(
      { name: 'One', postFilter: () => undefined },
      { name: 'Two', postFilter: () => ({ message: 'two' }) },
      { name: 'Three', postFilter: () => ({ message: 'three' }) },
    );
    const rejection = { kind: 'nodes', reasons: new Map<string, number>(), resolvable: false } as const;
    const diagnosis = { pod, nodeCount: 0, rejection, plugins: new Set<string>() };
    expect(profile.postFilter({ kind: 'pod', pod }, diagnosis)).toEqual({ message: 'two' });
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
  ])('in %s answers Error, and is named', async (point, run) => {
    expect(await run()).toMatchObject({ code: 'Error', plugin: 'Broken', message: `Broken failed in ${point}: a bug` });
  });

  it('in PostBind harms nobody', () => {
    expect(() => profile.postBind(new CycleState(), pod, 'a')).not.toThrow();
  });
});
