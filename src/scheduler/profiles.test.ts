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

/** Profiles `ml` and `web` with all default plugins; each has the plugin of the test that is named after it. */
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

describe('what a pod is asked', () => {
  it('before it may enter the queue is asked by its own profile', () => {
    const asked: string[] = [];
    const gate = (name: string): Plugin => ({
      name,
      preEnqueue: (schedulingEntity) => {
        if (schedulingEntity.kind === 'pod') asked.push(`${name} of ${schedulingEntity.pod.name}`);
        return name === 'web' ? no : undefined;
      },
    });
    const q = new Queueing(mlAndWeb([gate('ml'), gate('web')]));
    q.pod({ name: 'x', schedulerName: 'ml' });
    q.pod({ name: 'y', schedulerName: 'web' });
    expect(asked).toEqual(['ml of x', 'web of y']);
    expect(q.states()).toEqual({ 'pod/x': 'active', 'pod/y': 'gated' });
  });

  it('in its attempt is asked by its own profile', async () => {
    const asked = new Set<string>();
    const judge = (name: string): Plugin => ({
      name,
      sign: () => '',
      filter: (_state, pod, node) => {
        asked.add(`${name} of ${pod.name}`);
        return node.name === name ? undefined : no;
      },
    });
    const core = new Scheduling(mlAndWeb([judge('ml'), judge('web')]));
    for (const name of ['ml', 'web']) core.node({ name });
    core.pod({ name: 'x', schedulerName: 'ml' });
    core.pod({ name: 'y', schedulerName: 'web' });
    while ((await core.attempt()) !== undefined);
    expect([...asked]).toEqual(['ml of x', 'web of y']);
    expect(core.binds.map(({ binding }) => `${binding.name} ${binding.nodeName}`)).toEqual(['x ml', 'y web']);
  });

  it('is never asked of one that names somebody else’s scheduler', () => {
    const q = new Queueing(mlAndWeb([{ name: 'ml', preEnqueue: () => expect.fail('asked') }]));
    q.pod({ name: 'x', schedulerName: 'default-scheduler' });
    expect(q.states()).toEqual({});
  });

  it('is told to the plugin by the name of its profile, and tries in that profile', () => {
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
    // The core's own trial is the pod's profile's.
    expect(core.dryRun({ kind: 'pod', pod }).fits).toBe(true);
  });
});

describe('an event', () => {
  /** Registers deletions of unscheduled pods, which no default plugin does, and notes whom its hint is asked about. */
  const listener = (name: string, heard: string[]): Plugin => ({
    name,
    eventsToRegister: () => [
      {
        resource: 'UnscheduledPod',
        actions: ['Delete'],
        hint: (pod) => {
          heard.push(`${name} about ${pod.name}`);
          return true;
        },
      },
    ],
  });

  const deletion = (q: Queueing): void => {
    q.pod({ name: 'other', schedulerName: 'somebody' });
    q.removePod('other');
  };

  /** x of profile ml and y of profile web, both turned away by these plugins. */
  function turnedAway(options: CoreHarnessOptions, ...plugins: string[]): Queueing {
    const q = new Queueing(options);
    q.pod({ name: 'x', schedulerName: 'ml' });
    q.pod({ name: 'y', schedulerName: 'web' });
    q.rejectNext(...plugins);
    q.rejectNext(...plugins);
    q.harness.clock.advance(20_000);
    return q;
  }

  it('that a plugin of only one profile registered is not ignored, whichever profile that is', () => {
    for (const name of ['ml', 'web']) {
      const q = turnedAway(mlAndWeb([listener(name, [])]), name);
      deletion(q);
      expect(q.states()).toEqual({
        'pod/x': name === 'ml' ? 'active' : 'unschedulable',
        'pod/y': name === 'web' ? 'active' : 'unschedulable',
      });
    }
  });

  it('that nobody registered is ignored', () => {
    const q = turnedAway(mlAndWeb([]), 'NodeResourcesFit');
    const { pod } = q.queue.get('pod/x')!.schedulingEntity as Extract<SchedulingEntity, { kind: 'pod' }>;
    const gone: ClusterEvent = { resource: 'UnscheduledPod', action: 'Delete', pod };
    expect(q.harness.core.profiles.ignores(gone)).toBe(true);
    expect(q.harness.core.profiles.ignores({ ...gone, resource: 'AssignedPod' })).toBe(false);
    deletion(q);
    expect(q.states()).toEqual({ 'pod/x': 'unschedulable', 'pod/y': 'unschedulable' });
  });

  it('is asked of the hints of the pod’s own profile, never of another’s', () => {
    const heard: string[] = [];
    const q = turnedAway(mlAndWeb([listener('ml', heard), listener('web', heard)]), 'ml', 'web');
    deletion(q);
    expect(heard).toEqual(['ml about x', 'web about y']);
  });

  it('is asked of a gang’s own profile too', () => {
    const heard: string[] = [];
    const q = new Queueing(mlAndWeb([listener('ml', heard), listener('web', heard)]));
    q.group({ name: 'red', minMember: 2 });
    q.members(2, { group: 'red', schedulerName: 'web' });
    q.rejectNext('ml', 'web');
    deletion(q);
    expect(new Set(heard)).toEqual(new Set(['web about red-0', 'web about red-1']));
  });
});

