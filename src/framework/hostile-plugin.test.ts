import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Pod } from '../api/pod.ts';
import type { Logger } from '../observability/logger.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { defaultPlugins, pluginRegistry } from '../plugins/registry.ts';
import { Scheduling } from '../testkit/scheduling.ts';
import { CycleState } from './cycle-state.ts';
import { EventHints } from './event-hints.ts';
import { PluginClock } from './plugin-clock.ts';
import type { Plugin } from './plugin.ts';
import { Profile } from './profile.ts';
import { Status } from './status.ts';
import type { StatusCode } from './status.ts';
import { asyncPointDeadlineMs } from './within-deadline.ts';

const build = new Builders();
const pod = build.projectedPod({ name: 'pod' });
const never = new Promise<never>(() => undefined);
const basics = ['PrioritySort', 'DefaultBinder'].map((name) => ({ name, factory: pluginRegistry.get(name)! }));

/** As JavaScript could have written it. */
type Hostile = Record<string, unknown>;
const asPlugin = (points: Hostile): Plugin => ({ name: 'Hostile', ...points });

/** A scheduler with one node and one pod. */
function scheduling(points: Hostile): Scheduling {
  const scheduling = new Scheduling({ plugins: basics, extra: [asPlugin(points)] });
  scheduling.node({ name: 'node' });
  scheduling.pod({ name: 'pod' });
  return scheduling;
}

/** What the pod is told after one attempt, by a core in which the next pod is scheduled all the same. */
async function verdictOf(points: Hostile): Promise<string | undefined> {
  let isOver = false;
  const switched = Object.entries(points).map(([point, run]) => {
    if (typeof run !== 'function') return [point, run];
    const fine = point === 'score' ? 0 : undefined;
    return [point, (...args: unknown[]): unknown => (isOver ? fine : (run as (...a: unknown[]) => unknown)(...args))];
  });
  const core = scheduling(Object.fromEntries(switched) as Hostile);
  await core.attempt();
  await core.settle();
  const message = core.harness.written.at(-1)?.verdict.message;
  isOver = true;
  core.pod({ name: 'next' });
  await core.attempt();
  expect(core.binds.map(({ binding }) => binding.name)).toContain('next');
  return message;
}

const aStatus = 'it must answer undefined or a Status, not';

describe('a Reserve that fails after it has reserved', () => {
  it.each<[string, () => unknown]>([
    ['answers a text', () => 'no'],
    ['answers null', () => null],
    ['answers a promise', () => Promise.resolve()],
    [
      'throws',
      () => {
        throw new Error('late');
      },
    ],
  ])('and %s is undone for every member, the one it failed on too', async (_how, fails) => {
    const reserved = new Set<string>();
    const core = new Scheduling({
      plugins: defaultPlugins,
      extra: [
        asPlugin({
          reserve: (_state: CycleState, { uid }: Pod) => {
            reserved.add(uid);
            return uid === 'red-1' ? fails() : undefined;
          },
          unreserve: (_state: CycleState, { uid }: Pod) => void reserved.delete(uid),
        }),
      ],
    });
    core.node({ name: 'a', cpu: 2 });
    core.group({ name: 'red', minMember: 2 });
    core.members(2, { group: 'red', cpu: 1 });
    expect(await core.attempt()).toBe('rejected');
    expect([...reserved, core.harness.cluster.assumedCount, core.binds.length]).toEqual([0, 0]);
  });
});

