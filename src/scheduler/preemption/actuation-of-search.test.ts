import { describe, expect, it } from 'vitest';
import { PreemptionStory } from '../testing/preemption-story.ts';

/** A story in which DefaultPreemption and the scheduler's search choose the victims. */
function open(): PreemptionStory {
  return new PreemptionStory('DefaultPreemption');
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

it('PE15 - a victim that did not terminate is neither chosen nor awaited again, and others are', async () => {
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

it('PE21 - the second of two entities takes other victims, or waits', async () => {
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

it('PE30 - waits for pods that terminate already, and evicts none', async () => {
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

it('PE21 - the second of two entities finds victims while the first one is being bound in its reserved capacity', async () => {
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

it('starts before its last victim is gone if other capacity became free meanwhile', async () => {
  const story = open();
  story.node('a', 2);
  // Another scheduler has over-committed the node.
  for (const name of ['old-0', 'old-1']) story.pod(name, { nodeName: 'a', deleting: true });
  story.pod('important', { nodeName: 'a', priority: 2000 });
  story.pod('high', { priority: 1000 });
  await story.run();
  expect(story.verdictOn('high')).toContain('Waiting for 2 of 2 victims to terminate');
  story.remove('important');
  await story.after(1);
  expect(story.bound).toEqual({});
  story.remove('old-0');
  await story.after(1);
  expect(story.bound).toEqual({ high: 'a' });
});

it.each(['b', 'c', 'd', 'e', 'f', 'g'])(
  'PE45 - a higher priority takes node %s, which is equal to a node with capacity reserved for another gang',
  async (equal) => {
    const story = open();
    for (const name of ['v', 'w']) {
      story.node(name, 1);
      story.pod(`old-${name}`, { nodeName: name });
    }
    story.node('a', 1);
    story.group('mid', 3);
    story.members('mid', 3, { priority: 100 });
    await story.run();
    expect(Object.values(story.reserved).sort()).toEqual(['a', 'v', 'w']);
    story.node(equal, 1);
    story.pod('high', { priority: 1000 });
    await story.run();
    expect(story.bound.high).toBe(equal);
    expect(Object.values(story.reserved).sort()).toEqual(['a', 'v', 'w']);
  },
);

/** Gang mid has reserved capacity on node v, where a pod terminates, and on node a, where pod high preempts a pod beside it. */
async function besideHigher(): Promise<PreemptionStory> {
  const story = open();
  story.node('v', 1);
  story.pod('slow', { nodeName: 'v' });
  story.node('a', 4);
  story.pod('large', { cpu: '2500m', nodeName: 'a', priority: 100 });
  story.group('mid', 2);
  story.members('mid', 2, { priority: 100 });
  await story.run();
  expect(Object.values(story.reserved).sort()).toEqual(['a', 'v']);
  story.holds = (verb, name) => verb === 'delete' && name === 'large';
  story.pod('high', { cpu: 3, priority: 1000 });
  await story.run();
  expect(story.reserved).toMatchObject({ high: 'a' });
  return story;
}

describe('a plan beside that of a higher priority', () => {
  it('PE46 - stays if it fits, and waits for the victims of both', async () => {
    const story = await besideHigher();
    expect(Object.keys(story.reserved).sort()).toEqual(['high', 'mid-0', 'mid-1']);
    story.terminateAll();
    await story.run();
    expect(Object.keys(story.bound)).toEqual(['large']);
    await story.release();
    story.terminateAll();
    await story.run();
    expect(Object.keys(story.bound).sort()).toEqual(['high', 'mid-0', 'mid-1']);
  });

  it('PE46 - no longer waits for the victims of the higher priority if that gives up', async () => {
    const story = await besideHigher();
    story.terminateAll();
    await story.run();
    story.remove('high');
    await story.release();
    await story.run();
    expect(story.sent.slice(-1)).toEqual(['unmark large']);
    expect(Object.keys(story.bound).sort()).toEqual(['large', 'mid-0', 'mid-1']);
  });

  it('PE46 - ends as a whole if it does not fit', async () => {
    const story = await besideHigher();
    await story.release();
    story.remove('large');
    await story.run();
    expect(story.bound).toMatchObject({ high: 'a' });
    story.pod('higher', { priority: 1000 });
    await story.run();
    expect(story.bound).toMatchObject({ higher: 'a' });
    expect(story.reserved).toEqual({});
    expect(story.core.harness.events).toContain('PreemptionDisplaced mid');
  });
});

describe('capacity that victims leave on other nodes', () => {
  /** Two gangs fill two nodes each. `first` preempts one of them, whose marks are written and whose deletes are not sent yet. */
  async function opened(): Promise<PreemptionStory> {
    const story = open();
    for (const name of ['a', 'b', 'c', 'd']) story.node(name, 2);
    for (const [group, nodes] of Object.entries({ one: ['a', 'b'], two: ['c', 'd'] })) {
      story.group(group, 2);
      for (const nodeName of nodes) story.pod(`${group}-${nodeName}`, { group, cpu: 2, nodeName });
    }
    story.holds = (verb) => verb === 'delete';
    story.pod('first', { cpu: 2, priority: 1000 });
    await story.run();
    story.pod('second', { cpu: 2, priority: 1000 });
    await story.run();
    return story;
  }

  it('is reserved for the next pod, which evicts no other gang', async () => {
    const story = await opened();
    expect(story.sent).toHaveLength(2);
    expect(Object.keys(story.reserved)).toEqual(['first', 'second']);
    expect(story.verdictOn('second')).toContain('preemption: waiting for 1 pod to terminate');
    await story.release();
    story.terminateAll();
    await story.after(1);
    expect(Object.keys(story.bound)).toEqual(expect.arrayContaining(['first', 'second']));
    expect(story.sent).toHaveLength(4);
  });

  it('is not reserved any more if they stay', async () => {
    const story = await opened();
    story.remove('first');
    expect(story.reserved).toEqual({});
    await story.after(10);
    expect(story.verdictOn('second')).toContain('preemption: evicting 2 pods');
    await story.release();
    story.terminateAll();
    await story.after(1);
    expect(Object.keys(story.bound)).toContain('second');
    expect(Object.keys(story.bound)).toHaveLength(3);
  });
});

it('a pod that waits for its victims does not go back to a node that has rejected its Bindings', async () => {
  const story = open();
  story.node('a', 1);
  story.pod('old', { nodeName: 'a' });
  story.node('b', 1);
  story.pod('high', { priority: 1000 });
  story.binding = () => ['high'];
  await story.run();
  await story.after(10);
  story.pod('other', { nodeName: 'b', priority: 2000 });
  await story.after(30);
  expect(story.reserved).toEqual({ high: 'a' });
  story.remove('other');
  await story.after(2);
  expect(story.reserved).toEqual({ high: 'a' });
  story.binding = () => [];
  story.terminateAll();
  await story.run();
  expect(story.bound).toEqual({ high: 'a' });
});