describe('the members of a group', () => {
  const withoutGroupsInWeb = mlAndWeb([], { web: ['Coscheduling'] });

  it('are a gang in a profile that knows groups, and lone pods in one that does not', () => {
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

  it('that are lone pods need neither their PodGroup nor each other', async () => {
    const core = new Scheduling(withoutGroupsInWeb);
    core.node({ name: 'a', cpu: 1 });
    core.members(2, { group: 'blue', schedulerName: 'web', cpu: 1 });
    expect([await core.attempt(), await core.attempt()]).toEqual(['planned', 'rejected']);
    expect(core.binds.map(({ binding }) => [binding.name, binding.annotations])).toEqual([['blue-0', {}]]);
  });

  it('that name a profile that knows groups and one that does not wait, those of the other do not', () => {
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

  it('on nodes count, whoever placed them', () => {
    const q = new Queueing(withoutGroupsInWeb);
    q.group({ name: 'red', minMember: 2 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'ml' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.pod({ name: 'y', group: 'red', schedulerName: 'web', nodeName: 'a' });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });

  it('that name two of our profiles are rejected with the reason, until they agree', () => {
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

  it('that name two of our profiles are all told so', () => {
    const q = new Queueing(mlAndWeb([]));
    q.group({ name: 'red', minMember: 2 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'web' });
    q.pod({ name: 'y', group: 'red', schedulerName: 'ml' });
    q.pod({ name: 'z', group: 'red', schedulerName: 'somebody' });
    q.harness.clock.advance(1000);
    expect(q.harness.written.map(({ name, verdict }) => [name, verdict.reason, verdict.message])).toEqual(
      ['x', 'y'].map((name) => [
        name,
        'WaitingForGang',
        'members of PodGroup default/red name different schedulers (web, ml, somebody); ' +
          'set the same spec.schedulerName for all of them.',
      ]),
    );
  });

  it('that are all behind scheduling gates wait as a group of the profile that they name', () => {
    const q = new Queueing(mlAndWeb([]));
    q.group({ name: 'red', minMember: 1 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'web', gates: ['wait'] });
    const { schedulingEntity } = q.queue.get('gang/default/red')!;
    const { profiles } = q.harness.core;
    expect(profiles.of(schedulingEntity).schedulerName).toBe('web');
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
  });

  it('that are all behind scheduling gates are nobody’s group where groups mean nothing, or others place them', () => {
    const q = new Queueing(withoutGroupsInWeb);
    q.pod({ name: 'x', group: 'red', schedulerName: 'web', gates: ['wait'] });
    q.pod({ name: 'y', group: 'blue', schedulerName: 'somebody', gates: ['wait'] });
    expect(q.states()).toEqual({ 'pod/x': 'gated' });
  });

  it('whose gates open are scheduled by the profile that they name', async () => {
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

  it('are known by their names, the first one first', () => {
    const profiles = profilesOf(configuration('web', { name: 'ByName' }), configuration('ml', { name: 'ByName' }));
    expect(profiles.schedulerNames).toEqual(['web', 'ml']);
    expect(profiles.first.schedulerName).toBe('web');
    expect(['web', 'ml', 'other'].map((name) => profiles.isOurs(name))).toEqual([true, true, false]);
  });

  it('must sort the one queue by one plugin', () => {
    expect(() => profilesOf(configuration('web', { name: 'ByName' }), configuration('ml', { name: 'ByTime' }))).toThrow(
      'profile ml: it sorts the queue by ByTime, profile web by ByName: ' +
        'there is one queue, so all profiles must enable the same QueueSort plugin with the same arguments',
    );
  });

  it('must give that plugin the same arguments', () => {
    const sorting = (schedulerName: string, args: unknown): ProfileConfiguration =>
      configuration(schedulerName, { name: 'ByName', args });
    const same = { by: { name: ['a', 'b'] } };
    expect(profilesOf(sorting('web', same), sorting('ml', structuredClone(same))).all).toHaveLength(2);
    expect(() => profilesOf(sorting('web', same), sorting('ml', { by: { name: ['b', 'a'] } }))).toThrow(
      'profile ml: it sorts the queue by ByName with other arguments, profile web by ByName: ' +
        'there is one queue, so all profiles must enable the same QueueSort plugin with the same arguments',
    );
  });

  it('sort the queue by that plugin', () => {
    const profiles = profilesOf(configuration('web', { name: 'ByTime' }), configuration('ml', { name: 'ByTime' }));
    const key = { priority: 0, uid: '', incomplete: false };
    expect(profiles.compare({ ...key, readySince: 1 }, { ...key, readySince: 3 })).toBe(-2);
  });

  it.each<[string, readonly ProfileConfiguration[], string]>([
    [
      'two of one name',
      [configuration('web', { name: 'ByName' }), configuration('web', { name: 'ByName' })],
      'two profiles are called web',
    ],
    ['none', [], 'there is no profile; at least one is needed'],
    [
      'one that does not sort',
      [configuration('web', { name: 'ByName' }), configuration('ml')],
      'profile ml: exactly one QueueSort plugin must be enabled (got none)',
    ],
    [
      'one that sorts twice',
      [configuration('ml', { name: 'ByName' }, { name: 'ByTime' })],
      'profile ml: exactly one QueueSort plugin must be enabled (got ByName, ByTime)',
    ],
  ])('may not be %s', (_what, configurations, message) => {
    expect(() => profilesOf(...configurations)).toThrow(expect.objectContaining({ name: 'ProfileError', message }));
  });
});