describe('a plugin that answers nonsense fails its pod by name, and the next pod is scheduled', () => {
  it.each<[string, Hostile, string]>([
    ['Filter: a text', { filter: () => 'no' }, `Hostile failed in Filter: ${aStatus} "no"`],
    ['Filter: null', { filter: () => null }, `Hostile failed in Filter: ${aStatus} null`],
    ['Filter: false', { filter: () => false }, `Hostile failed in Filter: ${aStatus} false`],
    ['Filter: a promise', { filter: async () => undefined }, `Hostile failed in Filter: ${aStatus} a Promise`],
    ['Filter: a promise that fails', { filter: () => Promise.reject(new Error('x')) }, `${aStatus} a Promise`],
    ['Filter: Skip', { filter: () => new Status('Skip', '') }, 'Hostile failed in Filter: it may not answer Skip here'],
    [
      'Filter: a Status from elsewhere',
      { filter: () => ({ code: 'Unschedulable', reasons: ['no'] }) },
      'not a Status of another copy of tutti-scheduler; take the one that the handle has',
    ],
    ['Score: NaN', { score: () => NaN }, 'Hostile failed in Score: a score must be a finite number, not NaN'],
    ['Score: nothing', { score: () => undefined }, 'a score must be a finite number, not undefined'],
    ['Score: a text', { score: () => '7' }, 'a score must be a finite number, not "7"'],
    ['Score: a promise', { score: async () => 7 }, 'a score must be a finite number, not a Promise'],
    [
      'NormalizeScore: NaN',
      { score: () => 1, normalizeScore: (_s: unknown, _p: unknown, scores: Float64Array) => scores.fill(NaN) },
      'Hostile failed in NormalizeScore: scores must be finite numbers',
    ],
    ['PreFilter: null', { preFilter: () => null }, 'undefined, a Status, or { nodeNames } with a Set, not null'],
    ['PreFilter: a list', { preFilter: () => ({ nodeNames: ['node'] }) }, 'or { nodeNames } with a Set, not an object'],
    ['PreScore: true', { score: () => 0, preScore: () => true }, `Hostile failed in PreScore: ${aStatus} true`],
    ['Reserve: 0', { reserve: () => 0 }, `Hostile failed in Reserve: ${aStatus} 0`],
    [
      'Permit: a wait of -1',
      { permit: () => ({ waitMs: -1 }) },
      'Hostile failed in Permit: waitMs must be a number of at least 0, not -1',
    ],
    ['Permit: a wait of NaN', { permit: () => ({ waitMs: NaN }) }, 'waitMs must be a number of at least 0, not NaN'],
    ['Permit: a list', { permit: () => [] }, 'it must answer undefined, a Status, or { waitMs }, not a list'],
    [
      'sign: a number',
      { filter: () => undefined, sign: () => 7 },
      'Hostile failed in Sign: it must answer undefined or a text, not 7',
    ],
    [
      'sign: throws',
      { filter: () => undefined, sign: () => (undefined as any).x },
      'Hostile failed in Sign: Cannot read properties',
    ],
    ['PreBind: a text', { preBind: () => 'done' }, `Hostile failed in PreBind: ${aStatus} "done"`],
    [
      'PreBind: throws at once',
      { preBind: () => (undefined as any).x },
      'Hostile failed in PreBind: Cannot read properties',
    ],
    ['a throw of nothing', { filter: () => thrown(undefined) }, 'Hostile failed in Filter: undefined'],
    [
      'a throw that no text shows',
      { filter: () => thrown(Object.create(null)) },
      'Hostile failed in Filter: an object',
    ],
    [
      'a throw of what cannot be looked at',
      { filter: () => thrown(new Proxy({}, { getPrototypeOf: () => thrown(new Error('no')), has: () => thrown(0) })) },
      'Hostile failed in Filter: something that cannot be looked at',
    ],
    [
      'a throw of an Error without a text',
      { filter: () => thrown(Object.assign(new Error('x'), { message: { toString: null } })) },
      'Hostile failed in Filter: an object',
    ],
    ...['filter', 'preFilter', 'reserve', 'permit', 'preBind', 'score', 'normalizeScore'].flatMap((point) => {
      const throwing = (code: StatusCode): Hostile => ({
        score: () => 1,
        [point]: () => thrown(new Status(code, 'too bad')),
      });
      const named = `${point[0]!.toUpperCase()}${point.slice(1)}`;
      return [
        [`${named}: throws a rejection`, throwing('Unschedulable'), `Hostile failed in ${named}: too bad`],
        [`${named}: throws an Error status`, throwing('Error'), 'too bad.'],
      ];
    }),
  ] as unknown as [string, Hostile, string][])('%s', async (_what, points, message) => {
    expect(await verdictOf(points)).toContain(message);
  });

  it('Bind: a text', async () => {
    const core = new Scheduling({ plugins: basics.slice(0, 1), extra: [asPlugin({ bind: () => 'bound' })] });
    core.node({ name: 'node' });
    core.pod({ name: 'pod' });
    await core.attempt();
    expect(core.harness.verdicts).toEqual([`pod Hostile failed in Bind: ${aStatus} "bound".`]);
  });

  it.each([
    ['nothing that counts', () => ({}), 'it must answer undefined or { message }, not an object'],
    ['victims that are no pods', () => ({ message: '', victims: [1] }), 'victims must be a list of pods'],
    [
      'nominations without pods',
      () => ({ message: '', nominations: [{}] }),
      'nominations must be a list of { pod, nodeName }',
    ],
  ])('PostFilter: %s', async (_what, postFilter, message) => {
    const core = scheduling({ filter: () => new Status('Unschedulable', 'no'), postFilter });
    await core.attempt();
    expect(core.harness.verdicts[0]).toContain(`no. Hostile failed in PostFilter: ${message}`);
  });

  it('a sign that failed is asked again', async () => {
    let calls = 0;
    const core = scheduling({
      filter: () => undefined,
      sign: () => (++calls === 1 ? 7 : 'fine'),
    });
    await core.attempt();
    expect(core.binds).toHaveLength(0);
    core.harness.clock.advance(1_000);
    await core.attempt();
    expect(core.binds).toHaveLength(1);
  });

  it('a gang of which one member is not answered is rejected whole', async () => {
    const core = new Scheduling({
      plugins: [...basics, { name: 'Coscheduling', factory: pluginRegistry.get('Coscheduling')! }],
      extra: [
        asPlugin({ filter: (_state: unknown, { name }: { name: string }) => (name === 'gang-1' ? 'no' : undefined) }),
      ],
    });
    core.node({ name: 'node' });
    core.group({ name: 'gang', minMember: 2 });
    core.members(2, { group: 'gang' });
    await core.attempt();
    expect(core.binds).toHaveLength(0);
    expect(core.harness.written.map(({ name, verdict }) => [name, verdict.reason])).toEqual([
      ['gang-0', 'SchedulerError'],
      ['gang-1', 'SchedulerError'],
    ]);
    expect(core.harness.verdicts[0]).toContain('Hostile failed in Filter');
  });
});

