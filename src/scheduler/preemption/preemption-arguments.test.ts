import { describe, expect, it } from 'vitest';
import { PreemptionStory } from '../testing/preemption-story.ts';

/** A story with DefaultPreemption and these arguments. */
function open(args: object): PreemptionStory {
  return new PreemptionStory('DefaultPreemption', args);
}

/** Nodes of one core, each with a pod of priority 0. */
function full(args: object, ...nodes: readonly string[]): PreemptionStory {
  const story = open(args);
  for (const name of nodes) {
    story.node(name, 1);
    story.pod(`old-${name}`, { nodeName: name });
  }
  return story;
}

/** Names of the pods that were marked. */
function marked(story: PreemptionStory): readonly string[] {
  return story.sent.filter((sent) => sent.startsWith('mark ')).map((sent) => sent.slice('mark '.length));
}

describe('surplusPreempts', () => {
  /** Two members of a group with minMember 2 run on a; the third one waits. */
  const elastic = (args: object): PreemptionStory => {
    const story = full(args, 'b');
    story.node('a', 2);
    story.group('high', 2);
    for (const name of ['high-0', 'high-1']) story.pod(name, { group: 'high', priority: 1000, nodeName: 'a' });
    story.pod('high-2', { group: 'high', priority: 1000 });
    return story;
  };

  it('PE36 - members beyond the quorum do not preempt by default', async () => {
    const story = elastic({});
    await story.run();
    expect(marked(story)).toEqual([]);
    expect(story.verdictOn('high-2')).toContain(
      'preemption: not eligible: the group has its minMember without the pod.',
    );
  });

  it('PE36 - members beyond the quorum preempt if it is set', async () => {
    const story = elastic({ surplusPreempts: true });
    await story.run();
    expect(marked(story)).toEqual(['old-b']);
  });

  it('PE37 - a replacement that the quorum needs preempts in any case', async () => {
    const story = elastic({});
    await story.run();
    story.remove('high-1');
    story.pod('lone', { priority: 5000, nodeName: 'a' });
    await story.after(10);
    expect(marked(story)).toEqual(['old-b']);
  });

  it('a pod without a group is not affected by an equal member that waits', async () => {
    const story = elastic({});
    await story.run();
    story.pod('lone', { priority: 1000 });
    await story.run();
    expect(marked(story)).toEqual(['old-b']);
  });
});

describe('maxVictims and maxVictimGroups', () => {
  it.each([
    [{ maxVictims: 2 }, 0],
    [{ maxVictims: 3 }, 3],
  ])('%j: a gang that needs three victims gets %i', async (args, count) => {
    const story = full(args, 'a', 'b', 'c');
    story.group('high', 3);
    story.members('high', 3, { priority: 1000 });
    await story.run();
    expect(marked(story)).toHaveLength(count);
    if (count === 0)
      expect(story.verdictOn('high-0')).toContain(
        'preemption: would need to evict 3 pods, more than the configuration allows.',
      );
  });

  it.each([
    [{ maxVictimGroups: 1 }, 0],
    [{ maxVictimGroups: 2 }, 4],
  ])('%j: a gang that needs two whole groups gets %i victims', async (args, count) => {
    const story = open(args);
    for (const name of ['a', 'b']) {
      story.node(name, 2);
      story.group(`low-${name}`, 2);
      story.members(`low-${name}`, 2, { nodeName: name });
    }
    story.group('high', 2);
    story.members('high', 2, { priority: 1000, cpu: 2 });
    await story.run();
    expect(marked(story)).toHaveLength(count);
    if (count === 0)
      expect(story.verdictOn('high-0')).toContain('would need to evict 4 pods (2 whole groups among them)');
  });

  it('the entity preempts once fewer victims are enough', async () => {
    const story = full({ maxVictims: 1 }, 'a', 'b');
    story.group('high', 2);
    story.members('high', 2, { priority: 1000 });
    await story.run();
    story.remove('old-a');
    await story.after(10);
    expect(marked(story)).toEqual(['old-b']);
  });
});

describe('the times of a preemption', () => {
  it('terminationSlackSeconds counts from the grace period of the victims', async () => {
    const story = full({ terminationSlackSeconds: 5 }, 'a');
    story.pod('high', { priority: 1000 });
    await story.run();
    await story.after(34);
    expect(story.reserved).toEqual({ high: 'a' });
    await story.after(2);
    expect(story.reserved).toEqual({});
  });

  it('maxNominationSeconds limits the whole wait, and keeps pods with a longer grace period', async () => {
    const story = full({ maxNominationSeconds: 80, terminationSlackSeconds: 49 }, 'a', 'b');
    story.pod('slow', { nodeName: 'a' });
    story.remove('old-a');
    story.remove('old-b');
    story.pod('fast', { nodeName: 'b' });
    story.pod('high', { priority: 1000 });
    const slow = { spec: { terminationGracePeriodSeconds: 32 } };
    story.remove('slow');
    story.pod('slow', { nodeName: 'a', ...slow });
    await story.run();
    expect(marked(story)).toEqual(['fast']);
    story.pod('higher', { priority: 2000 });
    await story.run();
    expect(story.verdictOn('higher')).not.toContain('slow');
    expect(marked(story)).toEqual(['fast']);
  });

  it('backoffSeconds is the pause after a failure, which doubles up to a maximum', async () => {
    const story = full({ backoffSeconds: { initial: 10, max: 15 } }, 'a', 'b', 'c');
    story.pod('high', { priority: 1000 });
    await story.run();
    const times: number[] = [];
    for (let second = 0; second < 400; second++) {
      const before = marked(story).length;
      await story.after(1);
      if (marked(story).length > before) times.push(second);
    }
    // 90 s until the first one expires, then a pause of 10 s; 90 s again, then a pause of 15 s instead of 20.
    expect(times.map((time, i) => time - (times[i - 1] ?? 0)).map((gap) => Math.round(gap / 5) * 5)).toEqual([
      100, 105,
    ]);
  });
});

