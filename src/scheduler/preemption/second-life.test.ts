import { describe, expect, it } from 'vitest';
import { oneGang } from '../testing/preemption-story.ts';
import type { PreemptionStory } from '../testing/preemption-story.ts';

/** Gang `low` of four runs on node `a`; node `b` has capacity for another four. */
function twoNodes(): PreemptionStory {
  const story = oneGang();
  story.node('b', 4);
  return story;
}

/** Another scheduler marks these pods as its victims. */
function mark(story: PreemptionStory, names: readonly string[]): void {
  const preemptionMark = { schedulerName: 'other-scheduler', since: Date.UTC(2100, 0) };
  for (const name of names) story.change(name, { preemptionMark, disruptedBy: 'PreemptionByScheduler' });
}

function unmark(story: PreemptionStory, names: readonly string[]): void {
  for (const name of names) story.change(name, { preemptionMark: undefined, disruptedBy: undefined });
}

const low = ['low-0', 'low-1', 'low-2', 'low-3'] as const;

function again(story: PreemptionStory, count: number, from = 0): void {
  for (let i = from; i < from + count; i++) story.pod(`again-${i}`, { group: 'low' });
}

function bound(story: PreemptionStory, group: string): string[] {
  return Object.keys(story.bound).filter((name) => name.startsWith(group));
}

describe('I1: the owner of a gang that is preempted whole re-creates its members at once, and none of them', () => {
  it('is bound as a replacement while a part of the old members is deleted', async () => {
    const story = oneGang();
    const tolerations = [{ key: 'only', operator: 'Exists' }];
    story.node('b', 4, { taints: ['only=low:NoSchedule'] });
    story.pod('high', { cpu: 4, priority: 1000 });
    story.holds = (verb, name) => verb === 'delete' && (name === 'low-2' || name === 'low-3');
    await story.run();
    story.terminateAll();
    for (let i = 0; i < 4; i++) story.pod(`again-${i}`, { group: 'low', tolerations });
    await story.after(5);
    expect(bound(story, 'again')).toEqual([]);
    await story.release();
    await story.core.attempt();
    for (const name of ['again-0', 'again-1']) await story.core.accept(name);
    for (const name of ['again-0', 'again-1']) story.change(name, { nodeName: 'b' });
    await story.core.reject('again-2', 'no');
    await story.core.accept('again-3');
    story.change('again-3', { nodeName: 'b' });
    const gang = story.core.harness.cluster.gang('default/low')!;
    expect([gang.started, gang.incomplete, gang.missing]).toEqual([false, true, 1]);
    await story.after(5);
    expect(bound(story, 'again')).toHaveLength(4);
  });

  it('is bound as a replacement beside members that another scheduler has marked', async () => {
    const story = twoNodes();
    mark(story, low);
    for (const name of ['low-0', 'low-1']) story.remove(name);
    again(story, 2);
    await story.after(5);
    expect(bound(story, 'again')).toEqual([]);
    expect(story.verdictOn('again-0')).toContain(
      'has 2 of the 4 members it needs to start; 2 of the others are being preempted',
    );
    again(story, 2, 2);
    await story.after(5);
    expect(bound(story, 'again')).toHaveLength(4);
  });

  it('is bound beyond the quorum of members that are marked', async () => {
    const story = twoNodes();
    mark(story, low);
    again(story, 1);
    await story.after(5);
    expect(bound(story, 'again')).toEqual([]);
    unmark(story, low);
    await story.after(5);
    expect(bound(story, 'again')).toEqual(['again-0']);
  });
});

describe('a mark that is taken back', () => {
  it('leaves the gang as it was: started, whole, and without reservations', async () => {
    const story = twoNodes();
    const gang = story.core.harness.cluster.gang('default/low')!;
    const before = [gang.started, gang.startsAnew, gang.counted, gang.missing];
    mark(story, low);
    expect([gang.started, gang.counted, gang.missing]).toEqual([true, 0, 4]);
    unmark(story, low);
    expect([gang.started, gang.startsAnew, gang.counted, gang.missing]).toEqual(before);
    expect(story.reserved).toEqual({});
  });

  it('also if the gang has lost a member, or minMember has grown since it started', async () => {
    const story = twoNodes();
    story.remove('low-3');
    story.group('low', 5);
    const gang = story.core.harness.cluster.gang('default/low')!;
    mark(story, low.slice(0, 3));
    expect([gang.started, gang.missing]).toEqual([true, 5]);
    unmark(story, low.slice(0, 3));
    expect([gang.started, gang.missing]).toEqual([true, 2]);
  });
});

describe('a preemption by another scheduler', () => {
  it('PE44 - of one member lets its replacement be bound at once, and the gang is not taken for a victim of ours', async () => {
    const story = twoNodes();
    mark(story, ['low-3']);
    story.change('low-3', { deleting: true });
    again(story, 1);
    await story.run();
    expect(bound(story, 'again')).toEqual(['again-0']);
    expect(story.sent).toEqual([]);
  });

  it('lets no capacity be reserved for members of which all siblings are marked', async () => {
    const story = twoNodes();
    mark(story, low);
    for (const name of low.slice(0, 2)) story.remove(name);
    expect(story.reserved).toEqual({});
  });
});
