import { describe, expect, it } from 'vitest';
import { planAnnotations } from '../../api/pod.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Queueing } from '../../testkit/queueing.ts';

const queueing = (): Queueing => new Queueing({ plugins: defaultPlugins });

describe('group members', () => {
  it('are one entity while the quorum is missing', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 3 });
    q.members(2, { group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.pod({ name: 'red-2', group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });

  it('are gated until their PodGroup exists, in either order', () => {
    const q = queueing();
    q.members(2, { group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.group({ name: 'red', minMember: 2 });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
    q.removeGroup('default/red');
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
  });

  it('beyond the quorum become entities with their own ready time once it is bound', () => {
    const q = queueing();
    q.node({ name: 'a' });
    q.group({ name: 'red', minMember: 2 });
    q.members(3, { group: 'red' });
    q.harness.clock.advance(5000);
    const entity = q.queue.pop()!;
    q.assume('a', 'red-0', 'red-1');
    q.queue.done(entity);
    q.router.groupChanged('default/red', 'Planned', q.harness.clock.now());
    q.change('red-0', { nodeName: 'a' });
    // The quorum may still fail, and no member may be bound beyond it until then.
    expect(q.states()).toEqual({});
    q.harness.clock.advance(1000);
    q.change('red-1', { nodeName: 'a' });
    expect(q.states()).toEqual({ 'pod/red-2': 'active' });
    expect(Math.floor(q.queue.get('pod/red-2')!.readySince!)).toBe(q.harness.clock.now());
    q.pod({ name: 'red-3', group: 'red' });
    expect(q.states()).toEqual({ 'pod/red-2': 'active', 'pod/red-3': 'active' });
  });

  it('are one entity again when the quorum is lost', () => {
    const q = queueing();
    q.node({ name: 'a' });
    q.group({ name: 'red', minMember: 2 });
    q.pod({ name: 'red-0', group: 'red', nodeName: 'a' });
    q.pod({ name: 'red-1', group: 'red', nodeName: 'a' });
    q.pod({ name: 'red-2', group: 'red' });
    q.pod({ name: 'red-3', group: 'red' });
    expect(q.states()).toEqual({ 'pod/red-2': 'active', 'pod/red-3': 'active' });
    q.removePod('red-0');
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
    q.change('red-2', { nodeName: 'a' });
    expect(q.states()).toEqual({ 'pod/red-3': 'active' });
  });

  it('are one entity again, at their old place, once all members have ended: none is queued before the quorum exists', () => {
    const q = queueing();
    q.node({ name: 'a' });
    q.group({ name: 'red', minMember: 2, createdAt: q.harness.clock.now() });
    for (const name of ['red-0', 'red-1']) q.pod({ name, group: 'red', nodeName: 'a' });
    q.harness.clock.advance(60_000);
    q.pod({ name: 'lone' });
    q.pod({ name: 'red-2', group: 'red' });
    q.pod({ name: 'red-3', group: 'red' });
    expect(q.states()).toEqual({ 'pod/lone': 'active', 'pod/red-2': 'active', 'pod/red-3': 'active' });
    q.removePod('red-3');
    q.change('red-0', { deleting: true });
    expect(q.states()).toEqual({ 'pod/lone': 'active', 'gang/default/red': 'active' });
    q.change('red-1', { deleting: true });
    expect(q.states()).toEqual({ 'pod/lone': 'active', 'gang/default/red': 'gated' });
    q.pod({ name: 'red-4', group: 'red' });
    q.pod({ name: 'red-5', group: 'red' });
    expect(q.popAll()).toEqual(['gang/default/red', 'pod/lone']);
  });

  it('follow changes of minMember', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 4 });
    q.members(3, { group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.group({ name: 'red', minMember: 3 });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });

  it('leave nothing behind once they and their group are deleted', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 1 });
    q.members(2, { group: 'red' });
    q.removeGroup('default/red');
    q.removePod('red-0');
    q.removePod('red-1');
    expect(q.states()).toEqual({});
    expect([...q.harness.cluster.gangs()]).toEqual([]);
  });

  it('do not mix with a group of the same name in another namespace', () => {
    const q = queueing();
    q.group({ name: 'red', namespace: 'one', minMember: 2 });
    q.pod({ name: 'x', namespace: 'one', group: 'red' });
    q.pod({ name: 'y', namespace: 'two', group: 'red' });
    expect(q.states()).toEqual({ 'gang/one/red': 'gated', 'gang/two/red': 'gated' });
  });

  it('are gated with a reason if other members name another scheduler', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 2 });
    q.pod({ name: 'x', group: 'red' });
    q.pod({ name: 'y', group: 'red', schedulerName: 'other' });
    const { state } = q.queue.get('gang/default/red')!;
    expect(state).toMatchObject({
      kind: 'gated',
      status: { message: expect.stringMatching(/name different schedulers/) as string },
    });
  });

  it('are ignored if all of them name another scheduler', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 1 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'other' });
    q.pod({ name: 'lone', schedulerName: 'other' });
    expect(q.states()).toEqual({});
  });

  it('gate their group while they have scheduling gates', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 1 });
    const pod = q.pod({ name: 'x', group: 'red', gates: ['wait'] });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.show({ ...pod, schedulingGates: [] });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });

  it('are single pods if no plugin schedules gangs', () => {
    const q = new Queueing({ plugins: defaultPlugins.filter(({ name }) => name !== 'Coscheduling') });
    q.group({ name: 'red', minMember: 3 });
    q.members(2, { group: 'red' });
    expect(q.states()).toEqual({ 'pod/red-0': 'active', 'pod/red-1': 'active' });
  });
});

