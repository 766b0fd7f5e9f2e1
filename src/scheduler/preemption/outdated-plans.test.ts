import { describe, expect, it } from 'vitest';
import { PreemptionStory } from '../testing/preemption-story.ts';

/** Pod `high` evicts both pods of the node. The mark of `old-1` has not been sent yet. */
async function betweenMarks(): Promise<PreemptionStory> {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 2);
  for (const name of ['old-0', 'old-1']) story.pod(name, { nodeName: 'a' });
  story.pod('high', { cpu: 2, priority: 1000 });
  story.holds = (verb, name) => verb === 'mark' && name === 'old-1';
  await story.run();
  return story;
}

it('a victim that fails before its mark is sent gets none, and the others are evicted', async () => {
  const story = await betweenMarks();
  story.change('old-1', { phase: 'Failed' });
  await story.release();
  expect(story.sent).toEqual(['mark old-0', 'delete old-0']);
  story.terminateAll();
  await story.run();
  expect(story.bound).toMatchObject({ high: 'a' });
});

it('a preemption for one member ends when another member of the gang cannot be bound, because nothing is reserved for that', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  for (const name of ['a', 'b', 'c']) story.node(name, 1);
  story.group('high', 3);
  story.members('high', 3, { priority: 1000 });
  const { core } = story;
  expect(await core.attempt()).toBe('planned');
  const [bound, first, second] = core.binds.map(({ binding }) => binding);
  await core.accept(bound!.name);
  story.change(bound!.name, { nodeName: bound!.nodeName });
  // Another component takes the node of a member, whose Binding then fails.
  story.pod('old', { nodeName: first!.nodeName });
  await core.reject(first!.name, 'refused');
  story.holds = (verb) => verb === 'delete';
  core.harness.clock.advance(2_000);
  expect(await core.attempt()).toBe('rejected');
  expect(story.sent).toEqual(['mark old']);
  // Not even the new verdicts have been written yet.
  story.lives = (verb) => verb !== 'verdict';
  await core.reject(second!.name, 'refused');
  await story.release();
  expect(story.sent).toEqual(['mark old', 'unmark old']);
});

describe('two gangs of one priority that preempt on one node', () => {
  it('both start, although the victims of the first are gone before those of the second', async () => {
    const story = new PreemptionStory('DefaultPreemption');
    story.node('a', 4);
    for (let i = 0; i < 4; i++) story.pod(`old-${i}`, { nodeName: 'a' });
    const evicted: string[][] = [];
    for (const group of ['one', 'two']) {
      const before = story.sent.length;
      story.group(group, 2);
      story.members(group, 2, { priority: 1000 });
      await story.run();
      evicted.push(story.sent.slice(before).flatMap((sent) => /^delete (.*)/.exec(sent)?.[1] ?? []));
    }
    const [first, second] = evicted as [string[], string[]];
    expect([first.length, second.length]).toEqual([2, 2]);
    for (const name of first) story.remove(name);
    await story.after(1);
    expect(Object.keys(story.reserved).sort()).toEqual(['one-0', 'one-1', 'two-0', 'two-1']);
    for (const name of second) story.remove(name);
    await story.after(1);
    expect(Object.keys(story.bound).sort()).toEqual(['one-0', 'one-1', 'two-0', 'two-1']);
    expect(await story.metric('tutti_preemption_outcomes_total')).toContainEqual({
      labels: { outcome: 'bound' },
      value: 2,
    });
  });
});

it('a pod whose delete was accepted leaves, although its plan has ended and the watch does not show it yet', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 4);
  story.group('low', 2);
  story.members('low', 4, { nodeName: 'a' });
  story.hides = (verb) => verb === 'delete';
  story.pod('first', { priority: 1000 });
  await story.run();
  story.remove('first');
  story.pod('second', { cpu: 2, priority: 1000 });
  await story.run();
  expect(story.sent.filter((sent) => sent.startsWith('delete'))).toHaveLength(2);
});

