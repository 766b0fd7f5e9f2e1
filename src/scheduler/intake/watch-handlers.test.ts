import { describe, expect, it } from 'vitest';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Queueing } from '../../testkit/queueing.ts';

const resources = ['Node', 'AssignedPod', 'UnscheduledPod', 'PodGroup'] as const;

/** Records every event as `<resource> <action> <pod>`, through the hint of a rejected pod. */
function listening(): { q: Queueing; recorded: string[]; events: ClusterEvent[] } {
  const recorded: string[] = [];
  const events: ClusterEvent[] = [];
  const listener: Plugin = {
    name: 'Listener',
    eventsToRegister: () =>
      resources.map((resource) => ({
        resource,
        actions: ['Add', 'Update', 'Delete'],
        hint: (_pod, event) => {
          events.push(event);
          recorded.push(`${event.resource} ${event.action}${'pod' in event ? ` ${event.pod.name}` : ''}`);
          return false;
        },
      })),
  };
  const q = new Queueing({ plugins: defaultPlugins, extra: [listener] });
  q.node({ name: 'a' });
  q.node({ name: 'b' });
  q.pod({ name: 'listener' });
  q.rejectNext('Listener');
  return { q, recorded, events };
}

describe('a node change', () => {
  it('reaches the cache, then the queue', () => {
    const { q, recorded } = listening();
    q.node({ name: 'c', cpu: 7 });
    q.node({ name: 'c', cpu: 8 });
    expect(q.harness.cluster.node('c')!.free(0)).toBe(8000);
    q.removeNode('c');
    expect(q.harness.cluster.node('c')).toBeUndefined();
    expect(recorded).toEqual(['Node Add', 'Node Update', 'Node Delete']);
  });
});

