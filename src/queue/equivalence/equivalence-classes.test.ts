import { beforeEach, describe, expect, it } from 'vitest';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import type { EquivalenceClass } from './equivalence-class.ts';
import { EquivalenceClasses } from './equivalence-classes.ts';
import type { QueuedEntity } from '../queued-entity.ts';
import { failedEntity } from '../testing/failed-entity.ts';

/** The label that the plugin reads: pods with equal values have equal signatures. */
let readLabel: string;
/** Names of the pods for which the hint ran. */
let hinted: string[];
const reader: Plugin = {
  name: 'Reader',
  sign: ({ labels }) => labels[readLabel] ?? '',
  filter: () => undefined,
  eventsToRegister: () => [
    {
      resource: 'Node',
      actions: ['Add'],
      hint: ({ name, labels }) => {
        hinted.push(name);
        return labels[readLabel] === 'b';
      },
    },
  ],
};

/** May evict pods of lower priority, so it reads only the priority. */
const preemptor: Plugin = {
  name: 'Preemptor',
  sign: ({ priority }) => `${priority}`,
  postFilter: () => undefined,
  eventsToRegister: () => [
    {
      resource: 'AssignedPod',
      actions: ['Add'],
      hint: ({ name, priority }, event) => {
        hinted.push(name);
        return event.resource === 'AssignedPod' && event.pod.priority < priority;
      },
    },
  ],
};

let harness: CoreHarness;
let classes: EquivalenceClasses;

beforeEach(() => {
  readLabel = 'one';
  hinted = [];
  harness = new CoreHarness({ plugins: defaultPlugins, extra: [reader, preemptor] });
  const { profiles } = harness.core;
  classes = new EquivalenceClasses({ clock: harness.clock, compare: (a, b) => profiles.compare(a, b) });
});

function park(
  name: string,
  labels: Readonly<Record<string, string>>,
  { priority = 0, by = 'Reader' }: { readonly priority?: number; readonly by?: string } = {},
): { entity: QueuedEntity; joined: EquivalenceClass } {
  const entity = failedEntity(harness.build.projectedPod({ name, labels, priority }), { failedAt: 0 });
  entity.rejection = { ...entity.rejection, unschedulablePlugins: new Set([by]) };
  return { entity, joined: classes.add(entity, {}, harness.core.profiles.hints(entity.schedulingEntity)) };
}

function addNode(): ReadonlySet<EquivalenceClass> {
  const node: ClusterEvent = {
    resource: 'Node',
    action: 'Add',
    old: undefined,
    new: harness.build.projectedNode({ name: 'a', cpu: 4 }),
  };
  return classes.helpedBy(node);
}

function leave({ entity }: { readonly entity: QueuedEntity }): void {
  if (entity.state.kind === 'unschedulable') classes.leave(entity, entity.state);
}

describe('a hint of a PostFilter plugin for AssignedPod/Add', () => {
  it('runs once per signature of the plugin, whatever other plugins sign', () => {
    const parked = Array.from({ length: 90 }, (_, i) =>
      park(`p${i}`, { one: `${i}` }, { priority: i % 3, by: 'Preemptor' }),
    );
    const pod = harness.build.projectedPod({ nodeName: 'a', priority: 1 });
    const helped = classes.helpedBy({ resource: 'AssignedPod', action: 'Add', pod });
    expect(hinted).toEqual(['p0', 'p1', 'p2']);
    expect(helped).toEqual(new Set(parked.filter((_, i) => i % 3 === 2).map(({ joined }) => joined)));
  });
});

describe('after a plugin’s signature of a waiting pod changes', () => {
  it('runs no hint for a pod that has left', () => {
    const labels = { one: 'a', two: 'b' };
    const gone = [park('gone-0', labels), park('gone-1', labels)];
    readLabel = 'two';
    for (const each of gone) leave(each);
    expect(addNode()).toEqual(new Set());
    expect(hinted).toEqual([]);
  });

  it('does not treat a later pod with the old signature as equal', () => {
    park('first', { one: '', two: 'a' });
    readLabel = 'two';
    const equal = park('equal', { two: '' });
    const different = park('different', { two: 'b' });
    readLabel = 'one';
    // Its signature equals that of the first pod when that one was added.
    const later = park('later', { one: '' });
    readLabel = 'two';
    const { joined } = park('last', { two: 'b' });
    expect(addNode()).toEqual(new Set([different.joined, joined]));
    expect(hinted).toContain('equal');
    for (const each of [equal, later]) leave(each);
    hinted = [];
    addNode();
    expect(hinted.sort()).toEqual(['different', 'first']);
  });
});
