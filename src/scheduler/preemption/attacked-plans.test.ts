import { describe, expect, it } from 'vitest';
import { PreemptionStory } from '../testing/preemption-story.ts';

describe('I3: a plan on a node whose victims die and on a free node', () => {
  it('ends as a whole, in the step in which a higher priority takes the free node; no further delete is sent', async () => {
    const story = new PreemptionStory('DefaultPreemption');
    story.node('n1', 2);
    for (const name of ['old-0', 'old-1']) story.pod(name, { nodeName: 'n1' });
    story.node('n2', 2, { labels: { disk: 'ssd' } });
    story.group('x', 2);
    story.members('x', 2, { cpu: 2, priority: 1000 });
    story.holds = (verb, name) => verb === 'delete' && name === 'old-1';
    await story.run();
    expect(Object.values(story.reserved).sort()).toEqual(['n1', 'n2']);
    story.terminateAll();
    expect(story.sent).toEqual(['mark old-0', 'mark old-1', 'delete old-0']);
    story.pod('higher', { cpu: 2, priority: 2000, nodeSelector: { disk: 'ssd' } });
    expect(await story.core.attempt()).toBe('planned');
    expect(story.reserved).toEqual({});
    await story.release();
    await story.run();
    expect(story.sent.slice(3)).toEqual(['unmark old-1']);
    expect(story.bound).toEqual({ 'old-1': 'n1', higher: 'n2' });
    await story.after(2);
    expect(story.pods.map(({ nominatedNodeName }) => nominatedNodeName).join('')).toBe('');
  });

  it('keeps its reservations if a lower priority asks for the capacity', async () => {
    const story = new PreemptionStory('DefaultPreemption');
    story.node('n1', 1);
    story.pod('old', { nodeName: 'n1' });
    story.node('n2', 1);
    story.group('x', 2);
    story.members('x', 2, { priority: 1000 });
    await story.run();
    for (const priority of [0, 999, 1000]) story.pod(`lower-${priority}`, { priority });
    await story.after(2);
    expect(Object.values(story.reserved).sort()).toEqual(['n1', 'n2']);
    story.terminateAll();
    await story.after(2);
    expect(Object.keys(story.bound).sort()).toEqual(['x-0', 'x-1']);
  });
});

it('a displaced plan with 3,000 deletes that were not sent takes each mark back once', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  for (let i = 0; i < 30; i++) story.node(`n${i}`, 100);
  story.group('low', 3_000);
  for (let i = 0; i < 3_000; i++) story.pod(`low-${i}`, { group: 'low', nodeName: `n${i % 30}` });
  story.pod('high', { priority: 1000 });
  story.holds = (verb) => verb === 'delete';
  await story.run();
  expect(story.sent).toHaveLength(3_000);
  story.remove('high');
  await story.release();
  while (story.pods.some(({ preemptionMark }) => preemptionMark !== undefined)) await story.core.settle();
  expect(story.sent).toHaveLength(6_000);
});

describe('I9: victims that their ReplicaSet re-creates 60 times', () => {
  it.each([
    ['one of two victims is gone', ['old-a']],
    ['no victim is gone', []],
  ])('wake the preemptor neither by their creation nor by their rejection or verdict (%s)', async (_what, gone) => {
    const story = new PreemptionStory('DefaultPreemption');
    for (const name of ['a', 'b']) {
      story.node(name, 1);
      story.pod(`old-${name}`, { nodeName: name, owner: 'web' });
    }
    story.group('x', 2);
    story.members('x', 2, { priority: 1000 });
    await story.run();
    expect(story.pods.filter(({ deleting }) => deleting)).toHaveLength(2);
    for (const name of gone) story.remove(name);
    const isParked = (): void => expect(story.core.states()['gang/default/x']).toBe('unschedulable');
    isParked();
    for (let i = 0; i < 60; i++) {
      story.pod(`again-${i}`, { owner: 'web' });
      isParked();
      // Its rejection, and its verdict.
      expect(await story.core.attempt()).toMatch(/rejected|joined/);
      isParked();
      expect(story.verdictOn(`again-${i}`)).not.toBe('');
      await story.core.settle();
      isParked();
      // It is deleted and re-created, or retried.
      if (i % 2 === 0) story.remove(`again-${i}`);
      isParked();
    }
    story.terminateAll();
    expect(story.core.states()['gang/default/x']).toBe('active');
    await story.run();
    expect(Object.keys(story.bound).sort()).toEqual(['x-0', 'x-1']);
  });
});