describe('a pod change', () => {
  it('is reported as AssignedPod or UnscheduledPod', () => {
    const { q, recorded } = listening();
    q.pod({ name: 'x' });
    q.change('x', { labels: { a: 'b' } });
    q.change('x', { nodeName: 'a' });
    q.change('x', { labels: { a: 'c' } });
    q.change('x', { phase: 'Succeeded' });
    expect(recorded).toEqual([
      'UnscheduledPod Add x',
      'UnscheduledPod Update x',
      'AssignedPod Add x',
      'AssignedPod Update x',
      'AssignedPod Delete x',
    ]);
  });

  it('that deletes the pod reports whether capacity was freed', () => {
    const { q, recorded } = listening();
    q.pod({ name: 'x' });
    q.pod({ name: 'y', nodeName: 'a' });
    q.pod({ name: 'z' });
    q.assume('a', 'z');
    recorded.length = 0;
    for (const name of ['x', 'y', 'z']) q.removePod(name);
    expect(recorded).toEqual(['UnscheduledPod Delete x', 'AssignedPod Delete y', 'AssignedPod Delete z']);
    expect(q.harness.cluster.podCount).toBe(1);
  });

  it('that deletes the pod cleans up the group that the cache has for it, even if its last state names another one', () => {
    const q = new Queueing({ plugins: defaultPlugins });
    const pod = q.pod({ name: 'x', group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.harness.core.handlers.pods.onDelete({ ...pod, podGroupKey: 'default/blue' }, false);
    expect([q.states(), q.harness.cluster.gang('default/red')]).toEqual([{}, undefined]);
  });

  it('that confirms an assumed pod frees nothing', () => {
    const { q, recorded } = listening();
    q.pod({ name: 'x' });
    q.assume('a', 'x');
    q.change('x', { nodeName: 'a' });
    expect(recorded).toEqual(['UnscheduledPod Add x', 'AssignedPod Add x']);
    expect(q.harness.cluster.assumedCount).toBe(0);
  });

  it('that binds the pod to another node frees the assumed capacity', () => {
    const { q, recorded, events } = listening();
    q.pod({ name: 'x', cpu: 1 });
    q.assume('a', 'x');
    recorded.length = 0;
    q.change('x', { nodeName: 'b' });
    expect(recorded).toEqual(['AssignedPod Delete x', 'AssignedPod Add x']);
    expect(events.at(-2)).toMatchObject({ pod: { nodeName: 'a' } });
    expect(q.harness.cluster.node('a')!.free(0)).toBe(4000);
  });

  it('that ends an assumed pod frees its capacity', () => {
    const { q, recorded } = listening();
    q.pod({ name: 'x' });
    q.assume('a', 'x');
    q.change('x', { phase: 'Failed' });
    expect(recorded.at(-1)).toBe('AssignedPod Delete x');
  });

  it('that is only a nomination by this scheduler is no event, and reserves nothing', () => {
    const { q, recorded } = listening();
    q.pod({ name: 'x' });
    const { cluster } = q.harness;
    cluster.ownNominations.add('x', 'a');
    q.change('x', { nominatedNodeName: 'a', resourceVersion: '1001' });
    expect([cluster.pod('x')!.nominatedNodeName, cluster.reservationOf('x')]).toEqual(['a', undefined]);
    q.change('x', { nominatedNodeName: '', resourceVersion: '1002' });
    expect(recorded).toEqual(['UnscheduledPod Add x']);
    q.change('x', { nominatedNodeName: 'b', resourceVersion: '1003' });
    expect(recorded).toEqual(['UnscheduledPod Add x', 'UnscheduledPod Update x']);
    expect(cluster.reservationOf('x')?.nodeName).toBe('b');
  });

  it('that removes the nomination frees the reserved capacity', () => {
    const { q, recorded } = listening();
    q.pod({ name: 'x', nominatedNodeName: 'a' });
    recorded.length = 0;
    q.change('x', { nominatedNodeName: '' });
    expect(recorded).toContain('AssignedPod Delete x');
  });
});

describe('a change that scheduling does not read', () => {
  it.each<[string, (q: Queueing) => void]>([
    ['a heartbeat of a node', (q) => q.node({ name: 'a', resourceVersion: '99' })],
    [
      'our own verdict on a pod',
      (q) => q.change('x', { resourceVersion: '99', podScheduled: { status: 'False', reason: 'r', message: 'm' } }),
    ],
    [
      'our own predicted start on a pod',
      (q) => q.change('x', { resourceVersion: '99', predictedStart: { at: 0, confidence: 'Declared' } }),
    ],
    ['a pod that begins to run', (q) => q.change('y', { resourceVersion: '99', phase: 'Running' })],
    ['the status of a PodGroup', (q) => q.group({ name: 'red', minMember: 2, resourceVersion: '99' })],
  ])('wakes nothing and leaves the nodes unchanged: %s', (_change, apply) => {
    const { q, recorded } = listening();
    q.node({ name: 'a' });
    q.pod({ name: 'x' });
    q.pod({ name: 'y', nodeName: 'a' });
    q.group({ name: 'red', minMember: 2 });
    const { generation } = q.harness.cluster;
    recorded.length = 0;
    apply(q);
    expect([recorded, q.harness.cluster.generation - generation]).toEqual([[], 0]);
  });

  it('reaches the cache but wakes nothing if it is a new image on a node', () => {
    const { q, recorded } = listening();
    q.node({ name: 'a' });
    const { generation, nodesRevision } = q.harness.cluster;
    recorded.length = 0;
    q.node({ name: 'a', images: { 'app:1': 5 } });
    expect(q.harness.cluster.images.image('app:1')).toMatchObject({ size: 5, nodes: 1 });
    expect(q.harness.cluster.node('a')!.generation).toBeGreaterThan(generation);
    expect([recorded, q.harness.cluster.nodesRevision]).toEqual([[], nodesRevision]);
    q.removeNode('a');
    expect(q.harness.cluster.images.image('app:1')).toBeUndefined();
  });

  it('still updates the resourceVersion for later writes', () => {
    const { q } = listening();
    q.pod({ name: 'x' });
    q.change('x', { resourceVersion: '99' });
    expect(q.harness.cluster.pod('x')!.resourceVersion).toBe('99');
  });
});

describe('a PodGroup change', () => {
  it('reaches the cache, then the queue', () => {
    const { q, recorded } = listening();
    q.pod({ name: 'red-0', group: 'red' });
    recorded.length = 0;
    q.group({ name: 'red', minMember: 2 });
    q.group({ name: 'red', minMember: 1 });
    expect(q.harness.cluster.gang('default/red')!.spec!.minMember).toBe(1);
    q.removeGroup('default/red');
    expect(recorded).toEqual(['PodGroup Add', 'PodGroup Update', 'PodGroup Delete']);
  });
});

describe('a change before the cache has synced', () => {
  it('only reaches the cache', () => {
    const q = new Queueing({ plugins: defaultPlugins }, 'listing');
    q.node({ name: 'a' });
    q.pod({ name: 'x' });
    q.pod({ name: 'y' });
    q.removePod('y');
    q.group({ name: 'red', minMember: 1 });
    q.removeGroup('default/red');
    expect(q.states()).toEqual({});
    q.start();
    expect(q.states()).toEqual({ 'pod/x': 'active' });
  });
});

describe('a pod waiting on Permit', () => {
  it.each([
    ['deleted', (q: Queueing) => q.removePod('x')],
    ['bound elsewhere', (q: Queueing) => q.change('x', { nodeName: 'b' })],
  ])('is rejected when it is %s', (_change, apply) => {
    const q = new Queueing({ plugins: defaultPlugins, extra: [{ name: 'Gate', permit: () => ({ waitMs: 60_000 }) }] });
    q.node({ name: 'a' });
    q.pod({ name: 'x' });
    expect(q.harness.core.attempt()?.kind).toBe('planned');
    const [waiting] = q.harness.waitingPods.all();
    apply(q);
    expect(waiting!.settled?.status?.message).toBe('the pod was deleted or bound elsewhere');
  });
});

describe('a later list of the pods', () => {
  it('ends the life of a group only when it is complete, and routes the group by the result', () => {
    const q = new Queueing({ plugins: defaultPlugins });
    q.node({ name: 'a' });
    q.group({ name: 'red', minMember: 2 });
    const [first, second, third] = q.members(3, { group: 'red', cpu: 1 });
    for (const pod of [first!, second!]) q.show({ ...pod, nodeName: 'a' });
    const states: boolean[] = [];
    const note = (): void => void states.push(q.harness.cluster.gang('default/red')!.started);
    const { pods } = q.harness.core.handlers;
    pods.onListing!();
    for (const { uid } of [first!, second!]) q.removePod(uid);
    note();
    q.show({ ...third!, nodeName: 'a' });
    pods.onReplaced!();
    note();
    expect(states).toEqual([true, false]);
    q.pod({ name: 'red-3', group: 'red', cpu: 1 });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });
});