describe('a pod', () => {
  it('that joins a group is queued with it', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 2 });
    const pod = q.pod({ name: 'x' });
    expect(q.states()).toEqual({ 'pod/x': 'active' });
    q.show({ ...pod, podGroupKey: 'default/red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
  });

  it('that leaves its group is queued on its own', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 2 });
    const [first] = q.members(2, { group: 'red' });
    q.show({ ...first!, podGroupKey: undefined });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated', 'pod/red-0': 'active' });
  });

  it('that moves to another group counts there', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 1 });
    q.group({ name: 'blue', minMember: 1 });
    const pod = q.pod({ name: 'x', group: 'red' });
    q.show({ ...pod, podGroupKey: 'default/blue' });
    expect(q.states()).toEqual({ 'gang/default/blue': 'active' });
  });

  it.each([
    ['bound', { nodeName: 'a' }],
    ['finished', { phase: 'Succeeded' as const }],
    ['being deleted', { deleting: true }],
  ])('that is %s leaves the queue', (_state, change) => {
    const q = queueing();
    q.pod({ name: 'x' });
    q.change('x', change);
    expect(q.states()).toEqual({});
  });

  it('that is assumed is not requeued when it changes', () => {
    const q = queueing();
    q.node({ name: 'a' });
    q.pod({ name: 'x' });
    q.popAll();
    q.assume('a', 'x');
    q.change('x', { labels: { seen: 'late' } });
    expect(q.states()).toEqual({});
  });
});

describe('routeAll', () => {
  it('fills the queue from the cache, ordered by when each entity could first have been ready', () => {
    const q = new Queueing({ plugins: defaultPlugins }, 'listing');
    const at = (second: number): number => Date.UTC(2026, 0, 1, 0, 0, second);
    q.pod({ name: 'third', createdAt: at(30) });
    q.members(2, { group: 'red', createdAt: at(20) });
    q.pod({ name: 'first', createdAt: at(10) });
    q.group({ name: 'red', minMember: 2, createdAt: at(5) });
    expect(q.states()).toEqual({});
    q.start();
    expect(q.popAll()).toEqual(['pod/first', 'gang/default/red', 'pod/third']);
  });

  it('puts a partially bound gang that never started first among entities of its priority', () => {
    const q = new Queueing({ plugins: defaultPlugins }, 'listing');
    q.pod({ name: 'important', priority: 1000 });
    q.pod({ name: 'older', createdAt: 0 });
    q.group({ name: 'red', minMember: 3 });
    q.members(3, { group: 'red' });
    q.pod({ name: 'bound', group: 'red', nodeName: 'a', annotations: { [planAnnotations.groupUid]: 'red' } });
    q.start();
    expect(q.popAll()).toEqual(['pod/important', 'gang/default/red', 'pod/older']);
  });

  it('does not prefer a gang that has started before', () => {
    const q = new Queueing({ plugins: defaultPlugins }, 'listing');
    q.pod({ name: 'important', priority: 1000, createdAt: 0 });
    const conditions = [{ type: 'Started', status: 'True', reason: '', message: '', lastTransitionTime: '' }] as never;
    q.group({ name: 'red', minMember: 3, status: { conditions } });
    q.members(3, { group: 'red' });
    q.pod({ name: 'bound', group: 'red', nodeName: 'a' });
    q.start();
    expect(q.popAll()).toEqual(['pod/important', 'gang/default/red']);
  });
});

it.each(['red', undefined])('wakes no member that is queued alone when siblings are stranded: PodGroup %s', (group) => {
  const core = new Queueing({ plugins: defaultPlugins });
  for (const name of ['a', 'b']) core.node({ name, cpu: 1 });
  core.group({ name: 'red', minMember: 1 });
  core.nativeGroup({ name: 'basic' });
  const membership = group === undefined ? { schedulingGroup: 'basic' } : { group };
  core.pod({ name: 'bound', cpu: 1, nodeName: 'a', ...membership });
  core.pod({ name: 'waits', cpu: 2, ...membership });
  while (core.harness.core.attempt() !== undefined);
  expect(core.states()).toEqual({ 'pod/waits': 'unschedulable' });
  core.removeNode('a');
  expect(core.states()).toEqual({ 'pod/waits': 'unschedulable' });
});

it('wakes no member of a labeled group when the basic group in its spec comes or goes', () => {
  const core = new Queueing({ plugins: defaultPlugins });
  core.node({ name: 'a', cpu: 1 });
  core.group({ name: 'red', minMember: 1 });
  core.pod({ name: 'waits', cpu: 2, group: 'red', schedulingGroup: 'basic' });
  while (core.harness.core.attempt() !== undefined);
  core.nativeGroup({ name: 'basic' });
  core.removeGroup('scheduling.k8s.io/default/basic');
  expect(core.states()).toEqual({ 'gang/default/red': 'unschedulable' });
});
