import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import type { SchedulingEntity } from '../framework/scheduling-entity.ts';
import type { ClusterEvent } from '../framework/cluster-event.ts';
import type { Plugin, PluginFactory } from '../framework/plugin.ts';
import type { PluginHandle } from '../framework/plugin-handle.ts';
import type { EnabledPlugin } from '../framework/profile.ts';
import { Status } from '../framework/status.ts';
import { defaultPlugins } from '../plugins/registry.ts';
import { Profiles } from './profiles.ts';
import type { CoreHarnessOptions } from '../testkit/core-harness.ts';
import { Queueing } from '../testkit/queueing.ts';
import { Scheduling } from '../testkit/scheduling.ts';

const no = new Status('Unschedulable', 'no');

/** Profiles `ml` and `web` with all default plugins. Each also has the test plugin with its name. */
function mlAndWeb(
  extra: NonNullable<CoreHarnessOptions['extra']>,
  without: Readonly<Record<string, readonly string[]>> = {},
): CoreHarnessOptions {
  const has =
    (profile: string, other: string) =>
    ({ name }: EnabledPlugin): boolean =>
      name !== other && without[profile]?.includes(name) !== true;
  return { plugins: defaultPlugins, extra, profiles: { ml: has('ml', 'web'), web: has('web', 'ml') } };
}

