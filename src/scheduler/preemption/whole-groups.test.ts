import { describe, expect, it } from 'vitest';
import { PreemptionStory } from '../testing/preemption-story.ts';

/** Four members of a group, whose minCount is two, on two nodes. */
function wholeGroup(options: { minCount?: number } = { minCount: 2 }, choose?: 'DefaultPreemption'): PreemptionStory {
  const story = new PreemptionStory(choose);
  for (const name of ['a', 'b']) story.node(name, 2);
  story.nativeGroup({ name: 'low', disruptionMode: 'all', ...options });
  for (let i = 0; i < 4; i++) story.pod(`low-${i}`, { schedulingGroup: 'low', nodeName: i < 2 ? 'a' : 'b' });
  return story;
}

const all = ['low-0', 'low-1', 'low-2', 'low-3'];

describe.each([{ minCount: 2 }, { minCount: 4 }, {}])('a group of disruption mode all: %j', (options) => {
  it('is evicted whole for a pod that needs one of its members', async () => {
    const story = wholeGroup(options, 'DefaultPreemption');
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(story.sent.filter((sent) => sent.startsWith('delete')).sort()).toEqual(all.map((name) => `delete ${name}`));
    story.terminateAll();
    await story.after(2);
    expect(Object.keys(story.bound)).toEqual(['high']);
  });

  it('is not evicted if one of its members may not be', async () => {
    const story = wholeGroup(options, 'DefaultPreemption');
    story.change('low-3', { priority: 1000 });
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(story.sent).toEqual([]);
  });

  it.each(Array.from({ length: 10 }, (_, calls) => calls))(
    'is evicted whole or not at all by a process that dies after %i requests, and the next one',
    async (calls) => {
      const story = wholeGroup(options);
      story.pod('high', { cpu: 2, priority: 1000 });
      let left = calls;
      story.lives = () => left-- > 0;
      await story.run();
      const deleted = story.sent.filter((sent) => sent.startsWith('delete')).length;
      story.takeOver();
      const before = story.sent.length;
      await story.core.settle();
      const sent = story.sent.slice(before).filter((each) => each.startsWith('delete'));
      if (deleted === 0) expect(sent).toEqual([]);
      const live = (): number => Object.keys(story.bound).filter((name) => name.startsWith('low-')).length;
      expect([0, 4]).toContain(live());
      for (let i = 0; i < 5; i++) {
        await story.after(2);
        story.terminateAll();
        expect([0, 4]).toContain(live());
      }
      expect(Object.keys(story.bound)).toEqual(['high']);
    },
  );
});

describe.each([{ minCount: 2 }, {}])(
  'a group of disruption mode all whose members are replaced at once: %j',
  (options) => {
    it.each([6, 7, 8])('is evicted whole by the process after one that died after %i requests', async (calls) => {
      const story = wholeGroup(options);
      story.pod('high', { cpu: 2, priority: 1000 });
      let left = calls;
      story.lives = () => left-- > 0;
      await story.run();
      story.terminateAll();
      const gone = all.filter((name) => !(name in story.bound));
      expect(gone).not.toEqual([]);
      for (const name of gone)
        story.pod(`${name}-again`, { schedulingGroup: 'low', cpu: 2, createdAt: Date.UTC(2100, 0) });
      story.takeOver();
      await story.core.settle();
      story.terminateAll();
      expect(Object.keys(story.bound).filter((name) => all.includes(name))).toEqual([]);
    });
  },
);

it('members of a basic group of disruption mode single are evicted like pods without a group', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 2);
  story.nativeGroup({ name: 'low' });
  for (const name of ['low-0', 'low-1']) story.pod(name, { schedulingGroup: 'low', nodeName: 'a' });
  story.pod('high', { priority: 1000 });
  await story.run();
  expect(story.verdictOn('high')).toContain('preemption: evicting 1 pod to place 1 member.');
  story.terminateAll();
  await story.after(2);
  expect(Object.keys(story.bound)).toHaveLength(2);
});
