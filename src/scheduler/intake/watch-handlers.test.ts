import { describe, expect, it } from 'vitest';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Queueing } from '../../testkit/queueing.ts';

const resources = ['Node', 'AssignedPod', 'UnscheduledPod', 'PodGroup'] as const;

/** Hears every event, as `<resource> <action> <pod>`, by way of one pod that it rejected. */
function listening(): { q: Queueing; heard: string[]; events: ClusterEvent[] } {
  const heard: string[] = [];
  const events: ClusterEvent[] = [];
  const listener: Plugin = {
    name: 'Listener',
    eventsToRegister: () =>
      resources.map((resource) => ({
        resource,
        actions: ['Add', 'Update', 'Delete'],
        hint: (_pod, event) => {
          events.push(event);
          heard.push(`${event.resource} ${event.action}${'pod' in event ? ` ${event.pod.name}` : ''}`);
          return false;
        },
      })),
  };
  const q = new Queueing({ plugins: defaultPlugins, extra: [listener] });
  q.node({ name: 'a' });
  q.node({ name: 'b' });
  q.pod({ name: 'listener' });
  q.rejectNext('Listener');
  return { q, heard, events };
}

describe('a change of a node', () => {
  it('is in the picture, then told to the queue', () => {
    const { q, heard } = listening();
    q.node({ name: 'c', cpu: 7 });
    q.node({ name: 'c', cpu: 8 });
    expect(q.harness.cluster.node('c')!.free(0)).toBe(8000);
    q.removeNode('c');
    expect(q.harness.cluster.node('c')).toBeUndefined();
    expect(heard).toEqual(['Node Add', 'Node Update', 'Node Delete']);
  });
});