it('a gang of mixed priorities takes no capacity that is reserved with more than its lowest', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  for (const name of ['a', 'b']) {
    story.node(name, 1, { labels: { name } });
    story.pod(`old-${name}`, { nodeName: name });
  }
  story.pod('holder', { priority: 200, nodeSelector: { name: 'a' } });
  await story.run();
  story.group('mixed', 2);
  story.pod('mixed-0', { group: 'mixed', priority: 10, nodeSelector: { name: 'b' } });
  story.pod('mixed-1', { group: 'mixed', priority: 300, nodeSelector: { name: 'a' } });
  await story.run();
  expect(story.reserved).toEqual({ holder: 'a' });
  expect(story.sent).toEqual(['mark old-a', 'delete old-a']);
  expect(story.verdictOn('mixed-0')).toContain(
    'No pod is preempted: capacity on a nominated node is reserved for pod default/holder, and other members have a lower priority than default/mixed-1.',
  );
});

it('two entities wait for a victim that is not evicted after all: one fits beside it, once the other has given up', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 5);
  story.pod('old', { cpu: 4, nodeName: 'a' });
  story.holds = (verb) => verb === 'delete';
  for (const [name, cpu] of [
    ['first', 2],
    ['large', 2],
    ['small', 1],
  ] as const) {
    story.pod(name, { cpu, priority: 1000 });
    await story.run();
  }
  expect(Object.keys(story.reserved).sort()).toEqual(['first', 'large', 'small']);
  story.remove('first');
  await story.core.settle();
  expect(Object.keys(story.reserved)).not.toContain('large');
  await story.run();
  expect(Object.keys(story.bound)).toContain('small');
});

describe('a terminating member of a started group', () => {
  async function startedGang(minMember: number): Promise<PreemptionStory> {
    const story = new PreemptionStory('DefaultPreemption');
    for (const name of ['a', 'b', 'c']) story.node(name, 1);
    story.group('old', minMember);
    story.members('old', 3);
    await story.run();
    return story;
  }

  it('keeps its capacity for its replacement: no pod of its priority waits for it', async () => {
    const story = await startedGang(3);
    story.change('old-0', { deleting: true });
    story.pod('next');
    await story.run();
    expect(story.reserved).toEqual({});
    story.remove('old-0');
    await story.run();
    expect(Object.keys(story.bound)).not.toContain('next');
    story.pod('old-again', { group: 'old' });
    await story.run();
    expect(Object.keys(story.bound)).toContain('old-again');
  });

  it('keeps no more capacity than its group needs: others wait for the rest, and evict no pod', async () => {
    const story = new PreemptionStory('DefaultPreemption');
    story.group('old', 2);
    for (let i = 0; i < 8; i++) story.node(`a${i}`, 1);
    story.members('old', 8, { priority: 10 });
    await story.run();
    for (let i = 0; i < 6; i++) {
      story.node(`low-${i}`, 1);
      story.pod(`low-${i}`, { nodeName: `low-${i}` });
    }
    // The group needs one replacement.
    for (let i = 0; i < 7; i++) story.change(`old-${i}`, { deleting: true });
    story.group('next', 6);
    story.members('next', 6, { priority: 10 });
    await story.run();
    expect(story.sent).toEqual([]);
    expect(Object.keys(story.reserved)).toHaveLength(6);
  });

  it('keeps no capacity if that for the replacement is already reserved', async () => {
    const story = new PreemptionStory('DefaultPreemption');
    for (const name of ['a', 'b', 'c', 'd']) story.node(name, 1);
    story.group('old', 3);
    story.members('old', 4);
    await story.run();
    for (const name of ['old-0', 'old-1']) story.change(name, { deleting: true });
    story.remove('old-0');
    story.pod('next');
    await story.run();
    expect(story.reserved).toMatchObject({ next: story.stored('old-1')!.nodeName });
  });

  it('is awaited by a pod of higher priority', async () => {
    const story = await startedGang(3);
    story.change('old-0', { deleting: true });
    story.pod('high', { priority: 1000 });
    await story.run();
    const node = story.stored('old-0')!.nodeName;
    expect(story.sent).toEqual([]);
    expect(story.reserved).toEqual({ high: node });
    story.remove('old-0');
    await story.run();
    expect(story.bound).toMatchObject({ high: node });
  });

  it('leaves its capacity to a pod that waited for it before the group needed a replacement', async () => {
    const story = await startedGang(2);
    story.change('old-0', { deleting: true });
    story.pod('next');
    await story.run();
    const node = story.stored('old-0')!.nodeName;
    expect(story.reserved).toEqual({ next: node });
    story.change('old-1', { deleting: true });
    story.remove('old-0');
    await story.run();
    expect(story.bound).toMatchObject({ next: node });
  });
});

