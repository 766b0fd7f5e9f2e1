import { describe, expect, it } from 'vitest';
import { PreemptionStory } from '../testing/preemption-story.ts';

/** Number of members of the group that are bound and not being deleted. */
function live(story: PreemptionStory, group: string): number {
  return Object.keys(story.bound).filter((name) => name.startsWith(`${group}-`)).length;
}

/** Pods that carry a mark although they are not being deleted. */
function strayMarks(story: PreemptionStory): string[] {
  return story.pods
    .filter(({ preemptionMark, deleting }) => preemptionMark !== undefined && !deleting)
    .map(({ name }) => name);
}

const low = ['low-0', 'low-1', 'low-2', 'low-3'];

const scenes: Record<string, () => PreemptionStory> = {
  'a gang of four makes way for a pod': () => {
    const story = new PreemptionStory();
    story.node('a', 4);
    story.group('low', 4);
    story.members('low', 4, { nodeName: 'a' });
    story.pod('high', { cpu: 4, priority: 1000 });
    return story;
  },
  'a gang on two nodes makes way for a pod on one': () => {
    const story = new PreemptionStory();
    for (const name of ['a', 'b']) story.node(name, 2);
    story.group('low', 3);
    for (let i = 0; i < 4; i++) story.pod(`low-${i}`, { group: 'low', nodeName: i < 2 ? 'a' : 'b' });
    story.pod('high', { cpu: 2, priority: 1000 });
    return story;
  },
  'two pods make way for a gang': () => {
    const story = new PreemptionStory();
    for (const name of ['a', 'b']) {
      story.node(name, 1);
      story.pod(`low-${name}`, { nodeName: name });
    }
    story.group('high', 2);
    story.members('high', 2, { priority: 1000 });
    return story;
  },
};

describe.each(Object.entries(scenes))('While %s, a process that dies', (_name, open) => {
  it.each(Array.from({ length: 12 }, (_, calls) => calls))(
    'PE27 - after %i requests leaves no group in part',
    async (calls) => {
      const story = open();
      let left = calls;
      story.lives = () => left-- > 0;
      await story.run();
      const deleted = story.sent.filter((sent) => sent.startsWith('delete')).length;
      // Some victims terminate before the next process starts.
      story.terminateAll();
      // The next process cannot send its own deletes yet.
      story.takeOver();
      const before = story.sent.length;
      await story.core.settle();
      const { minMember = 0 } = story.core.harness.cluster.gang('default/low')?.spec ?? {};
      expect(live(story, 'low') === 0 || live(story, 'low') >= minMember).toBe(true);
      if (deleted === 0) expect(story.sent.slice(before).filter((sent) => sent.startsWith('delete'))).toEqual([]);
      expect(strayMarks(story)).toEqual([]);
      for (let i = 0; i < 5; i++) {
        await story.after(2);
        story.terminateAll();
        expect(live(story, 'low') === 0 || live(story, 'low') >= minMember).toBe(true);
      }
      expect(Object.keys(story.bound).some((name) => name.startsWith('high'))).toBe(true);
      expect(strayMarks(story)).toEqual([]);
      const nominated = story.pods.filter(
        ({ nodeName, nominatedNodeName }) => nodeName === '' && nominatedNodeName !== '',
      );
      expect(nominated).toEqual([]);
    },
  );
});