describe('a gang with members of priority 10 and 900', () => {
  function mixed(minMember: number, priorities: readonly number[]): PreemptionStory {
    const story = new PreemptionStory('DefaultPreemption');
    story.node('a', priorities.length);
    story.group('mixed', minMember);
    for (const [i, priority] of priorities.entries())
      story.pod(`mixed-${i}`, { group: 'mixed', nodeName: 'a', priority });
    return story;
  }
  const left = (story: PreemptionStory): string[] =>
    Object.keys(story.bound).filter((name) => name.startsWith('mixed'));

  it('PE35 - loses no member of its quorum to a pod of priority 500, which its member of priority 900 defends', async () => {
    const story = mixed(2, [10, 900]);
    story.pod('x', { priority: 500 });
    await story.run();
    expect([story.sent, left(story)]).toEqual([[], ['mixed-0', 'mixed-1']]);
    expect(story.verdictOn('x')).toContain('preemption:');
  });

  it('PE35 - may lose its surplus of priority 10 to it, and no more', async () => {
    const story = mixed(2, [10, 10, 10, 900]);
    story.pod('x', { cpu: 3, priority: 500 });
    await story.run();
    expect(story.sent).toEqual([]);
    story.pod('small', { cpu: 2, priority: 500 });
    await story.run();
    expect(left(story)).toHaveLength(2);
    expect(left(story)).toContain('mixed-3');
  });

  it('PE35 - keeps its surplus of priority 900', async () => {
    const story = mixed(2, [10, 10, 900]);
    story.pod('x', { cpu: 2, priority: 500 });
    await story.run();
    expect(story.sent).toEqual([]);
  });

  it('PE35 - preempts no pod of priority 500', async () => {
    const story = new PreemptionStory('DefaultPreemption');
    story.node('a', 2);
    for (const name of ['old-0', 'old-1']) story.pod(name, { nodeName: 'a', priority: 500 });
    story.group('mixed', 2);
    for (const [i, priority] of [10, 900].entries()) story.pod(`mixed-${i}`, { group: 'mixed', priority });
    await story.run();
    expect(story.sent).toEqual([]);
    expect(story.verdictOn('mixed-1')).toContain('preemption: no pods of lower priority.');
  });
});

describe('a gang that is preempted whole, and of which a part runs on a node whose kubelet is gone', () => {
  function twoNodes(): PreemptionStory {
    const story = new PreemptionStory('DefaultPreemption');
    for (const name of ['a', 'b']) story.node(name, 2);
    story.group('low', 4);
    for (let i = 0; i < 4; i++) story.pod(`low-${i}`, { group: 'low', nodeName: i < 2 ? 'a' : 'b' });
    story.node('b', 2, { taints: ['node.kubernetes.io/unreachable:NoExecute'] });
    story.pod('high', { cpu: 2, priority: 1000 });
    return story;
  }

  it('lets the preemptor start once its own node is free', async () => {
    const story = twoNodes();
    await story.run();
    expect(story.reserved).toEqual({ high: 'a' });
    story.remove('low-0');
    expect(await story.run()).toEqual([]);
    story.remove('low-1');
    await story.run();
    expect(story.bound).toEqual({ high: 'a' });
    expect(await story.metric('tutti_preemption_outcomes_total')).toContainEqual({
      labels: { outcome: 'bound' },
      value: 1,
    });
    await story.after(120);
    expect(story.bound).toEqual({ high: 'a' });
    expect(story.core.harness.core.preemptions.inFlight).toBe(0);
  });

  it('is evicted to its end on that node as well, also when the node is deleted', async () => {
    const story = twoNodes();
    story.holds = (verb, name) => verb === 'delete' && name === 'low-3';
    await story.run();
    story.removeNode('b');
    await story.release();
    expect(story.pods.filter(({ name, deleting }) => name.startsWith('low') && !deleting)).toEqual([]);
    for (const name of ['low-0', 'low-1']) story.remove(name);
    await story.run();
    expect(story.bound).toEqual({ high: 'a' });
  });
});

describe('I7: the verdict says why nothing is preempted', () => {
  it('for a pod with preemptionPolicy Never, and for a gang with one such member', async () => {
    const story = new PreemptionStory('DefaultPreemption');
    story.node('a', 1);
    story.pod('old', { nodeName: 'a' });
    const never = { priority: 1000, spec: { preemptionPolicy: 'Never' } };
    story.pod('x', never);
    story.group('gang', 2);
    story.pod('gang-0', { group: 'gang', priority: 1000 });
    story.pod('gang-1', { group: 'gang', ...never });
    await story.run();
    expect(story.sent).toEqual([]);
    for (const name of ['x', 'gang-0', 'gang-1'])
      expect(story.verdictOn(name)).toContain('preemption: not eligible due to preemptionPolicy=Never.');
  });

  it('while victims of equal priority, or none, are there', async () => {
    const story = new PreemptionStory('DefaultPreemption');
    story.node('a', 1);
    story.pod('old', { nodeName: 'a', priority: 1000 });
    story.group('gang', 1);
    story.pod('gang-0', { group: 'gang', priority: 1000 });
    await story.run();
    expect(story.verdictOn('gang-0')).toContain('preemption: no pods of lower priority.');
  });
});
