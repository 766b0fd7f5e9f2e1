import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import { CycleState } from './cycle-state.ts';
import type { Plugin } from './plugin.ts';
import { Profile, ProfileError } from './profile.ts';
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
    expect(make).toThrow(new ProfileError('profile mine: no plugin is called Typo; known are Order, Binder'));
  });

  it('has exactly one plugin that sorts the queue', () => {
    expect(() => profileOf(binder)).toThrow(
      new ProfileError('profile mine: exactly one enabled plugin must sort the queue, but enabled is none'),
    );
    expect(() => withBasics({ name: 'Other', compare: () => 0 })).toThrow('but enabled is Order, Other');
  });

  it('has a plugin that binds', () => {
    expect(() => profileOf(order)).toThrow(
      new ProfileError('profile mine: no enabled plugin binds; enable DefaultBinder'),
    );
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

  it('is none when one plugin cannot sign the pod', () => {
    expect(withBasics({ name: 'Mute', filter: () => undefined }).signaturesOf(pod).local).toBeUndefined();
  });
});

describe('PreFilter', () => {
  it('ends with the first refusal, in the name of its plugin', () => {
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
    const refusal = { kind: 'nodes', reasons: new Map<string, number>(), resolvable: false } as const;
    const diagnosis = { pod, nodeCount: 0, refusal, plugins: new Set<string>() };
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
    ['PreScore', () => profile.preScore(new CycleState(), pod, () => [node])],
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
