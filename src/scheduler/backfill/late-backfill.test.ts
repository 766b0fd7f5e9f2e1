import { expect, test } from 'vitest';
import { BackfillStory } from '../testing/backfill-story.ts';

test('BF11: pods that run for a little longer than declared cannot put a start off for ever', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) {
    story.core.node({ name: node, cpu: 4 });
    story.running(`old-${node}`, node, { runtime: '10m' }, 600);
  }
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  let count = 0;
  await story.pass(645, () => {
    for (let i = 0; i < 2; i++) story.pod(`small-${count}`, { runtime: '1s', job: `job-${count++}` }, 29);
  });
  expect(story.bound('big')).toBe(2);
  expect(story.started).toBeGreaterThan(100);
});

test('BF13: while a pod overruns, others are backfilled until its new expected end', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 4 });
  story.running('old', 'a', { runtime: '10m' });
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  await story.pass(900);
  story.pod('small', { runtime: '2m', job: 'small' }, 120);
  await story.pass(30);
  expect(story.bound('small')).toBe(1);
  story.pod('tall', { runtime: '10m', job: 'tall' }, 600);
  await story.pass(30);
  expect(story.bound('tall')).toBe(0);
});

test('BF12: a nomination by another component does not let a pod without a declared end pass', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 4 });
  story.running('old', 'a', { cpu: 4, runtime: '30m' });
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  await story.pass(70);
  expect(story.holders).toEqual(['big']);
  story.pod('nominated', { nominatedNodeName: 'a' });
  story.pod('short', { runtime: '5m', job: 'short' });
  await story.pass(20);
  expect([story.nodeOf('nominated'), story.nodeOf('short')]).toEqual([undefined, 'b']);
});

test('BF12: a group that preempts for lack of capacity does not evict pods for capacity that is reserved', async () => {
  const story = new BackfillStory();
  story.core.node({ name: 'a', cpu: 4 });
  for (let i = 0; i < 4; i++) story.running(`low-${i}`, 'a', { runtime: '30m' });
  story.pod('holder', { cpu: 4, priority: 10, runtime: '1h', spec: { preemptionPolicy: 'Never' } });
  await story.pass(70);
  expect(story.holders).toEqual(['holder']);
  story.pod('equal', { cpu: 4, priority: 10, runtime: '1h' });
  await story.pass(30);
  expect(story.core.harness.evicted).toEqual([]);
});

test('BF6: the replacement of a lost member goes before the entity for which its node is drained', async () => {
  const story = new BackfillStory({ drainAfterMs: 60_000 });
  for (const name of ['x', 'y']) story.core.node({ name, cpu: 4 });
  story.gang('started', 2, { cpu: 2 });
  await story.pass(5);
  story.pod('holder', {
    cpu: 4,
    runtime: '1h',
    nodeSelector: { 'kubernetes.io/hostname': story.nodeOf('started-0')! },
  });
  await story.pass(70);
  expect(story.holders).toEqual(['holder']);
  const node = story.nodeOf('started-0');
  story.running('full', node === 'x' ? 'y' : 'x', { cpu: 2 });
  story.remove('started-0');
  await story.pass(2);
  story.pod('started-2', { group: 'started', cpu: 2 });
  await story.pass(2);
  expect(story.nodeOf('started-2')).toBe(node);
});

test('BF13: a backfilled pod that declares a longer run time afterwards loses its credit', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 4 });
  story.running('old', 'a', { cpu: 4, runtime: '30m' });
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  await story.pass(70);
  story.pod('sly', { runtime: '1m', job: 'sly' });
  await story.pass(5);
  expect(story.nodeOf('sly')).toBe('b');
  story.core.change('sly', { runtimeSeconds: 36_000 });
  await story.pass(150);
  // The next prediction notices it.
  story.core.node({ name: 'c', cpu: 1 });
  await story.pass(35);
  expect(await story.metric('tutti_runtime_overruns_total')).toMatchObject([{ value: 1 }]);
  story.pod('sly-too', { cpu: 2, runtime: '1m', job: 'sly' });
  await story.pass(10);
  expect(story.nodeOf('sly-too')).toBeUndefined();
});
