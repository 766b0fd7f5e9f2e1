import { runInThisContext } from 'node:vm';
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

/** A plugin as untyped JavaScript might define it. */
type Hostile = Record<string, unknown>;
const asPlugin = (points: Hostile): Plugin => ({ name: 'Hostile', ...points });

function profileWith(logger: Logger, points: Hostile): Profile {
  const plugins = [asPlugin({ compare: () => 0, bind: () => undefined, ...points })];
  return new Profile({
    schedulerName: 'mine',
    enabled: plugins,
    registry: new Map(plugins.map((plugin) => [plugin.name, () => plugin])),
    handle: { ...pluginHandle(build), logger },
  });
}

/** Returns a scheduler with one node and one pod. */
function scheduling(points: Hostile): Scheduling {
  const scheduling = new Scheduling({ plugins: basics, extra: [asPlugin(points)] });
  scheduling.node({ name: 'node' });
  scheduling.pod({ name: 'pod' });
  return scheduling;
}

/** Returns the pod's verdict after one attempt, and checks that the scheduler then still schedules the next pod. */
async function verdictOf(points: Hostile): Promise<string | undefined> {
  let isOver = false;
  const switched = Object.entries(points).map(([point, run]) => {
    if (typeof run !== 'function') return [point, run];
    const valid = point === 'score' ? 0 : undefined;
    return [point, (...args: unknown[]): unknown => (isOver ? valid : (run as (...a: unknown[]) => unknown)(...args))];
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

const expectsStatus = 'it must return undefined or a Status, not';

describe('a Reserve plugin that fails after it has reserved', () => {
  it.each<[string, () => unknown]>([
    ['returns a string', () => 'no'],
    ['returns null', () => null],
    ['returns a promise', () => Promise.resolve()],
    [
      'throws',
      () => {
        throw new Error('late');
      },
    ],
  ])('is unreserved for every member, including the one it failed for: it %s', async (_how, fails) => {
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

describe('a plugin with an invalid result', () => {
  it.each<[string, Hostile, string]>([
    ['Filter: a string', { filter: () => 'no' }, `Hostile failed in Filter: ${expectsStatus} "no"`],
    ['Filter: null', { filter: () => null }, `Hostile failed in Filter: ${expectsStatus} null`],
    ['Filter: false', { filter: () => false }, `Hostile failed in Filter: ${expectsStatus} false`],
    ['Filter: a promise', { filter: async () => undefined }, `Hostile failed in Filter: ${expectsStatus} a Promise`],
    ['Filter: a promise that rejects', { filter: () => Promise.reject(new Error('x')) }, `${expectsStatus} a Promise`],
    ['Filter: Skip', { filter: () => new Status('Skip', '') }, 'Hostile failed in Filter: Skip is not allowed here'],
    [
      'Filter: a Status of another module',
      { filter: () => ({ code: 'Unschedulable', reasons: ['no'] }) },
      'not a Status of another copy of tutti-scheduler; use handle.Status',
    ],
    ['Score: NaN', { score: () => NaN }, 'Hostile failed in Score: a score must be a finite number, not NaN'],
    ['Score: undefined', { score: () => undefined }, 'a score must be a finite number, not undefined'],
    ['Score: a string', { score: () => '7' }, 'a score must be a finite number, not "7"'],
    ['Score: a promise', { score: async () => 7 }, 'a score must be a finite number, not a Promise'],
    [
      'NormalizeScore: NaN',
      { score: () => 1, normalizeScore: (_s: unknown, _p: unknown, scores: Float64Array) => scores.fill(NaN) },
      'Hostile failed in NormalizeScore: scores must be finite numbers',
    ],
    ['PreFilter: null', { preFilter: () => null }, 'undefined, a Status, or { nodeNames } with a Set, not null'],
    ['PreFilter: a list', { preFilter: () => ({ nodeNames: ['node'] }) }, 'or { nodeNames } with a Set, not an object'],
    ['PreScore: true', { score: () => 0, preScore: () => true }, `Hostile failed in PreScore: ${expectsStatus} true`],
    ['Reserve: 0', { reserve: () => 0 }, `Hostile failed in Reserve: ${expectsStatus} 0`],
    [
      'Permit: a wait of -1',
      { permit: () => ({ waitMs: -1 }) },
      'Hostile failed in Permit: waitMs must be a number of at least 0, not -1',
    ],
    ['Permit: a wait of NaN', { permit: () => ({ waitMs: NaN }) }, 'waitMs must be a number of at least 0, not NaN'],
    ['Permit: a list', { permit: () => [] }, 'it must return undefined, a Status, or { waitMs }, not a list'],
    [
      'sign: a number',
      { filter: () => undefined, sign: () => 7 },
      'Hostile failed in Sign: it must return undefined or a string, not 7',
    ],
    [
      'sign: throws',
      { filter: () => undefined, sign: () => (undefined as any).x },
      'Hostile failed in Sign: Cannot read properties',
    ],
    ['PreBind: a string', { preBind: () => 'done' }, `Hostile failed in PreBind: ${expectsStatus} "done"`],
    [
      'PreBind: throws synchronously',
      { preBind: () => (undefined as any).x },
      'Hostile failed in PreBind: Cannot read properties',
    ],
    ['a throw of undefined', { filter: () => thrown(undefined) }, 'Hostile failed in Filter: undefined'],
    [
      'a throw of an object without toString',
      { filter: () => thrown(Object.create(null)) },
      'Hostile failed in Filter: an object',
    ],
    [
      'a throw of an object that throws on access',
      { filter: () => thrown(new Proxy({}, { getPrototypeOf: () => thrown(new Error('no')), has: () => thrown(0) })) },
      'Hostile failed in Filter: a value that cannot be read',
    ],
    [
      'a throw of an Error whose message is not a string',
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
  ] as unknown as [string, Hostile, string][])(
    'fails its pod by name, and the next pod is scheduled: %s',
    async (_what, points, message) => {
      expect(await verdictOf(points)).toContain(message);
    },
  );

  it('fails its pod by name in Bind', async () => {
    const core = new Scheduling({ plugins: basics.slice(0, 1), extra: [asPlugin({ bind: () => 'bound' })] });
    core.node({ name: 'node' });
    core.pod({ name: 'pod' });
    await core.attempt();
    expect(core.harness.verdicts).toEqual([`pod Hostile failed in Bind: ${expectsStatus} "bound".`]);
  });

  it.each([
    ['an object without a message', () => ({}), 'it must return undefined or { message }, not an object'],
    ['victims that are not pods', () => ({ message: '', victims: [1] }), 'victims must be a list of pods'],
    [
      'text for eventsMayHelp',
      () => ({ message: '', eventsMayHelp: 'yes' }),
      'eventsMayHelp must be true or false, not "yes"',
    ],
    [
      'nominations without pods',
      () => ({ message: '', nominations: [{}] }),
      'nominations must be a list of { pod, nodeName }',
    ],
  ])('fails its pod by name in PostFilter: %s', async (_what, postFilter, message) => {
    const core = scheduling({ filter: () => new Status('Unschedulable', 'no'), postFilter });
    await core.attempt();
    expect(core.harness.verdicts[0]).toContain(`no. Hostile failed in PostFilter: ${message}`);
  });

  it('is called again at sign after it failed', async () => {
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

  it('fails the whole gang if it fails for one member', async () => {
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
  it('fails in PreBind after ten minutes; its signal aborts and the assumed capacity is released', async () => {
    let received: AbortSignal | undefined;
    const core = scheduling({
      preBind: (_state: unknown, _pod: unknown, _node: unknown, signal: AbortSignal) => {
        received = signal;
        return never;
      },
    });
    await core.attempt();
    core.harness.clock.advance(asyncPointDeadlineMs - 1);
    await core.settle();
    expect(core.harness.verdicts).toEqual([]);
    expect(received?.aborted).toBe(false);
    core.harness.clock.advance(1);
    await core.settle();
    expect(core.harness.verdicts).toEqual(['pod Hostile failed in PreBind: timed out after 10m.']);
    expect(received?.aborted).toBe(true);
    expect(core.harness.cluster.assumedCount).toBe(0);
    expect(asyncPointDeadlineMs).toBe(600_000);
  });

  it('does not block other pods', async () => {
    const core = scheduling({
      preBind: (_state: unknown, { name }: { name: string }) => (name === 'pod' ? never : undefined),
    });
    core.pod({ name: 'other' });
    await core.attempt();
    await core.attempt();
    expect(core.binds.map(({ binding }) => binding.name)).toEqual(['other']);
  });

  it('fails in Bind after ten minutes', async () => {
    const core = new Scheduling({ plugins: basics.slice(0, 1), extra: [asPlugin({ bind: () => never })] });
    core.node({ name: 'node' });
    core.pod({ name: 'pod' });
    await core.attempt();
    core.harness.clock.advance(asyncPointDeadlineMs);
    await core.settle();
    expect(core.harness.verdicts).toEqual(['pod Hostile failed in Bind: timed out after 10m.']);
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

describe('an error that a plugin throws', () => {
  const errors: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (...line) => void errors.push(line),
    child: () => logger,
  };
  /** Compiled outside of Tutti's own code. */
  const code = '({ throwing() { throw new Error("boom") }, throwingText(text) { throw new Error(text) } })';
  const { throwing, throwingText } = runInThisContext(code, 'file:///lazy.js') as {
    throwing: () => never;
    throwingText: (text: string) => never;
  };
  const profileOf = (points: Hostile): Profile => {
    errors.length = 0;
    return profileWith(logger, points);
  };
  const lineFor = (point: string): unknown => [
    'plugin threw an error, which is logged once per extension point',
    {
      plugin: 'Hostile',
      point,
      error: 'boom',
      stack: expect.stringMatching(/^at .*throwing \(file:\/\/\/lazy\.js:1:\d+\)$/) as unknown,
    },
  ];

  it('is logged with the file and line, once per extension point', async () => {
    const points = {
      filter: throwing,
      reserve: throwing,
      sign: throwing,
      postBind: throwing,
      preBind: async () => Promise.resolve().then(throwing),
    };
    const profile = profileOf(points);
    const signal = new AbortController().signal;
    for (const name of ['a', 'b']) {
      const each = build.projectedPod({ name });
      const state = new CycleState();
      profile.filter(profile.localFilters, state, each, build.nodeInfo({ name: 'node' }));
      profile.reserve(state, each, build.nodeInfo({ name: 'node' }));
      expect(() => profile.signaturesOf(each)).toThrow('Hostile failed in Sign: boom');
      await profile.preBind(state, each, 'node', signal);
      profile.postBind(state, each, 'node');
    }
    expect(errors).toEqual(['Filter', 'Reserve', 'Sign', 'PreBind', 'PostBind'].map(lineFor));
  });

  it.each(['file:///forged.js', new URL('profile.ts', import.meta.url).href])(
    'is logged without lines of its message that look like calls: %s',
    (file) => {
      const profile = profileOf({ filter: () => throwingText(`value\n    at forged (${file}:1:1)`) });
      profile.filter(profile.localFilters, new CycleState(), pod, build.nodeInfo({ name: 'node' }));
      const stack = expect.stringMatching(/^at [^,]*throwingText \(file:\/\/\/lazy\.js:1:\d+\)$/) as unknown;
      expect(errors).toMatchObject([[expect.any(String), { point: 'Filter', stack }]]);
    },
  );

  it('is not logged if it is an invalid result or has no readable stack, for which the verdict has all there is', () => {
    const withStack = (stack: PropertyDescriptor): Error => Object.defineProperty(new Error('x'), 'stack', stack);
    const unreadable = withStack({ get: throwing });
    const lines = { filter: () => lines, findIndex: () => -1, slice: () => lines, map: () => lines, length: 1 };
    const noText = withStack({ value: { split: () => lines } });
    for (const filter of [() => 7, () => thrown('text'), () => thrown(unreadable), () => thrown(noText)]) {
      const profile = profileOf({ filter });
      const status = profile.filter(profile.localFilters, new CycleState(), pod, build.nodeInfo({ name: 'node' }));
      expect(status?.message).toContain('Hostile failed in Filter: ');
      expect(errors).toEqual([]);
    }
  });
});

describe('a failure at a point that fails no pod', () => {
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
    return profileWith(logger, points);
  };

  it.each([
    ['throws', () => thrown(new Error('late'))],
    ['rejects', () => Promise.reject(new Error('late'))],
  ])('logs a PostBind or Unreserve that %s', async (_how, run) => {
    const profile = profileOf({ postBind: run, unreserve: run });
    profile.postBind(new CycleState(), pod, 'node');
    profile.unreserve(new CycleState(), pod, 'node');
    await Promise.resolve();
    expect(lines).toEqual(['plugin failed Hostile PostBind late', 'plugin failed Hostile Unreserve late']);
  });

  it.each([
    ['throws', () => thrown(new Error('no'))],
    ['returns NaN', () => NaN],
    ['returns a string', () => 'first'],
  ])('falls back to ready time if QueueSort %s', (_how, compare) => {
    const key = { priority: 0, readySince: 1, uid: 'a', incomplete: false };
    const profile = profileOf({ compare });
    expect(profile.compare(key, { ...key, readySince: 2 })).toBeLessThan(0);
    expect(profile.compare(key, { ...key, uid: 'b' })).toBeLessThan(0);
    expect(profile.compare(key, key)).toBe(0);
  });

  it('logs a timer callback that throws', () => {
    lines.length = 0;
    const clock = new VirtualClock();
    new PluginClock(clock, logger).setTimer(10, () => thrown(new Error('late')));
    clock.advance(10);
    expect(lines).toEqual(['plugin timer failed']);
  });

  it.each<[string, unknown, string]>([
    ['throws', () => thrown(new Error('no disk')), 'could not be created: no disk'],
    [
      'returns undefined',
      () => undefined,
      'could not be created: its factory must return an object with a name and extension points, not undefined',
    ],
    [
      'is async',
      async () => asPlugin({}),
      'could not be created: its factory must return an object with a name and extension points, not a Promise',
    ],
    [
      'returns a plugin with another name',
      () => ({ name: 'Other' }),
      'has the name "Other": its factory must return a plugin named Hostile',
    ],
    [
      'returns a point that is not a function',
      () => ({ name: 'Hostile', filter: true }),
      'has a filter that is not a function but true',
    ],
  ])('rejects the profile if a factory %s', (_how, factory, message) => {
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
    ['returns an object', () => ({}), 'must return a list of { resource, actions, hint? }; hint must be a function'],
    [
      'returns a hint that is not a function',
      () => [{ resource: 'Node', actions: ['Add'], hint: true }],
      'must return a list',
    ],
  ])('rejects the profile if eventsToRegister %s', (_how, eventsToRegister, message) => {
    expect(() => new EventHints(profileOf({ eventsToRegister }))).toThrow(
      `profile mine: eventsToRegister of plugin Hostile ${message}`,
    );
  });
});

function thrown(value: unknown): never {
  throw value;
}
