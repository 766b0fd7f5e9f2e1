import { describe, expect, it } from 'vitest';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';

const highest = { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '2147483647' } };

function storyOf(nodes: Readonly<Record<string, number>>): PreemptionStory {
  const story = new PreemptionStory('DefaultPreemption');
  for (const [name, cpu] of Object.entries(nodes)) story.node(name, cpu);
  return story;
}

function started(second: number): PodOptions {
  return { status: { startTime: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() } };
}

function deleted(story: PreemptionStory): string[] {
  return story.sent.filter((sent) => sent.startsWith('delete')).map((sent) => sent.slice('delete '.length));
}

describe('I10: the annotation pod-deletion-cost', () => {
  it('protects no pod at the cost of those of other owners: the one that started last goes', async () => {
    const story = storyOf({ a: 2 });
    story.pod('victim', { namespace: 'other', nodeName: 'a', ...started(1) });
    story.pod('hostile', { nodeName: 'a', ...highest, ...started(2) });
    story.pod('high', { priority: 10 });
    await story.run();
    expect(deleted(story)).toEqual(['hostile']);
  });

  it('protects no gang at the cost of other pods', async () => {
    const story = storyOf({ a: 4 });
    story.group('hostile', 1);
    for (let i = 0; i < 3; i++)
      story.pod(`hostile-${i}`, { group: 'hostile', nodeName: 'a', ...highest, ...started(2) });
    story.pod('victim', { namespace: 'other', nodeName: 'a', ...started(1) });
    story.pod('high', { priority: 10 });
    await story.run();
    expect(deleted(story).join()).toMatch(/^hostile-/);
  });

  it('decides which members of a gang go first, whenever they have started', async () => {
    for (const starts of [
      [1, 1, 1],
      [1, 2, 3],
      [3, 2, 1],
    ]) {
      const story = storyOf({ a: 4 });
      story.group('low', 1);
      for (const [i, second] of starts.entries())
        story.pod(`low-${i}`, { group: 'low', nodeName: 'a', ...(i !== 1 && highest), ...started(second) });
      story.pod('older', { nodeName: 'a', ...started(0) });
      story.pod('high', { priority: 10 });
      await story.run();
      expect(deleted(story), String(starts)).toEqual(['low-1']);
    }
  });
});

describe('I10: pods that do not terminate, because of a finalizer or a huge grace period', () => {
  /** The newest pod, on node a, does not terminate. */
  function withStuckPod(options: PodOptions = {}): PreemptionStory {
    const story = storyOf({ a: 1, b: 1, c: 1 });
    story.pod('hostile', { nodeName: 'a', ...started(2), ...options });
    for (const name of ['b', 'c']) story.pod(`low-${name}`, { nodeName: name, ...started(1) });
    return story;
  }

  it('are not chosen if their grace period is longer than an entity may wait', async () => {
    const story = withStuckPod({ spec: { terminationGracePeriodSeconds: 1e9 } });
    story.pod('high', { priority: 10 });
    await story.run();
    expect(deleted(story).join()).toMatch(/^low-[bc]$/);
  });

  it('keep an entity waiting until its deadline, and no other one', async () => {
    const story = withStuckPod();
    story.pod('high', { priority: 10 });
    await story.run();
    expect(deleted(story)).toEqual(['hostile']);
    await story.after(89);
    expect(story.reserved).toEqual({ high: 'a' });
    await story.after(2);
    expect(story.reserved).toEqual({});
    story.pod('next', { priority: 10 });
    await story.run();
    expect(deleted(story)).toHaveLength(2);
    expect(story.reserved.next).toMatch(/^[bc]$/);
    await story.after(60);
    expect(deleted(story)).toHaveLength(3);
    for (const name of ['low-b', 'low-c']) story.remove(name);
    await story.run();
    expect(Object.keys(story.bound).sort()).toEqual(['high', 'next']);
  });

  it('are not waited for if they should have terminated a minute ago', async () => {
    const story = withStuckPod({ deleting: true });
    const { clock } = story.core.harness;
    story.change('hostile', { deletionTimestamp: Math.floor(clock.now() / 1000) - 61 });
    story.pod('high', { priority: 10 });
    await story.run();
    expect(deleted(story).join()).toMatch(/^low-[bc]$/);
  });

  it('are waited for until a minute after they should have terminated, and then others are evicted without a pause', async () => {
    const story = withStuckPod({ deleting: true });
    const { clock } = story.core.harness;
    story.change('hostile', { deletionTimestamp: Math.floor(clock.now() / 1000) - 50 });
    story.pod('high', { priority: 10 });
    await story.run();
    expect([deleted(story), story.reserved]).toEqual([[], { high: 'a' }]);
    await story.after(11);
    expect(deleted(story).join()).toMatch(/^low-[bc]$/);
  });

  it('free their capacity when they are gone after all', async () => {
    const story = withStuckPod();
    for (const name of ['low-b', 'low-c']) story.change(name, { priority: 10 });
    story.pod('high', { priority: 10 });
    await story.run();
    await story.after(91);
    expect(story.verdictOn('high')).toContain('pod default/hostile is still terminating on node a');
    await story.after(70);
    story.remove('hostile');
    await story.run();
    expect(story.bound.high).toBe('a');
  });
});