describe('a new leader', () => {
  it('I2: evicts a gang to its end of which two of four were evicted, before their replacements take the capacity back', async () => {
    const story = scenes['a gang of four makes way for a pod']!();
    let deletes = 0;
    story.lives = (verb) => verb !== 'delete' || ++deletes <= 2;
    await story.run();
    expect(story.sent.filter((sent) => sent.startsWith('delete'))).toHaveLength(2);
    story.terminateAll();
    // Its owner creates replacements, and the group may be refilled.
    for (const name of ['again-0', 'again-1']) story.pod(name, { group: 'low' });
    story.holds = (verb) => verb === 'delete';
    story.takeOver();
    const before = story.sent.length;
    expect(await story.run()).toEqual([]);
    await story.release();
    expect(story.sent.slice(before)).toEqual(['delete low-2', 'delete low-3']);
    expect(live(story, 'low') + live(story, 'again')).toBe(0);
    story.terminateAll();
    await story.after(1);
    expect(story.bound).toEqual({ high: 'a' });
  });

  it('evicts the rest of a gang although the clock of its predecessor was slow', async () => {
    const story = scenes['a gang of four makes way for a pod']!();
    let deletes = 0;
    story.lives = (verb) => verb !== 'delete' || ++deletes <= 2;
    await story.run();
    story.terminateAll();
    const preemptionMark = { schedulerName: 'default-scheduler', since: 1_000 };
    for (const name of ['low-2', 'low-3']) story.change(name, { creationTimestamp: 5_000, preemptionMark });
    story.takeOver();
    const before = story.sent.length;
    await story.core.settle();
    expect(story.sent.slice(before)).toEqual(['delete low-2', 'delete low-3']);
  });

  it('binds no pod until the marks of pods that stay are taken back', async () => {
    const story = new PreemptionStory();
    story.node('a', 2);
    story.pod('old', { nodeName: 'a' });
    story.change('old', { preemptionMark: { schedulerName: 'default-scheduler', since: 0 } });
    story.pod('other');
    story.holds = (verb) => verb === 'unmark';
    story.takeOver();
    expect(await story.run()).toEqual([]);
    await story.release();
    await story.run();
    expect([strayMarks(story), story.bound]).toEqual([[], { old: 'a', other: 'a' }]);
  });

  it('I6: takes marks back without a delete although it sees them before the PodGroup', async () => {
    for (const groupIsListed of [true, false]) {
      const story = scenes['a gang of four makes way for a pod']!();
      story.holds = (verb) => verb === 'delete';
      await story.run();
      const before = story.sent.length;
      story.takeOver(groupIsListed ? 'pods first' : 'without groups');
      if (!groupIsListed) story.group('low', 4);
      await story.core.settle();
      expect(story.sent.slice(before).sort(), String(groupIsListed)).toEqual(low.map((name) => `unmark ${name}`));
      expect(strayMarks(story)).toEqual([]);
    }
  });

  it('leaves the marks of other schedulers alone', async () => {
    const story = new PreemptionStory();
    story.node('a', 1);
    const preemptionMark = { schedulerName: 'other-scheduler', since: 0 };
    story.pod('old', { nodeName: 'a' });
    story.change('old', { preemptionMark });
    story.takeOver();
    await story.core.settle();
    expect(story.sent).toEqual([]);
  });

  it('takes back a mark that arrives after it has started', async () => {
    const story = new PreemptionStory();
    story.node('a', 1);
    story.pod('old', { nodeName: 'a' });
    story.change('old', { preemptionMark: { schedulerName: 'default-scheduler', since: 0 } });
    await story.core.settle();
    expect(story.sent).toEqual(['unmark old']);
  });

  it('does not take the members of a new life for the rest of an old one', async () => {
    const story = new PreemptionStory();
    story.node('a', 4);
    story.group('low', 3);
    const since = Date.UTC(2020, 0);
    story.pod('low-old', { group: 'low', nodeName: 'a', deleting: true });
    story.change('low-old', { preemptionMark: { schedulerName: 'default-scheduler', since } });
    story.members('low', 2, { nodeName: 'a' });
    story.takeOver();
    await story.core.settle();
    expect(story.sent).toEqual([]);
  });

  it('keeps the capacity of an entity whose members are all nominated, and frees that of others', async () => {
    const story = scenes['two pods make way for a gang']!();
    await story.run();
    story.remove('low-a');
    story.takeOver();
    story.pod('lower');
    await story.run();
    expect(story.reserved).toEqual({ 'high-0': 'a', 'high-1': 'b' });
    story.remove('low-b');
    await story.run();
    expect(story.bound).toEqual({ 'high-0': 'a', 'high-1': 'b' });
  });

  it('clears nominations that make up no plan any more', async () => {
    const story = scenes['two pods make way for a gang']!();
    await story.run();
    story.lives = () => false;
    story.remove('high-0');
    story.takeOver();
    expect(story.reserved).toEqual({});
    await story.after(2);
    expect(story.pods.map(({ nominatedNodeName }) => nominatedNodeName).join('')).toBe('');
  });
});

it('I6: a process that stops between the marks and the deletes deletes nothing, and its successor takes the marks back', async () => {
  const story = scenes['a gang of four makes way for a pod']!();
  story.holds = (verb) => verb === 'delete';
  await story.run();
  const { core } = story;
  await core.harness.core.stop();
  await story.release();
  expect(story.sent.filter((sent) => !sent.startsWith('mark'))).toEqual([]);
  // A pod of higher priority than the entity has arrived, and needs the node without the victims.
  story.remove('high');
  story.takeOver();
  await story.core.settle();
  expect(story.sent.slice(4).sort()).toEqual(['unmark low-0', 'unmark low-1', 'unmark low-2', 'unmark low-3']);
  expect(strayMarks(story)).toEqual([]);
});
