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

let harness: CoreHarness;
let classes: EquivalenceClasses;

beforeEach(() => {
  readLabel = 'one';
  hinted = [];
  harness = new CoreHarness({ plugins: defaultPlugins, extra: [reader] });
  const { profiles } = harness.core;
  classes = new EquivalenceClasses({ clock: harness.clock, compare: (a, b) => profiles.compare(a, b) });
});

function park(
  name: string,
  labels: Readonly<Record<string, string>>,
): { entity: QueuedEntity; joined: EquivalenceClass } {
  const entity = failedEntity(harness.build.projectedPod({ name, labels }), { failedAt: 0 });
  entity.rejection = { ...entity.rejection, unschedulablePlugins: new Set(['Reader']) };
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
