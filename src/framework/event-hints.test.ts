import { describe, expect, it } from 'vitest';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import type { Pod } from '../api/pod.ts';
import type { ClusterEvent, EventRegistration } from './cluster-event.ts';
import { EventHints } from './event-hints.ts';
import type { TurnedAway } from './event-hints.ts';
import type { Plugin } from './plugin.ts';
import { Profile } from './profile.ts';

const build = new Builders();
const nodeAdded: ClusterEvent = { resource: 'Node', action: 'Add', old: undefined, new: build.projectedNode() };
const podDeleted: ClusterEvent = { resource: 'AssignedPod', action: 'Delete', pod: build.projectedPod() };
const [a, b] = [build.projectedPod({ name: 'a' }), build.projectedPod({ name: 'b' })];

const turnedAway = (refusedBy: ReadonlySet<string>, refusedPods: readonly Pod[], isGang = false): TurnedAway => {
  return { isGang, refusedBy, refusedPods };
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
  it('only what a plugin refused that registered it', () => {
    const hints = hintsOf({ One: [{ resource: 'Node', actions: ['Add'] }], Two: [] });
    expect(hints.mayHelp(nodeAdded, turnedAway(new Set(['One']), [a]))).toBe(true);
    expect(hints.mayHelp(nodeAdded, turnedAway(new Set(['Two']), [a]))).toBe(false);
    expect(hints.mayHelp(podDeleted, turnedAway(new Set(['One']), [a]))).toBe(false);
  });

  it('when one of the plugins says so of one of the pods', () => {
    const hints = hintsOf({
      One: [{ resource: 'Node', actions: ['Add'], hint: (pod) => pod.name === 'b' }],
      Two: [{ resource: 'Node', actions: ['Add'], hint: () => false }],
    });
    const both = new Set(['One', 'Two']);
    expect(hints.mayHelp(nodeAdded, turnedAway(both, [a]))).toBe(false);
    expect(hints.mayHelp(nodeAdded, turnedAway(both, [a, b]))).toBe(true);
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
    expect(hints.mayHelp(nodeAdded, turnedAway(new Set(['One']), [a]))).toBe(true);
  });

  it('for a gang also as a plugin says that speaks for gangs, whoever refused it', () => {
    const hints = hintsOf({ One: [{ resource: 'Node', actions: ['Add'], concernsGangs: true }] });
    expect(hints.mayHelp(nodeAdded, turnedAway(new Set(['Two']), [a], true))).toBe(true);
    expect(hints.mayHelp(nodeAdded, turnedAway(new Set(['Two']), [a]))).toBe(false);
  });

  it('always, when no plugin is named', () => {
    expect(hintsOf({}).mayHelp(podDeleted, turnedAway(new Set(), [a]))).toBe(true);
  });
});