describe('a pod', () => {
  it('passes PreEnqueue of its own profile', () => {
    const calls: string[] = [];
    const gate = (name: string): Plugin => ({
      name,
      preEnqueue: (schedulingEntity) => {
        if (schedulingEntity.kind === 'pod') calls.push(`${name} of ${schedulingEntity.pod.name}`);
        return name === 'web' ? no : undefined;
      },
    });
    const q = new Queueing(mlAndWeb([gate('ml'), gate('web')]));
    q.pod({ name: 'x', schedulerName: 'ml' });
    q.pod({ name: 'y', schedulerName: 'web' });
    expect(calls).toEqual(['ml of x', 'web of y']);
    expect(q.states()).toEqual({ 'pod/x': 'active', 'pod/y': 'gated' });
  });

  it('passes the plugins of its own profile in an attempt', async () => {
    const calls = new Set<string>();
    const filtering = (name: string): Plugin => ({
      name,
      sign: () => '',
      filter: (_state, pod, node) => {
        calls.add(`${name} of ${pod.name}`);
        return node.name === name ? undefined : no;
      },
    });
    const core = new Scheduling(mlAndWeb([filtering('ml'), filtering('web')]));
    for (const name of ['ml', 'web']) core.node({ name });
    core.pod({ name: 'x', schedulerName: 'ml' });
    core.pod({ name: 'y', schedulerName: 'web' });
    while ((await core.attempt()) !== undefined);
    expect([...calls]).toEqual(['ml of x', 'web of y']);
    expect(core.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`)).toEqual(['x ml', 'y web']);
  });

  it('of another scheduler is passed to no plugin', () => {
    const q = new Queueing(mlAndWeb([{ name: 'ml', preEnqueue: () => expect.fail('called') }]));
    q.pod({ name: 'x', schedulerName: 'default-scheduler' });
    expect(q.states()).toEqual({});
  });

  it('is dry-run in the profile of the plugin that requests it, whose name the plugin knows', () => {
    const handles: PluginHandle[] = [];
    const factory: PluginFactory = (_args, handle) => {
      handles.push(handle);
      const filter = (): Status | undefined => (handle.schedulerName === 'web' ? no : undefined);
      return { name: 'Own', sign: () => '', filter };
    };
    const { core } = new Queueing({
      plugins: [...defaultPlugins, { name: 'Own', factory }],
      profiles: { ml: () => true, web: () => true },
    }).harness;
    core.handlers.nodes.onAdd(new Builders({ resources: core.cluster.resources }).projectedNode({ name: 'a' }));
    const pod = new Builders({ resources: core.cluster.resources }).projectedPod({ schedulerName: 'ml' });
    core.handlers.pods.onAdd(pod);
    expect(handles.map(({ schedulerName }) => schedulerName)).toEqual(['ml', 'web']);
    expect(handles.map((handle) => handle.dryRun({ kind: 'pod', pod }).fits)).toEqual([true, false]);
    // The core's own dry run uses the pod's profile.
    expect(core.dryRun({ kind: 'pod', pod }).fits).toBe(true);
  });
});

describe('an event', () => {
  /** Registers deletions of unscheduled pods, which no default plugin does, and records the pods passed to its hint. */
  const listener = (name: string, hints: string[]): Plugin => ({
    name,
    eventsToRegister: () => [
      {
        resource: 'UnscheduledPod',
        actions: ['Delete'],
        hint: (pod) => {
          hints.push(`${name} about ${pod.name}`);
          return true;
        },
      },
    ],
  });

  const deletion = (q: Queueing): void => {
    q.pod({ name: 'other', schedulerName: 'other' });
    q.removePod('other');
  };

  /** Pod x of profile ml and pod y of profile web, both rejected by these plugins. */
  function bothRejected(options: CoreHarnessOptions, ...plugins: string[]): Queueing {
    const q = new Queueing(options);
    q.pod({ name: 'x', schedulerName: 'ml' });
    q.pod({ name: 'y', schedulerName: 'web' });
    q.rejectNext(...plugins);
    q.rejectNext(...plugins);
    q.harness.clock.advance(20_000);
    return q;
  }

  it('wakes pods if a plugin of only one profile registered it, whichever that is', () => {
    for (const name of ['ml', 'web']) {
      const q = bothRejected(mlAndWeb([listener(name, [])]), name);
      deletion(q);
      expect(q.states()).toEqual({
        'pod/x': name === 'ml' ? 'active' : 'unschedulable',
        'pod/y': name === 'web' ? 'active' : 'unschedulable',
      });
    }
  });

  it('is ignored if no plugin registered it', () => {
    const q = bothRejected(mlAndWeb([]), 'NodeResourcesFit');
    const { pod } = q.queue.get('pod/x')!.schedulingEntity as Extract<SchedulingEntity, { kind: 'pod' }>;
    const gone: ClusterEvent = { resource: 'UnscheduledPod', action: 'Delete', pod };
    expect(q.harness.core.profiles.ignores(gone)).toBe(true);
    expect(q.harness.core.profiles.ignores({ ...gone, resource: 'AssignedPod' })).toBe(false);
    deletion(q);
    expect(q.states()).toEqual({ 'pod/x': 'unschedulable', 'pod/y': 'unschedulable' });
  });

  it('is passed to the hints of the pod’s own profile only', () => {
    const hints: string[] = [];
    const q = bothRejected(mlAndWeb([listener('ml', hints), listener('web', hints)]), 'ml', 'web');
    deletion(q);
    expect(hints).toEqual(['ml about x', 'web about y']);
  });

  it('is passed to the hints of a gang’s own profile, too', () => {
    const hints: string[] = [];
    const q = new Queueing(mlAndWeb([listener('ml', hints), listener('web', hints)]));
    q.group({ name: 'red', minMember: 2 });
    q.members(2, { group: 'red', schedulerName: 'web' });
    q.rejectNext('ml', 'web');
    deletion(q);
    expect(new Set(hints)).toEqual(new Set(['web about red-0', 'web about red-1']));
  });
});

describe('group members', () => {
  const withoutGroupsInWeb = mlAndWeb([], { web: ['Coscheduling'] });

  it('are a gang if their profile has Coscheduling, otherwise single pods', () => {
    const q = new Queueing(withoutGroupsInWeb);
    q.group({ name: 'red', minMember: 2 });
    q.members(2, { group: 'red', schedulerName: 'ml' });
    q.group({ name: 'blue', minMember: 2 });
    q.members(2, { group: 'blue', schedulerName: 'web' });
    expect(q.states()).toEqual({
      'gang/default/red': 'active',
      'pod/blue-0': 'active',
      'pod/blue-1': 'active',
    });
  });

  it('as single pods need neither their PodGroup nor each other', async () => {
    const core = new Scheduling(withoutGroupsInWeb);
    core.node({ name: 'a', cpu: 1 });
    core.members(2, { group: 'blue', schedulerName: 'web', cpu: 1 });
    expect([await core.attempt(), await core.attempt()]).toEqual(['planned', 'rejected']);
    expect(core.binds.map(({ binding }) => [binding.name, binding.annotations])).toEqual([['blue-0', {}]]);
  });

  it('of a profile with Coscheduling wait if a sibling names another profile; single pods do not wait', () => {
    const q = new Queueing(withoutGroupsInWeb);
    q.group({ name: 'red', minMember: 2 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'ml' });
    q.pod({ name: 'y', group: 'red', schedulerName: 'web' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated', 'pod/y': 'active' });
    expect(q.queue.get('gang/default/red')!.state).toMatchObject({
      status: {
        message:
          'members of PodGroup default/red name different schedulers (ml, web); ' +
          'set the same spec.schedulerName for all of them',
      },
    });
  });

  it('count if they are bound, whichever scheduler bound them', () => {
    const q = new Queueing(withoutGroupsInWeb);
    q.group({ name: 'red', minMember: 2 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'ml' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.pod({ name: 'y', group: 'red', schedulerName: 'web', nodeName: 'a' });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });

  it('of two profiles are gated with a reason until they agree', () => {
    const q = new Queueing(mlAndWeb([]));
    q.group({ name: 'red', minMember: 2 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'web' });
    q.pod({ name: 'y', group: 'red', schedulerName: 'ml' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    expect(q.queue.get('gang/default/red')!.state).toMatchObject({
      status: {
        plugin: 'Coscheduling',
        message:
          'members of PodGroup default/red name different schedulers (web, ml); ' +
          'set the same spec.schedulerName for all of them',
      },
    });
    q.removePod('y');
    q.pod({ name: 'z', group: 'red', schedulerName: 'web' });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });

  it('of two profiles all get the verdict', () => {
    const q = new Queueing(mlAndWeb([]));
    q.group({ name: 'red', minMember: 2 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'web' });
    q.pod({ name: 'y', group: 'red', schedulerName: 'ml' });
    q.pod({ name: 'z', group: 'red', schedulerName: 'other' });
    q.harness.clock.advance(1000);
    expect(q.harness.written.map(({ name, verdict }) => [name, verdict.reason, verdict.message])).toEqual(
      ['x', 'y'].map((name) => [
        name,
        'WaitingForGang',
        'members of PodGroup default/red name different schedulers (web, ml, other); ' +
          'set the same spec.schedulerName for all of them.',
      ]),
    );
  });

  it('that all have scheduling gates wait as a gang of their profile', () => {
    const q = new Queueing(mlAndWeb([]));
    q.group({ name: 'red', minMember: 1 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'web', gates: ['wait'] });
    const { schedulingEntity } = q.queue.get('gang/default/red')!;
    const { profiles } = q.harness.core;
    expect(profiles.of(schedulingEntity).schedulerName).toBe('web');
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
  });

  it('that all have scheduling gates are no gang in a profile without Coscheduling or of another scheduler', () => {
    const q = new Queueing(withoutGroupsInWeb);
    q.pod({ name: 'x', group: 'red', schedulerName: 'web', gates: ['wait'] });
    q.pod({ name: 'y', group: 'blue', schedulerName: 'other', gates: ['wait'] });
    expect(q.states()).toEqual({ 'pod/x': 'gated' });
  });

  it('are scheduled by their profile once their gates are removed', async () => {
    const core = new Scheduling(mlAndWeb([{ name: 'ml', preFilter: () => no }]));
    core.node({ name: 'a' });
    core.group({ name: 'red', minMember: 1 });
    core.pod({ name: 'x', group: 'red', schedulerName: 'web', gates: ['wait'] });
    expect(await core.attempt()).toBeUndefined();
    core.change('x', { schedulingGates: [] });
    expect(await core.attempt()).toBe('planned');
  });
});

describe('the profiles of a scheduler', () => {
  const binds: Plugin = { name: 'Binds', bind: () => Promise.resolve(undefined) };
  const byName: Plugin = { name: 'ByName', compare: (a, b) => (a.uid < b.uid ? -1 : 1) };
  const byTime: Plugin = { name: 'ByTime', compare: (a, b) => a.readySince - b.readySince };
  const registry = new Map<string, PluginFactory>([binds, byName, byTime].map((plugin) => [plugin.name, () => plugin]));

  function profilesOf(...configurations: readonly ProfileConfiguration[]): Profiles {
    const handle = pluginHandle(new Builders());
    return new Profiles({
      configurations,
      registry,
      handle: (_profile, schedulerName) => ({ ...handle, schedulerName }),
    });
  }

  const configuration = (schedulerName: string, ...sorts: readonly EnabledPlugin[]): ProfileConfiguration => ({
    schedulerName,
    plugins: [...sorts, { name: 'Binds' }],
  });

  it('are found by name, in order', () => {
    const profiles = profilesOf(configuration('web', { name: 'ByName' }), configuration('ml', { name: 'ByName' }));
    expect(profiles.schedulerNames).toEqual(['web', 'ml']);
    expect(profiles.first.schedulerName).toBe('web');
    expect(['web', 'ml', 'other'].map((name) => profiles.isOurs(name))).toEqual([true, true, false]);
  });

  it('must use the same QueueSort plugin', () => {
    expect(() => profilesOf(configuration('web', { name: 'ByName' }), configuration('ml', { name: 'ByTime' }))).toThrow(
      'profile ml: it uses the QueueSort plugin ByTime, but profile web uses ByName: ' +
        'all profiles share one queue, so they must enable the same QueueSort plugin with the same arguments',
    );
  });

  it('must give that plugin the same arguments', () => {
    const sorting = (schedulerName: string, args: unknown): ProfileConfiguration =>
      configuration(schedulerName, { name: 'ByName', args });
    const same = { by: { name: ['a', 'b'] } };
    expect(profilesOf(sorting('web', same), sorting('ml', structuredClone(same))).all).toHaveLength(2);
    expect(() => profilesOf(sorting('web', same), sorting('ml', { by: { name: ['b', 'a'] } }))).toThrow(
      'profile ml: it uses the QueueSort plugin ByName with different arguments, but profile web uses ByName: ' +
        'all profiles share one queue, so they must enable the same QueueSort plugin with the same arguments',
    );
  });

  it('read Jobs only if one has reservations', () => {
    const reservations = { reserveAfterMs: 1, drainAfterMs: 2, overrunPenaltyMs: 3, poolLabel: 'pool' };
    const off = profilesOf(configuration('web', { name: 'ByName' }));
    expect([off.hasReservations, off.poolLabel, [...off.reads]]).toEqual([false, undefined, []]);
    const web = configuration('web', { name: 'ByName' });
    const on = profilesOf(web, { ...configuration('ml', { name: 'ByName' }), reservations });
    expect([on.hasReservations, on.poolLabel, [...on.reads]]).toEqual([true, 'pool', ['Job']]);
    expect(on.all.map((profile) => on.reservationsOf(profile))).toEqual([undefined, reservations]);
  });

  it('must have the same pools if they have reservations', () => {
    const reserving = (schedulerName: string, poolLabel?: string): ProfileConfiguration => ({
      ...configuration(schedulerName, { name: 'ByName' }),
      reservations: {
        reserveAfterMs: 1,
        drainAfterMs: 2,
        overrunPenaltyMs: 3,
        ...(poolLabel !== undefined && { poolLabel }),
      },
    });
    expect(profilesOf(reserving('web', 'a'), reserving('ml', 'a')).poolLabel).toBe('a');
    expect(() => profilesOf(reserving('web', 'a'), reserving('ml'))).toThrow(
      'profile ml: its reservations have the pool label (none), but those of profile web have a: ' +
        'profiles share the nodes, so all that enable reservations must name the same pool label',
    );
  });

  it('use that plugin to sort the queue', () => {
    const profiles = profilesOf(configuration('web', { name: 'ByTime' }), configuration('ml', { name: 'ByTime' }));
    const key = { priority: 0, uid: '', incomplete: false };
    expect(profiles.compare({ ...key, readySince: 1 }, { ...key, readySince: 3 })).toBe(-2);
  });

  it.each<[string, readonly ProfileConfiguration[], string]>([
    [
      'two with the same name',
      [configuration('web', { name: 'ByName' }), configuration('web', { name: 'ByName' })],
      'two profiles have the schedulerName web',
    ],
    ['none', [], 'no profile is configured: at least one is required'],
    [
      'one without QueueSort',
      [configuration('web', { name: 'ByName' }), configuration('ml')],
      'profile ml: exactly one QueueSort plugin must be enabled (got none)',
    ],
    [
      'one with two QueueSort plugins',
      [configuration('ml', { name: 'ByName' }, { name: 'ByTime' })],
      'profile ml: exactly one QueueSort plugin must be enabled (got ByName, ByTime)',
    ],
  ])('must not be %s', (_case, configurations, message) => {
    expect(() => profilesOf(...configurations)).toThrow(expect.objectContaining({ name: 'ProfileError', message }));
  });
});
