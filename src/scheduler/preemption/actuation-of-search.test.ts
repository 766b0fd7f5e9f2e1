import { expect, it } from 'vitest';
import { defaultPreemption } from '../../plugins/registry.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';

/** A story in which DefaultPreemption and the scheduler's search choose the victims. */
function open(): PreemptionStory {
  return new PreemptionStory(undefined, defaultPreemption);
}

it('the verdict names the victims and until when the pod waits for them', async () => {
  const story = open();
  story.node('a', 4);
  story.group('low', 2);
  story.members('low', 4, { nodeName: 'a' });
  story.pod('high', { priority: 1000 });
  await story.run();
  expect(story.sent.map((sent) => sent.split(' ')[0])).toEqual(['mark', 'delete']);
  expect(story.verdictOn('high')).toContain(
    'preemption: evicting 1 pod (members of default/low) to place 1 member. Waiting for 1 of 1 victim to terminate, until 00:01:30Z at the latest.',
  );
  story.terminateAll();
  await story.run();
  expect(story.bound.high).toBe('a');
});

it('PE15: a victim that did not terminate is neither chosen nor awaited again, and others are', async () => {
  const story = open();
  for (const name of ['a', 'b']) {
    story.node(name, 1);
    story.pod(`old-${name}`, { nodeName: name });
  }
  story.pod('high', { priority: 1000 });
  await story.run();
  const [first] = story.sent[0]!.split(' ').slice(1);
  await story.after(90);
  await story.after(1);
  expect(story.verdictOn('high')).toContain(`pod default/${first} is still terminating`);
  await story.after(60);
  const others = story.sent.slice(2).map((sent) => sent.split(' ')[1]);
  expect(new Set(others)).toEqual(new Set(['old-a', 'old-b'].filter((name) => name !== first)));
  story.terminateAll();
  await story.run();
  expect(Object.keys(story.bound)).toContain('high');
});

it('PE21: the second of two entities takes other victims, or waits', async () => {
  const story = open();
  for (const name of ['a', 'b']) {
    story.node(name, 1);
    story.pod(`old-${name}`, { nodeName: name });
  }
  story.holds = (verb) => verb === 'delete';
  for (const name of ['first', 'second', 'third']) {
    story.group(name, 1);
    story.members(name, 1, { priority: 1000 });
  }
  await story.run();
  expect(Object.keys(story.reserved).sort()).toEqual(['first-0', 'second-0']);
  expect(story.sent.sort()).toEqual(['mark old-a', 'mark old-b']);
  await story.release();
  story.terminateAll();
  await story.after(1);
  expect(Object.keys(story.bound).sort()).toEqual(['first-0', 'second-0']);
});

it('PE30: waits for pods that terminate already, and evicts none', async () => {
  const story = open();
  for (const name of ['a', 'b']) {
    story.node(name, 1);
    story.pod(`old-${name}`, { nodeName: name, deleting: name === 'a' });
  }
  story.pod('high', { priority: 1000 });
  await story.run();
  expect([story.sent, story.reserved, story.stored('high')!.nominatedNodeName]).toEqual([[], { high: 'a' }, 'a']);
  story.terminateAll();
  await story.run();
  expect(story.bound).toMatchObject({ high: 'a' });
});

it('PE21: the second of two entities finds victims while the first one is being bound in its reserved capacity', async () => {
  const story = open();
  story.node('a', 4);
  story.group('low', 1);
  story.members('low', 4, { nodeName: 'a' });
  story.group('one', 2);
  story.members('one', 2, { priority: 1000 });
  await story.run();
  story.terminateAll();
  expect(await story.core.attempt()).toBe('planned');
  story.group('two', 2);
  story.members('two', 2, { priority: 1000 });
  expect(await story.core.attempt()).toBe('rejected');
  expect(story.verdictOn('two-0')).toContain('preemption: evicting 2 pods');
});

it('a bound member is not beyond the quorum because of a member that is still being bound', async () => {
  const story = open();
  story.node('a', 3);
  story.group('low', 2);
  story.members('low', 2, { nodeName: 'a' });
  story.pod('late', { group: 'low' });
  expect(await story.core.attempt()).toBe('planned');
  story.pod('high', { priority: 1000 });
  expect(await story.core.attempt()).toBe('rejected');
  expect(story.reserved).toEqual({});
  await story.core.accept('late');
  story.change('late', { nodeName: 'a' });
  await story.after(10);
  expect(Object.keys(story.reserved)).toEqual(['high']);
  expect(story.sent.map((sent) => sent.split(' ')[0])).toEqual(['mark', 'delete']);
});