describe('a plugin that hangs', () => {
  it('in PreBind has failed after ten minutes, is told so, and its place is free again', async () => {
    let reported: AbortSignal | undefined;
    const core = scheduling({
      preBind: (_state: unknown, _pod: unknown, _node: unknown, signal: AbortSignal) => {
        reported = signal;
        return never;
      },
    });
    await core.attempt();
    core.harness.clock.advance(asyncPointDeadlineMs - 1);
    await core.settle();
    expect(core.harness.verdicts).toEqual([]);
    expect(reported?.aborted).toBe(false);
    core.harness.clock.advance(1);
    await core.settle();
    expect(core.harness.verdicts).toEqual(['pod Hostile failed in PreBind: it has not ended after 10m.']);
    expect(reported?.aborted).toBe(true);
    expect(core.harness.cluster.assumedCount).toBe(0);
    expect(asyncPointDeadlineMs).toBe(600_000);
  });

  it('does not keep other pods waiting', async () => {
    const core = scheduling({
      preBind: (_state: unknown, { name }: { name: string }) => (name === 'pod' ? never : undefined),
    });
    core.pod({ name: 'other' });
    await core.attempt();
    await core.attempt();
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['other']);
  });

  it('in Bind has failed after ten minutes', async () => {
    const core = new Scheduling({ plugins: basics.slice(0, 1), extra: [asPlugin({ bind: () => never })] });
    core.node({ name: 'node' });
    core.pod({ name: 'pod' });
    await core.attempt();
    core.harness.clock.advance(asyncPointDeadlineMs);
    await core.settle();
    expect(core.harness.verdicts).toEqual(['pod Hostile failed in Bind: it has not ended after 10m.']);
  });

  it('does not keep the scheduler from stopping', async () => {
    const core = scheduling({ preBind: () => never });
    await core.attempt();
    let isStopped = false;
    const stopped = core.harness.core.stop().then(() => (isStopped = true));
    await core.settle();
    expect(isStopped).toBe(false);
    core.harness.clock.advance(5_000);
    await stopped;
  });
});

