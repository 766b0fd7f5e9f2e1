import { beforeEach, describe, expect, it } from 'vitest';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import type { EquivalenceClass } from './equivalence-class.ts';
import { EquivalenceClasses } from './equivalence-classes.ts';
import type { QueuedEntity } from '../queued-entity.ts';
import { failedEntity } from '../testing/failed-entity.ts';

/** The label that somebody says something about, as with affinity: pods that differ in no such label are alike. */
let readLabel: string;
/** Names of the pods that the plugin has been asked about. */
let asked: string[];
const reader: Plugin = {
  name: 'Reader',
  sign: ({ labels }) => labels[readLabel] ?? '',
  filter: () => undefined,
  eventsToRegister: () => [
    {
      resource: 'Node',
      actions: ['Add'],
      hint: ({ name, labels }) => {
        asked.push(name);
        return labels[readLabel] === 'b';
      },
    },
  ],
};

let harness: CoreHarness;
let classes: EquivalenceClasses;

beforeEach(() => {
  readLabel = 'one';
  asked = [];
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

function nodeComes(): ReadonlySet<EquivalenceClass> {
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

describe('when what a plugin signs of a pod changes while it waits', () => {
  it('nobody is asked about it when it has gone', () => {
    const labels = { one: 'a', two: 'b' };
    const gone = [park('gone-0', labels), park('gone-1', labels)];
    readLabel = 'two';
    for (const each of gone) leave(each);
    expect(nodeComes()).toEqual(new Set());
    expect(asked).toEqual([]);
  });

  it('one that comes later is not taken to be like it', () => {
    park('first', { one: '', two: 'a' });
    readLabel = 'two';
    const like = park('like', { two: '' });
    const unlike = park('unlike', { two: 'b' });
    readLabel = 'one';
    // To the plugin it is again as the first was when that came.
    const later = park('later', { one: '' });
    readLabel = 'two';
    const { joined } = park('last', { two: 'b' });
    expect(nodeComes()).toEqual(new Set([unlike.joined, joined]));
    expect(asked).toContain('like');
    for (const each of [like, later]) leave(each);
    asked = [];
    nodeComes();
    expect(asked.sort()).toEqual(['first', 'unlike']);
  });
});
