import { describe, expect, it } from 'vitest';
import { ServerError } from '../../client/api-errors.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { gangFillsNode, oneGang, PreemptionStory, refused } from '../testing/preemption-story.ts';

describe('a victim that two preemptions evict', () => {
  /** Pod `first`, and pod `second` of a higher priority, evict the whole group for one core each. No delete has been sent yet. */
  async function both(): Promise<PreemptionStory> {
    const story = gangFillsNode(4);
    story.holds = (verb) => verb === 'delete';
    story.pod('first', { priority: 100 });
    await story.run();
    story.pod('second', { priority: 1000 });
    await story.run();
    return story;
  }

  it.each(['first', 'second'])('keeps its mark when only %s gives up', async (name) => {
    const story = await both();
    story.remove(name);
    await story.release();
    expect(story.sent.filter((sent) => sent.startsWith('unmark'))).toEqual([]);
    expect(story.pods.filter(({ deleting }) => deleting)).toHaveLength(4);
  });

  it('loses its mark when both give up', async () => {
    const story = await both();
    for (const name of ['second', 'first']) story.remove(name);
    await story.release();
    expect(story.pods.filter(({ preemptionMark, deleting }) => preemptionMark !== undefined || deleting)).toEqual([]);
  });

  it('goes with its group, even if the process ends after the first delete', async () => {
    const story = await both();
    story.remove('second');
    await story.core.settle();
    let deletes = 1;
    story.lives = (verb) => verb !== 'delete' || deletes-- > 0;
    await story.release();
    story.remove('first');
    story.takeOver();
    await story.core.settle();
    expect(story.bound).toEqual({});
  });
});

it('a preemption that ends because another one is displaced does not wait for the victims of a third', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 6);
  story.pod('old', { cpu: 2, nodeName: 'a' });
  story.holds = (verb) => verb === 'delete';
  for (const [name, cpu, priority] of [
    ['first', 5, 100],
    ['second', 1, 50],
  ] as const) {
    story.pod(name, { cpu, priority });
    await story.run();
  }
  expect(story.reserved).toEqual({ first: 'a', second: 'a' });
  story.pod('lowest', { cpu: 2, nodeName: 'a', priority: -1 });
  story.pod('highest', { cpu: 4, priority: 1000 });
  await story.run();
  expect(story.reserved).toEqual({ highest: 'a' });
  story.remove('old');
  await story.after(1000);
  expect(story.bound).toMatchObject({ highest: 'a' });
});

it('a plan that was withdrawn does not tear a group, one member of which terminates with its mark', async () => {
  const story = gangFillsNode(2);
  story.holds = (verb) => verb === 'delete';
  story.pod('high', { cpu: 2, priority: 1000 });
  await story.run();
  story.change('low-0', { deleting: true });
  story.remove('high');
  await story.release();
  story.change('low-0', { labels: { seen: 'again' } });
  await story.after(10);
  expect(story.sent).toEqual(['mark low-0', 'mark low-1', 'unmark low-1']);
});

it.each([
  ['a group', 'low'],
  ['single pods', undefined],
])('a plan that counts on victims of an earlier one ends if the API rejects their deletes: %s', async (_, group) => {
  const story = new PreemptionStory('DefaultPreemption');
  for (const name of ['a', 'b']) story.node(name, 2);
  story.group('low', 2);
  for (const name of ['low-0', 'low-1']) story.pod(name, { nodeName: 'a', ...(group !== undefined && { group }) });
  story.pod('other', { nodeName: 'b', cpu: 2, priority: 50 });
  story.delays = (verb, name) => verb === 'delete' && name.startsWith('low');
  story.pod('first', { cpu: 2, priority: 1000 });
  await story.run();
  story.remove('first');
  story.holds = (verb) => verb === 'mark';
  story.group('both', 2);
  story.members('both', 2, { cpu: 2, priority: 200 });
  await story.run();
  expect(Object.keys(story.reserved)).toHaveLength(2);
  story.fails = (verb, name) => (verb === 'delete' && name.startsWith('low') ? refused() : undefined);
  await story.release((verb) => verb === 'mark');
  await story.release();
  expect(story.sent.filter((sent) => sent.startsWith('delete'))).toEqual([]);
  expect(story.reserved).toEqual({});
});

