import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import type { Pod } from '../api/pod.ts';
import type { ClusterEvent, EventRegistration } from './cluster-event.ts';
import { EventHints } from './event-hints.ts';
import type { Rejection } from './event-hints.ts';
import type { Plugin } from './plugin.ts';
import { Profile } from './profile.ts';

const build = new Builders();
const nodeAdded: ClusterEvent = { resource: 'Node', action: 'Add', old: undefined, new: build.projectedNode() };
const podDeleted: ClusterEvent = { resource: 'AssignedPod', action: 'Delete', pod: build.projectedPod() };
const [a, b] = [build.projectedPod({ name: 'a' }), build.projectedPod({ name: 'b' })];

const turnedAway = (
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

describe('an event may help', () => {
  it('only what a plugin rejected that registered it', () => {
    const hints = hintsOf({ One: [{ resource: 'Node', actions: ['Add'] }], Two: [] });
    expect(hints.retryAfter(nodeAdded, turnedAway(new Set(['One']), [a]))).toBe('afterBackoff');
    expect(hints.retryAfter(nodeAdded, turnedAway(new Set(['Two']), [a]))).toBeUndefined();
    expect(hints.retryAfter(podDeleted, turnedAway(new Set(['One']), [a]))).toBeUndefined();
  });

  it('when one of the plugins says so of one of the pods', () => {
    const hints = hintsOf({
      One: [{ resource: 'Node', actions: ['Add'], hint: (pod) => pod.name === 'b' }],
      Two: [{ resource: 'Node', actions: ['Add'], hint: () => false }],
    });
    const both = new Set(['One', 'Two']);
    expect(hints.retryAfter(nodeAdded, turnedAway(both, [a]))).toBeUndefined();
    expect(hints.retryAfter(nodeAdded, turnedAway(both, [a, b]))).toBe('afterBackoff');
  });

  it('when the hint fails, because nobody knows', () => {
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
    expect(hints.retryAfter(nodeAdded, turnedAway(new Set(['One']), [a]))).toBe('afterBackoff');
  });

  it('for a gang also as a plugin says that speaks for gangs, whoever rejected it', () => {
    const hints = hintsOf({ One: [{ resource: 'Node', actions: ['Add'], concernsGangs: true }] });
    expect(hints.retryAfter(nodeAdded, turnedAway(new Set(['Two']), [a], true))).toBe('afterBackoff');
    expect(hints.retryAfter(nodeAdded, turnedAway(new Set(['Two']), [a]))).toBeUndefined();
  });

  it('always, when no plugin is named', () => {
    expect(hintsOf({}).retryAfter(podDeleted, turnedAway(new Set(), [a]))).toBe('afterBackoff');
  });

  it('at once, when it comes from a plugin that waited for somebody outside, whoever else may be helped', () => {
    const hints = hintsOf({
      One: [{ resource: 'Node', actions: ['Add'] }],
      Two: [{ resource: 'Node', actions: ['Add'], hint: (pod) => pod.name === 'b' }],
    });
    const both = new Set(['One', 'Two']);
    const waitingFor = (...names: string[]): Rejection => ({ ...turnedAway(both, [a]), pending: new Set(names) });
    expect(hints.retryAfter(nodeAdded, waitingFor('One'))).toBe('atOnce');
    expect(hints.retryAfter(nodeAdded, waitingFor('Two'))).toBe('afterBackoff');
    expect(hints.retryAfter(nodeAdded, { ...waitingFor('Two'), rejectedPods: [b] })).toBe('atOnce');
    expect(hints.retryAfter(podDeleted, waitingFor('One', 'Two'))).toBeUndefined();
  });
});

describe('a gate may be opened by an event', () => {
  const gate: Plugin = { name: 'Gate', preEnqueue: () => undefined };
  const nodes: readonly EventRegistration[] = [{ resource: 'Node', actions: ['Add'] }];
  const hintsWith = (plugin: Plugin): EventHints => {
    const plugins: Plugin[] = [{ name: 'Core', compare: () => 0, bind: () => Promise.resolve(undefined) }, plugin];
    const registry = new Map(plugins.map((each) => [each.name, () => each]));
    return new EventHints(new Profile({ schedulerName: 's', enabled: plugins, registry, handle: pluginHandle(build) }));
  };

  it('of a plugin that wants to hear of some', () => {
    expect(hintsWith({ ...gate, eventsToRegister: () => nodes }).mayUngate('Gate')).toBe(true);
    expect(hintsWith(gate).mayUngate('Gate')).toBe(false);
    expect(hintsWith({ name: 'Gate', eventsToRegister: () => nodes }).mayUngate('Gate')).toBe(false);
  });

  it('but not that of a gang, which goes by the gang alone', () => {
    expect(hintsWith({ ...gate, decidesGangs: true, eventsToRegister: () => nodes }).mayUngate('Gate')).toBe(false);
  });
});