it('nothing is deleted if another component has taken the capacity while the marks were written', async () => {
  const story = await betweenMarks();
  story.pod('other', { nodeName: 'a', priority: 2000 });
  await story.release();
  expect(story.sent).toEqual(['mark old-0', 'mark old-1', 'unmark old-0', 'unmark old-1']);
  expect(story.reserved).toEqual({});
});

it('another preemption follows at once if another component has taken the capacity, and after a pause if that happens again', async () => {
  const story = await betweenMarks();
  for (const node of ['b', 'c']) {
    story.node(node, 2);
    story.pod(`old-${node}`, { cpu: 2, nodeName: node });
  }
  story.pod('other-a', { nodeName: 'a', priority: 2000 });
  await story.release((verb) => verb === 'mark');
  await story.after(1);
  expect(story.reserved).toEqual({ high: 'c' });
  story.pod('other-c', { nodeName: 'c', priority: 2000 });
  await story.release();
  await story.after(100);
  expect(story.reserved).toEqual({});
  expect(story.verdictOn('high')).toContain('its nodes have changed, and it would no longer fit; next try not before');
  await story.after(20);
  expect(story.reserved).toEqual({ high: 'b' });
});

it('nothing is deleted if other pods have ended while the marks were written', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 4);
  for (const name of ['old-0', 'old-1']) story.pod(name, { nodeName: 'a', priority: -1 });
  story.pod('other', { cpu: 2, nodeName: 'a' });
  story.pod('high', { cpu: 2, priority: 1000 });
  story.holds = (verb, name) => verb === 'mark' && name === 'old-1';
  await story.run();
  story.remove('other');
  await story.release();
  await story.after(2);
  expect(story.sent).toEqual(['mark old-0', 'mark old-1', 'unmark old-0', 'unmark old-1']);
  expect(story.bound).toMatchObject({ high: 'a' });
});

it('a member that leaves a lost node after an eviction does not count towards the quorum', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.group('low', 2);
  for (const [i, name] of ['a', 'b', 'c'].entries()) {
    story.node(name, 1, { labels: { name } });
    story.pod(`low-${i}`, { group: 'low', nodeName: name });
  }
  story.hides = (verb) => verb === 'delete';
  story.pod('first', { priority: 1000, nodeSelector: { name: 'b' } });
  await story.run();
  expect(story.sent).toEqual(['mark low-1', 'delete low-1']);
  story.remove('first');
  story.removeNode('b');
  story.pod('second', { priority: 1000, nodeSelector: { name: 'c' } });
  await story.run();
  expect(story.sent).toHaveLength(2);
});

it('nothing is evicted for capacity that a terminating member leaves to its group, which has never started', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 4);
  story.group('old', 3);
  story.members('old', 3);
  const { core } = story;
  expect(await core.attempt()).toBe('planned');
  const plannedGroupUid = core.harness.cluster.gang('default/old')!.spec!.uid;
  for (const name of ['old-0', 'old-1']) {
    await core.accept(name);
    story.change(name, { nodeName: 'a', plannedGroupUid, plannedQuorum: 3 });
  }
  await core.reject('old-2', 'refused');
  story.pod('low', { nodeName: 'a', priority: -1 });
  story.change('old-0', { deleting: true });
  story.pod('high', { cpu: 2 });
  await story.run();
  expect(story.sent).toEqual([]);
  expect(Object.keys(story.reserved)).not.toContain('high');
});