describe('a change of a pod', () => {
  it('is told as one of a pod that is on a node or not, as it is', () => {
    const { q, heard } = listening();
    q.pod({ name: 'x' });
    q.change('x', { labels: { a: 'b' } });
    q.change('x', { nodeName: 'a' });
    q.change('x', { labels: { a: 'c' } });
    q.change('x', { phase: 'Succeeded' });
    expect(heard).toEqual([
      'UnscheduledPod Add x',
      'UnscheduledPod Update x',
      'AssignedPod Add x',
      'AssignedPod Update x',
      'AssignedPod Delete x',
    ]);
  });

  it('that deletes it tells whether room became free', () => {
    const { q, heard } = listening();
    q.pod({ name: 'x' });
    q.pod({ name: 'y', nodeName: 'a' });
    q.pod({ name: 'z' });
    q.assume('a', 'z');
    heard.length = 0;
    for (const name of ['x', 'y', 'z']) q.removePod(name);
    expect(heard).toEqual(['UnscheduledPod Delete x', 'AssignedPod Delete y', 'AssignedPod Delete z']);
    expect(q.harness.cluster.podCount).toBe(1);
  });

  it('that deletes it leaves nothing behind in the group that it was in, whatever group its last state names', () => {
    const q = new Queueing({ plugins: defaultPlugins });
    const pod = q.pod({ name: 'x', group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.harness.core.handlers.pods.onDelete({ ...pod, podGroupKey: 'default/blue' }, false);
    expect([q.states(), q.harness.cluster.gang('default/red')]).toEqual([{}, undefined]);
  });

  it('that confirms an assumption frees nothing', () => {
    const { q, heard } = listening();
    q.pod({ name: 'x' });
    q.assume('a', 'x');
    q.change('x', { nodeName: 'a' });
    expect(heard).toEqual(['UnscheduledPod Add x', 'AssignedPod Add x']);
    expect(q.harness.cluster.assumedCount).toBe(0);
  });

  it('that shows it on another node than assumed frees the room that was assumed', () => {
    const { q, heard, events } = listening();
    q.pod({ name: 'x', cpu: 1 });
    q.assume('a', 'x');
    heard.length = 0;
    q.change('x', { nodeName: 'b' });
    expect(heard).toEqual(['AssignedPod Delete x', 'AssignedPod Add x']);
    expect(events.at(-2)).toMatchObject({ pod: { nodeName: 'a' } });
    expect(q.harness.cluster.node('a')!.free(0)).toBe(4000);
  });

  it('that ends it while it is only assumed frees its room', () => {
    const { q, heard } = listening();
    q.pod({ name: 'x' });
    q.assume('a', 'x');
    q.change('x', { phase: 'Failed' });
    expect(heard.at(-1)).toBe('AssignedPod Delete x');
  });

  it('that takes its nomination back frees the room that was kept for it', () => {
    const { q, heard } = listening();
    q.pod({ name: 'x', nominatedNodeName: 'a' });
    heard.length = 0;
    q.change('x', { nominatedNodeName: '' });
    expect(heard).toContain('AssignedPod Delete x');
  });
});

describe('a change that scheduling does not read', () => {
  it.each<[string, (q: Queueing) => void]>([
    ['a heartbeat of a node', (q) => q.node({ name: 'a', resourceVersion: '99' })],
    [
      'our own verdict on a pod',
      (q) => q.change('x', { resourceVersion: '99', podScheduled: { status: 'False', reason: 'r', message: 'm' } }),
    ],
    ['a pod that begins to run', (q) => q.change('y', { resourceVersion: '99', phase: 'Running' })],
    ['the status of a PodGroup', (q) => q.group({ name: 'red', minMember: 2, resourceVersion: '99' })],
  ])('is told to nobody, and leaves what is known of nodes as it is: %s', (_what, happens) => {
    const { q, heard } = listening();
    q.node({ name: 'a' });
    q.pod({ name: 'x' });
    q.pod({ name: 'y', nodeName: 'a' });
    q.group({ name: 'red', minMember: 2 });
    const { generation } = q.harness.cluster;
    heard.length = 0;
    happens(q);
    expect([heard, q.harness.cluster.generation - generation]).toEqual([[], 0]);
  });

  it('is in the picture, and told to nobody, if it is an image that came to a node', () => {
    const { q, heard } = listening();
    q.node({ name: 'a' });
    const { generation, nodesRevision } = q.harness.cluster;
    heard.length = 0;
    q.node({ name: 'a', images: { 'app:1': 5 } });
    expect(q.harness.cluster.images.image('app:1')).toMatchObject({ size: 5, nodes: 1 });
    expect(q.harness.cluster.node('a')!.generation).toBeGreaterThan(generation);
    expect([heard, q.harness.cluster.nodesRevision]).toEqual([[], nodesRevision]);
    q.removeNode('a');
    expect(q.harness.cluster.images.image('app:1')).toBeUndefined();
  });

  it('is none where a pod may write it again: its resourceVersion is kept', () => {
    const { q } = listening();
    q.pod({ name: 'x' });
    q.change('x', { resourceVersion: '99' });
    expect(q.harness.cluster.pod('x')!.resourceVersion).toBe('99');
  });
});

describe('a change of a PodGroup', () => {
  it('is told with the group as it is then', () => {
    const { q, heard } = listening();
    q.pod({ name: 'red-0', group: 'red' });
    heard.length = 0;
    q.group({ name: 'red', minMember: 2 });
    q.group({ name: 'red', minMember: 1 });
    expect(q.harness.cluster.gang('default/red')!.spec!.minMember).toBe(1);
    q.removeGroup('default/red');
    expect(heard).toEqual(['PodGroup Add', 'PodGroup Update', 'PodGroup Delete']);
  });
});

describe('a change before the lists are complete', () => {
  it('goes into the picture only', () => {
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

describe('a pod that waits on Permit', () => {
  it.each([
    ['deleted', (q: Queueing) => q.removePod('x')],
    ['bound elsewhere', (q: Queueing) => q.change('x', { nodeName: 'b' })],
  ])('is rejected when it is %s', (_what, happens) => {
    const q = new Queueing({ plugins: defaultPlugins, extra: [{ name: 'Gate', permit: () => ({ waitMs: 60_000 }) }] });
    q.node({ name: 'a' });
    q.pod({ name: 'x' });
    expect(q.harness.core.attempt()?.kind).toBe('planned');
    const [waiting] = q.harness.waitingPods.all();
    happens(q);
    expect(waiting!.settled?.status?.message).toBe('the pod was deleted or bound elsewhere');
  });
});
