import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import type { Pod } from '../api/pod.ts';
import type { ClusterEvent, EventRegistration } from './cluster-event.ts';
import { EventHints } from './event-hints.ts';
import type { Rejection } from './event-hints.ts';
import type { Plugin } from './plugin.ts';
import { Profile } from './profile.ts';
import { resourceDemandOf } from './resource-demand.ts';

const build = new Builders();
const nodeAdded: ClusterEvent = { resource: 'Node', action: 'Add', old: undefined, new: build.projectedNode() };
const podDeleted: ClusterEvent = { resource: 'AssignedPod', action: 'Delete', pod: build.projectedPod() };
const [a, b] = [build.projectedPod({ name: 'a' }), build.projectedPod({ name: 'b' })];

const rejectionBy = (
  unschedulablePlugins: ReadonlySet<string>,
  rejectedPods: readonly Pod[],
  isGang = false,
): Rejection => {
  return { isGang, unschedulablePlugins, pending: new Set(), rejectedPods };
};

function hintsOf(registrations: Record<string, readonly EventRegistration[]>): EventHints {
  const plugins: Plugin[] = [
    { name: 'Core', compare: () => 0, bind: () => Promise.resolve(undefined) },
    ...Object.entries(registrations).map(([name, events]) => ({ name, eventsToRegister: () => events })),
  ];
  const registry = new Map(plugins.map((plugin) => [plugin.name, () => plugin]));
  return new EventHints(new Profile({ schedulerName: 's', enabled: plugins, registry, handle: pluginHandle(build) }));
}

describe('EventHints.retryAfter()', () => {
  it('returns a retry only if a plugin that rejected the entity registered the event', () => {
    const hints = hintsOf({ One: [{ resource: 'Node', actions: ['Add'] }], Two: [] });
    expect(hints.retryAfter(nodeAdded, rejectionBy(new Set(['One']), [a]))).toBe('afterBackoff');
    expect(hints.retryAfter(nodeAdded, rejectionBy(new Set(['Two']), [a]))).toBeUndefined();
    expect(hints.retryAfter(podDeleted, rejectionBy(new Set(['One']), [a]))).toBeUndefined();
  });

  it('returns a retry if one hint returns true for one of the pods', () => {
    const hints = hintsOf({
      One: [{ resource: 'Node', actions: ['Add'], hint: (pod) => pod.name === 'b' }],
      Two: [{ resource: 'Node', actions: ['Add'], hint: () => false }],
    });
    const both = new Set(['One', 'Two']);
    expect(hints.retryAfter(nodeAdded, rejectionBy(both, [a]))).toBeUndefined();
    expect(hints.retryAfter(nodeAdded, rejectionBy(both, [a, b]))).toBe('afterBackoff');
  });

  it('returns a retry if the hint throws', () => {
    const hints = hintsOf({
      One: [
        {
          resource: 'Node',
          actions: ['Add'],
          hint: () => {
            throw new Error('a bug');
          },
        },
      ],
    });
    expect(hints.retryAfter(nodeAdded, rejectionBy(new Set(['One']), [a]))).toBe('afterBackoff');
  });

  it('runs hints with concernsGangs for every gang, whichever plugins rejected it', () => {
    const hints = hintsOf({ One: [{ resource: 'Node', actions: ['Add'], concernsGangs: true }] });
    expect(hints.retryAfter(nodeAdded, rejectionBy(new Set(['Two']), [a], true))).toBe('afterBackoff');
    expect(hints.retryAfter(nodeAdded, rejectionBy(new Set(['Two']), [a]))).toBeUndefined();
  });

  it('always returns a retry if no plugin is named', () => {
    expect(hintsOf({}).retryAfter(podDeleted, rejectionBy(new Set(), [a]))).toBe('afterBackoff');
  });

  it('retries at once if a plugin that returned Pending expects the event to help', () => {
    const hints = hintsOf({
      One: [{ resource: 'Node', actions: ['Add'] }],
      Two: [{ resource: 'Node', actions: ['Add'], hint: (pod) => pod.name === 'b' }],
    });
    const both = new Set(['One', 'Two']);
    const pendingOn = (...names: string[]): Rejection => ({ ...rejectionBy(both, [a]), pending: new Set(names) });
    expect(hints.retryAfter(nodeAdded, pendingOn('One'))).toBe('atOnce');
    expect(hints.retryAfter(nodeAdded, pendingOn('Two'))).toBe('afterBackoff');
    expect(hints.retryAfter(nodeAdded, { ...pendingOn('Two'), rejectedPods: [b] })).toBe('atOnce');
    expect(hints.retryAfter(podDeleted, pendingOn('One', 'Two'))).toBeUndefined();
  });
});

describe('EventHints.rulesOut()', () => {
  const filter: Plugin = { name: 'Fit', filter: () => undefined, rulesOut: () => true };
  const rulesOut = (...postFilters: readonly Pick<Plugin, 'rulesOut'>[]): boolean => {
    const plugins: Plugin[] = [
      { name: 'Core', compare: () => 0, bind: () => Promise.resolve(undefined) },
      filter,
      ...postFilters.map((plugin, i) => ({ ...plugin, name: `PostFilter${i}`, postFilter: () => undefined })),
    ];
    const registry = new Map(plugins.map((plugin) => [plugin.name, () => plugin]));
    const profile = new Profile({ schedulerName: 's', enabled: plugins, registry, handle: pluginHandle(build) });
    const rejection = { ...rejectionBy(new Set(['Fit']), [a]), demand: resourceDemandOf([a], 1) };
    return new EventHints(profile).rulesOut(rejection);
  };

  it('is true only if all plugins with PostFilter rule the entity out too', () => {
    const yes = { rulesOut: () => true };
    expect([rulesOut(), rulesOut(yes), rulesOut(yes, yes)]).toEqual([true, true, true]);
    expect([rulesOut({}), rulesOut(yes, {}), rulesOut(yes, { rulesOut: () => false })]).toEqual([false, false, false]);
  });

  it('is false if a plugin with PostFilter fails', () => {
    const broken = (): never => {
      throw new Error('a bug');
    };
    expect(rulesOut({ rulesOut: broken })).toBe(false);
  });

  it('passes the lowest priority of the pods', () => {
    const pods = [5, 3, 8].map((priority) => build.projectedPod({ priority }));
    expect(resourceDemandOf(pods, 2).priority).toBe(3);
  });
});

describe('EventHints.mayUngate()', () => {
  const gate: Plugin = { name: 'Gate', preEnqueue: () => undefined };
  const nodes: readonly EventRegistration[] = [{ resource: 'Node', actions: ['Add'] }];
  const hintsWith = (plugin: Plugin): EventHints => {
    const plugins: Plugin[] = [{ name: 'Core', compare: () => 0, bind: () => Promise.resolve(undefined) }, plugin];
    const registry = new Map(plugins.map((each) => [each.name, () => each]));
    return new EventHints(new Profile({ schedulerName: 's', enabled: plugins, registry, handle: pluginHandle(build) }));
  };

  it('is true for a PreEnqueue plugin that registered events', () => {
    expect(hintsWith({ ...gate, eventsToRegister: () => nodes }).mayUngate('Gate')).toBe(true);
    expect(hintsWith(gate).mayUngate('Gate')).toBe(false);
    expect(hintsWith({ name: 'Gate', eventsToRegister: () => nodes }).mayUngate('Gate')).toBe(false);
  });

  it('is false for the plugin that decides what a gang is', () => {
    expect(hintsWith({ ...gate, decidesGangs: true, eventsToRegister: () => nodes }).mayUngate('Gate')).toBe(false);
  });
});
