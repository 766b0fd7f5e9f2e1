import { expect, test } from 'vitest';
import { BackfillStory } from '../testing/backfill-story.ts';

/** Two nodes of two cores, both in use. */
function full(): BackfillStory {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) {
    story.core.node({ name: node, cpu: 2 });
    story.running(`old-${node}`, node, { cpu: 2, runtime: '10m' }, 600);
  }
  return story;
}

test('BF4: a gang that becomes gated while it waits does not keep the next one from a turn', async () => {
  const story = full();
  story.gang('first', 2, { cpu: 2, runtime: '1h' });
  await story.pass(10);
  story.gang('second', 2, { cpu: 2, runtime: '1h' });
  await story.pass(10);
  story.remove('first-0');
  await story.pass(80);
  expect(story.core.states()['gang/default/first']).toBe('gated');
  expect(story.holders).toEqual(['second']);
});

test('BF4: a gang that becomes gated just before its prediction does not keep the next one from a turn', async () => {
  const story = full();
  story.gang('first', 2, { cpu: 2, runtime: '1h' });
  await story.pass(10);
  story.gang('second', 2, { cpu: 2, runtime: '1h' });
  await story.pass(49);
  // The prediction for the first gang is now due, and no attempt has been made.
  story.core.harness.clock.advance(5_000);
  expect(story.core.states()['gang/default/first']).toBe('active');
  story.remove('first-0');
  await story.pass(80);
  expect(story.holders).toEqual(['second']);
});

test('the deadline of a pod in a million years does not fail the attempt of another entity', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 2 });
  story.running('eternal', 'a', { activeDeadlineSeconds: 9e15 });
  story.running('old', 'b', { cpu: 2, runtime: '10m' });
  story.gang('big', 2, { cpu: 2, runtime: '1h' });
  await story.pass(120);
  expect(story.verdictOn('big-0')).toContain('2 Insufficient cpu');
});

test('BF13: a pod that never finishes terminating does not keep the turn on its node', async () => {
  const story = new BackfillStory();
  for (const node of ['a', 'b']) story.core.node({ name: node, cpu: 4 });
  story.running('stuck', 'a', { cpu: 4, runtime: '30m' });
  for (let i = 1; i <= 4; i++) story.running(`old-${i}`, 'b', { runtime: `${i * 10}m` }, i * 600);
  await story.pass(5);
  story.core.change('stuck', { deleting: true, deletionTimestamp: story.now / 1000 + 30 });
  story.pod('big', { cpu: 4, runtime: '1h' });
  let count = 0;
  await story.pass(3_600, () => story.pod(`small-${count++}`, { runtime: '25m' }, 1_500), 30);
  expect(story.nodeOf('big')).toBe('b');
});

test('BF5: a new node brings the start forward', async () => {
  const story = new BackfillStory();
  for (const name of ['a', 'b']) story.core.node({ name, cpu: 4 });
  story.running('old-a', 'a', { cpu: 4, runtime: '1h' });
  story.running('old-b', 'b', { cpu: 4, runtime: '2h' });
  story.gang('big', 2, { cpu: 4, runtime: '1h' });
  await story.pass(70);
  expect(story.verdictOn('big-0')).toContain('02:00Z');
  story.core.node({ name: 'c', cpu: 4 });
  await story.pass(40);
  expect(story.verdictOn('big-0')).toContain('01:00Z');
  expect(Object.values(story.reserved).sort()).toEqual(['a', 'c']);
});

test('BF4: a gang whose minMember changes loses its turn at once, and gets one for what it now needs', async () => {
  const story = new BackfillStory();
  for (const name of ['a', 'b', 'c']) {
    story.core.node({ name, cpu: 4 });
    story.running(`old-${name}`, name, { cpu: 4, runtime: '30m' });
  }
  story.gang('big', 3, { cpu: 4 });
  await story.pass(70);
  for (const minMember of [1, 2, 3, 2]) {
    story.core.group({ name: 'big', minMember });
    expect(story.reserved).toEqual({});
    await story.pass(10);
    expect(Object.keys(story.reserved)).toHaveLength(minMember);
  }
});