describe('preemptionDelaySeconds', () => {
  it('lets an entity preempt only after it has been unschedulable for that long', async () => {
    const story = full({ preemptionDelaySeconds: 30 }, 'a');
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(story.verdictOn('high')).toContain(
      'preemption: it must be unschedulable for 30 s first; not before 00:00:30Z.',
    );
    await story.after(28);
    expect(marked(story)).toEqual([]);
    await story.after(4);
    expect(marked(story)).toEqual(['old-a']);
  });

  it('is counted for each entity, and wakes only those that may preempt', async () => {
    const story = full({ preemptionDelaySeconds: 30 }, 'a', 'b');
    story.pod('first', { priority: 1000 });
    story.pod('low', { priority: 0 });
    story.pod('never', { priority: 1000, spec: { preemptionPolicy: 'Never' } });
    await story.run();
    await story.after(20);
    story.pod('second', { priority: 1000 });
    await story.run();
    // A victim that terminates would wake the other one.
    story.holds = (verb) => verb === 'delete';
    expect(await story.after(12)).toEqual(['rejected']);
    expect(marked(story)).toHaveLength(1);
    await story.after(19);
    expect(marked(story)).toHaveLength(2);
  });

  it('starts no search for an entity that is bound or gone before', async () => {
    const story = full({ preemptionDelaySeconds: 30 }, 'a');
    story.pod('gone', { priority: 1000 });
    story.pod('fits', { priority: 1000 });
    await story.run();
    story.remove('gone');
    story.node('b', 1);
    await story.after(10);
    expect(story.bound.fits).toBe('b');
    expect(await story.after(60)).toEqual([]);
    expect(marked(story)).toEqual([]);
  });
});

describe('minRuntimeSeconds', () => {
  /** A pod on the node that has run since `seconds` after the start of the test. */
  const running = (story: PreemptionStory, name: string, nodeName: string, seconds: number, options = {}): void => {
    story.node(nodeName, 1);
    story.pod(name, { nodeName, ...options });
    story.change(name, { startedAt: story.core.harness.clock.now() / 1000 + seconds });
  };

  it('PE34 - a pod that is too young is refused, and goes when its time is over', async () => {
    const story = open({ minRuntimeSeconds: 600 });
    running(story, 'old', 'a', -300);
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(story.verdictOn('high')).toContain('preemption: would need pods that have run for less than 600s.');
    expect(await story.after(290)).toEqual([]);
    expect(marked(story)).toEqual([]);
    await story.after(21);
    expect(marked(story)).toEqual(['old']);
  });

  it('wakes only entities that fit on the node, and only when its first pod is old enough', async () => {
    const story = open({ minRuntimeSeconds: 100 });
    running(story, 'first', 'a', -50);
    running(story, 'second', 'b', -20);
    story.pod('high', { priority: 1000 });
    story.pod('large', { priority: 2000, cpu: 2 });
    story.pod('low', { priority: 0 });
    await story.run();
    expect(await story.after(49)).toEqual([]);
    story.holds = (verb) => verb === 'delete';
    expect(await story.after(12)).toEqual(['rejected']);
    expect(marked(story)).toEqual(['first']);
  });

  it('wakes all equal entities, one after the other', async () => {
    const story = open({ minRuntimeSeconds: 100 });
    for (let i = 0; i < 3; i++) running(story, `old-${i}`, `node-${i}`, 0);
    for (let i = 0; i < 3; i++) story.pod(`high-${i}`, { priority: 1000 });
    await story.run();
    await story.after(111);
    expect(marked(story)).toHaveLength(3);
  });

  it('a group goes when all its members are old enough', async () => {
    const story = open({ minRuntimeSeconds: 100 });
    story.group('low', 2);
    running(story, 'low-0', 'a', 0, { group: 'low' });
    running(story, 'low-1', 'b', -50, { group: 'low' });
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(await story.after(99)).toEqual([]);
    await story.after(12);
    expect(marked(story).toSorted()).toEqual(['low-0', 'low-1']);
  });

  it('wakes no entity for a pod that has left', async () => {
    const story = open({ minRuntimeSeconds: 100 });
    running(story, 'old', 'a', 0);
    running(story, 'other', 'b', 0, { priority: 5000 });
    story.pod('high', { priority: 1000 });
    await story.run();
    story.remove('old');
    story.pod('new', { nodeName: 'a', priority: 5000 });
    await story.after(95);
    expect(await story.after(20)).toEqual([]);
  });
});