it('a mark waits until an earlier one was taken back, although that has not been sent', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 1);
  story.pod('old', { nodeName: 'a' });
  story.holds = (verb) => verb === 'delete';
  story.pod('first', { priority: 100 });
  await story.run();
  story.holds = (verb) => verb === 'mark' || verb === 'delete';
  story.pod('second', { priority: 1000 });
  await story.run();
  for (const name of ['first', 'second']) story.remove(name);
  await story.release((verb) => verb === 'unmark');
  story.pod('third', { priority: 1000 });
  await story.run();
  await story.release();
  expect(story.sent).toEqual(['mark old', 'unmark old', 'mark old', 'delete old']);
});

it('marks may take longer than victims to terminate; a victim whose mark was not written in time may be chosen again', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 2);
  for (const name of ['old-0', 'old-1']) story.pod(name, { nodeName: 'a' });
  story.pod('high', { cpu: 2, priority: 1000 });
  story.holds = (verb, name) => verb === 'mark' && name === 'old-1';
  await story.run();
  await story.after(100);
  expect(story.reserved).toEqual({ high: 'a' });
  await story.after(820);
  expect(story.reserved).toEqual({});
  await story.release();
  await story.after(100);
  story.terminateAll();
  await story.run();
  expect(story.bound).toEqual({ high: 'a' });
});

it('a gang does not rely on capacity that is reserved with more than its lowest priority', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 4);
  story.pod('old', { cpu: 4, nodeName: 'a' });
  story.group('mixed', 2);
  for (const [i, priority] of [10, 300].entries()) story.pod(`mixed-${i}`, { cpu: 2, group: 'mixed', priority });
  await story.run();
  expect(Object.keys(story.reserved).sort()).toEqual(['mixed-0', 'mixed-1']);
  story.pod('middle', { cpu: 2, priority: 200 });
  await story.run();
  expect(story.reserved).toEqual({ middle: 'a' });
});

/** Pods wait for Permit. */
const gate: Plugin = {
  name: 'Gate',
  permit: (_state, { labels }) => (labels.held === 'yes' ? { waitMs: 600_000 } : undefined),
};

it('the plan of a recalled pod ends if a higher priority has taken its capacity', async () => {
  const story = new PreemptionStory('DefaultPreemption', {}, [gate]);
  story.node('a', 2);
  story.pod('old', { cpu: 2, nodeName: 'a' });
  story.pod('low', { cpu: 2, priority: 10, labels: { held: 'yes' } });
  await story.run();
  story.terminateAll();
  await story.run();
  expect([story.reserved, story.core.harness.cluster.assumedCount]).toEqual([{ low: 'a' }, 1]);
  story.pod('high', { cpu: 2, priority: 1000, labels: { held: 'yes' } });
  expect(await story.core.attempt()).toBe('rejected');
  expect(story.reserved).toEqual({ high: 'a' });
});

it('a plan keeps all its reservations while the members fail to bind one after the other', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 2);
  story.pod('old', { cpu: 2, nodeName: 'a' });
  story.group('high', 2);
  story.members('high', 2, { priority: 1000 });
  await story.run();
  const { core } = story;
  story.terminateAll();
  expect(await core.attempt()).toBe('planned');
  const names = core.binds.map(({ binding }) => binding.name);
  const seen: number[] = [];
  for (const name of names) {
    await core.reject(name, 'refused');
    seen.push(Object.keys(story.reserved).length);
  }
  expect(seen).not.toContain(1);
});

it('a group goes whole if a delete without a response had an effect that the watch shows only after the plan has ended', async () => {
  const story = oneGang();
  story.hides = (verb) => verb === 'delete';
  story.fails = (verb) =>
    verb === 'delete' ? new ServerError('try later', { status: 500, reason: '', request: '', causes: [] }) : undefined;
  story.loses = (_verb, name) => name === 'low-0';
  story.pod('high', { priority: 1000 });
  await story.run();
  story.fails = () => undefined;
  story.remove('high');
  await story.core.settle();
  story.hides = () => false;
  story.reveal();
  for (let i = 0; i < 10; i++) await story.after(60);
  expect(story.bound).toEqual({});
});

it('members of a basic group do not rely on the same capacity', async () => {
  const story = new PreemptionStory('DefaultPreemption');
  story.node('a', 3);
  story.pod('large', { nodeName: 'a', cpu: 2, priority: -1 });
  story.pod('small', { nodeName: 'a' });
  story.nativeGroup({ name: 'red', priority: 10 });
  for (const name of ['first', 'second', 'third']) story.pod(name, { schedulingGroup: 'red', priority: 10 });
  await story.run();
  expect(story.pods.filter(({ deleting }) => deleting)).toHaveLength(2);
  expect(story.reserved).toEqual({ first: 'a', second: 'a', third: 'a' });
});