describe('where nothing can be failed', () => {
  const lines: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (message, fields) =>
      void lines.push(`${message} ${String(fields?.plugin)} ${String(fields?.point)} ${String(fields?.error)}`),
    error: (message, fields) => void lines.push(`${message} ${fields?.plugin === undefined ? '' : 'named'}`.trim()),
    child: () => logger,
  };
  const profileOf = (points: Hostile): Profile => {
    lines.length = 0;
    const plugins = [asPlugin({ compare: () => 0, bind: () => undefined, ...points })];
    return new Profile({
      schedulerName: 'mine',
      enabled: plugins,
      registry: new Map(plugins.map((plugin) => [plugin.name, () => plugin])),
      handle: { ...pluginHandle(build), logger },
    });
  };

  it.each([
    ['throws', () => thrown(new Error('late'))],
    ['rejects', () => Promise.reject(new Error('late'))],
  ])('a PostBind or Unreserve that %s is logged', async (_how, run) => {
    const profile = profileOf({ postBind: run, unreserve: run });
    profile.postBind(new CycleState(), pod, 'node');
    profile.unreserve(new CycleState(), pod, 'node');
    await Promise.resolve();
    expect(lines).toEqual(['a plugin failed Hostile PostBind late', 'a plugin failed Hostile Unreserve late']);
  });

  it.each([
    ['throws', () => thrown(new Error('no'))],
    ['answers NaN', () => NaN],
    ['answers a text', () => 'first'],
  ])('a QueueSort that %s leaves the order to who was ready first', (_how, compare) => {
    const key = { priority: 0, readySince: 1, uid: 'a', incomplete: false };
    const profile = profileOf({ compare });
    expect(profile.compare(key, { ...key, readySince: 2 })).toBeLessThan(0);
    expect(profile.compare(key, { ...key, uid: 'b' })).toBeLessThan(0);
    expect(profile.compare(key, key)).toBe(0);
  });

  it('a timer that throws is logged', () => {
    lines.length = 0;
    const clock = new VirtualClock();
    new PluginClock(clock, logger).setTimer(10, () => thrown(new Error('late')));
    clock.advance(10);
    expect(lines).toEqual(['a timer of a plugin failed']);
  });

  it.each<[string, unknown, string]>([
    ['throws', () => thrown(new Error('no disk')), 'could not be made: no disk'],
    [
      'answers nothing',
      () => undefined,
      'could not be made: its factory must answer an object with a name and points, not undefined',
    ],
    [
      'is async',
      async () => asPlugin({}),
      'could not be made: its factory must answer an object with a name and points, not a Promise',
    ],
    [
      'answers another name',
      () => ({ name: 'Other' }),
      'calls itself "Other": its factory must answer an object of its name',
    ],
    ['answers no function', () => ({ name: 'Hostile', filter: true }), 'has a filter that is not a function but true'],
  ])('a factory that %s makes no profile', (_how, factory, message) => {
    const make = (): Profile =>
      new Profile({
        schedulerName: 'mine',
        enabled: [{ name: 'Hostile' }],
        registry: new Map([['Hostile', factory as () => Plugin]]),
        handle: pluginHandle(build, { schedulerName: 'mine' }),
      });
    expect(make).toThrow(
      expect.objectContaining({ name: 'ProfileError', message: `profile mine: plugin Hostile ${message}` }),
    );
  });

  it.each([
    ['throws', () => thrown(new Error('no')), 'failed: no'],
    [
      'answers an object',
      () => ({}),
      'must answer a list of { resource, actions }, and where a hint is given, a function',
    ],
    ['answers a hint that is none', () => [{ resource: 'Node', actions: ['Add'], hint: true }], 'must answer a list'],
  ])('eventsToRegister that %s makes no profile', (_how, eventsToRegister, message) => {
    expect(() => new EventHints(profileOf({ eventsToRegister }))).toThrow(
      `profile mine: eventsToRegister of plugin Hostile ${message}`,
    );
  });
});

function thrown(what: unknown): never {
  throw what;
}
