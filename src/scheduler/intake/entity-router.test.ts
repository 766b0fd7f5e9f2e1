import { describe, expect, it } from 'vitest';
import { defaultPlugins } from '../../plugins/registry.ts';
import { Queueing } from '../../testkit/queueing.ts';

const queueing = (): Queueing => new Queueing({ plugins: defaultPlugins });

describe('the members of a group', () => {
  it('are one entity while their quorum is missing', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 3 });
    q.members(2, { group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.pod({ name: 'red-2', group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });

  it('wait outside the queue for their PodGroup, whichever comes first', () => {
    const q = queueing();
    q.members(2, { group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.group({ name: 'red', minMember: 2 });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
    q.removeGroup('default/red');
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
  });

  it('beyond the quorum become lone entities with their own time, as soon as it is bound', () => {
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
    // The quorum may still fall, and then nobody may have been bound beyond it.
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

  it('follow a quorum that is changed', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 4 });
    q.members(3, { group: 'red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.group({ name: 'red', minMember: 3 });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });

  it('leave nothing behind when they and their group are gone', () => {
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

  it('of a group whose other members another scheduler is to place are rejected with the reason', () => {
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

  it('that all name another scheduler are not ours', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 1 });
    q.pod({ name: 'x', group: 'red', schedulerName: 'other' });
    q.pod({ name: 'lone', schedulerName: 'other' });
    expect(q.states()).toEqual({});
  });

  it('behind scheduling gates keep their group outside the queue', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 1 });
    const pod = q.pod({ name: 'x', group: 'red', gates: ['wait'] });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
    q.show({ ...pod, schedulingGates: [] });
    expect(q.states()).toEqual({ 'gang/default/red': 'active' });
  });

  it('are lone pods where no plugin decides what a group is', () => {
    const q = new Queueing({ plugins: defaultPlugins.filter(({ name }) => name !== 'Coscheduling') });
    q.group({ name: 'red', minMember: 3 });
    q.members(2, { group: 'red' });
    expect(q.states()).toEqual({ 'pod/red-0': 'active', 'pod/red-1': 'active' });
  });
});

describe('a pod', () => {
  it('that joins a group later is a lone pod no more', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 2 });
    const pod = q.pod({ name: 'x' });
    expect(q.states()).toEqual({ 'pod/x': 'active' });
    q.show({ ...pod, podGroupKey: 'default/red' });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated' });
  });

  it('that leaves its group is a lone pod', () => {
    const q = queueing();
    q.group({ name: 'red', minMember: 2 });
    const [first] = q.members(2, { group: 'red' });
    q.show({ ...first!, podGroupKey: undefined });
    expect(q.states()).toEqual({ 'gang/default/red': 'gated', 'pod/red-0': 'active' });
  });

  it('that goes from one group to another counts in the other', () => {
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
  ])('that is %s leaves the queue', (_what, change) => {
    const q = queueing();
    q.pod({ name: 'x' });
    q.change('x', change);
    expect(q.states()).toEqual({});
  });

  it('that is assumed is not queued again by changes of it', () => {
    const q = queueing();
    q.node({ name: 'a' });
    q.pod({ name: 'x' });
    q.popAll();
    q.assume('a', 'x');
    q.change('x', { labels: { seen: 'late' } });
    expect(q.states()).toEqual({});
  });
});

describe('a start', () => {
  it('fills the queue from the picture, in the order in which things could have been ready', () => {
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

  it('puts a group that never started but has members bound before everything else', () => {
    const q = new Queueing({ plugins: defaultPlugins }, 'listing');
    q.pod({ name: 'important', priority: 1000, createdAt: 0 });
    q.group({ name: 'red', minMember: 3 });
    q.members(3, { group: 'red' });
    q.pod({ name: 'bound', group: 'red', nodeName: 'a' });
    q.start();
    expect(q.popAll()).toEqual(['gang/default/red', 'pod/important']);
  });

  it('does not for one that was started once', () => {
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