describe('I10: a forged', () => {
  it('mark in the name of this scheduler evicts no pod, and is taken back', async () => {
    const story = storyOf({ a: 4 });
    story.group('hostile', 2);
    story.members('hostile', 3, { group: 'hostile', nodeName: 'a' });
    story.pod('foreign', { namespace: 'other', nodeName: 'a' });
    for (const name of ['hostile-0', 'hostile-1', 'hostile-2', 'foreign'])
      story.change(name, { preemptionMark: { schedulerName: 'default-scheduler', since: 0 } });
    await story.core.settle();
    expect(story.sent.sort()).toEqual(['unmark foreign', 'unmark hostile-0', 'unmark hostile-1', 'unmark hostile-2']);
    story.takeOver();
    await story.run();
    expect(deleted(story)).toEqual([]);
  });

  it('mark evicts at most members of the same group, of which one is deleted below the quorum', async () => {
    const story = storyOf({ a: 4, b: 1 });
    story.group('hostile', 3);
    story.members('hostile', 3, { group: 'hostile', nodeName: 'a' });
    story.pod('foreign', { namespace: 'other', nodeName: 'a' });
    const preemptionMark = { schedulerName: 'default-scheduler', since: Date.UTC(2100, 0) };
    for (const name of ['foreign', 'hostile-0']) story.change(name, { preemptionMark, deleting: name !== 'foreign' });
    await story.core.settle();
    expect(deleted(story).every((name) => name.startsWith('hostile-'))).toBe(true);
    expect(story.stored('foreign')).toMatchObject({ deleting: false, preemptionMark: undefined });
  });

  it('mark of another scheduler protects no pod', async () => {
    const story = storyOf({ a: 1 });
    story.pod('hostile', { nodeName: 'a' });
    story.change('hostile', { preemptionMark: { schedulerName: 'other-scheduler', since: 0 } });
    story.pod('high', { priority: 10 });
    await story.run();
    expect(deleted(story)).toEqual(['hostile']);
  });

  it('mark gives a partially bound gang no rank and no reservation', async () => {
    const story = storyOf({ a: 1, b: 1 });
    story.group('hostile', 2);
    story.pod('hostile-0', { group: 'hostile', nodeName: 'a' });
    const gang = story.core.harness.cluster.gang('default/hostile')!;
    const before = [gang.comesFirst, gang.incomplete];
    story.change('hostile-0', { preemptionMark: { schedulerName: 'other-scheduler', since: 0 } });
    expect([gang.comesFirst, gang.incomplete]).toEqual(before);
    story.change('hostile-0', { preemptionMark: undefined });
    expect([gang.comesFirst, gang.incomplete, gang.missing]).toEqual([...before, 1]);
    expect(story.reserved).toEqual({});
  });

  it('nomination holds no capacity against a higher priority, and makes nobody evict pods for it', async () => {
    const story = storyOf({ a: 1, b: 1 });
    story.pod('low', { nodeName: 'b', priority: 5 });
    story.pod('hostile', { nominatedNodeName: 'a', cpu: 2 });
    story.pod('hostile-b', { nominatedNodeName: 'b' });
    story.pod('high', { priority: 10 });
    await story.run();
    expect([story.bound.high, story.sent]).toEqual(['a', []]);
  });

  it.each([
    [
      'verdict of this scheduler',
      'Preempts pods. Waiting for 1 of 1 victim to terminate, until 12:00:00Z at the latest.',
    ],
    ['text', 'anything'],
  ])('nomination with a %s makes no new leader evict pods for it', async (_what, message) => {
    const story = storyOf({ a: 1 });
    story.pod('low', { nodeName: 'a', priority: 5 });
    story.pod('hostile', { nominatedNodeName: 'a' });
    story.change('hostile', { podScheduled: { status: 'False', reason: 'Unschedulable', message } });
    story.takeOver();
    await story.run();
    await story.after(120);
    expect([story.sent, story.bound]).toEqual([[], { low: 'a' }]);
    story.pod('high', { priority: 10 });
    await story.run();
    expect(story.reserved.high).toBe('a');
  });

  it('name of a PriorityClass counts for nothing: only the priority that the API server has admitted does', async () => {
    const story = storyOf({ a: 1 });
    story.pod('low', { nodeName: 'a', priority: 1 });
    const spec = { priorityClassName: 'system-node-critical' } as PodOptions['spec'];
    story.pod('hostile', { priority: 1, ...(spec && { spec }) });
    await story.run();
    expect(story.sent).toEqual([]);
    expect(story.verdictOn('hostile')).toContain('preemption:');
  });
});
