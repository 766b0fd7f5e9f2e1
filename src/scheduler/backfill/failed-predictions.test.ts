import { expect, test } from 'vitest';
import { BackfillStory } from '../testing/backfill-story.ts';

/** Two pools of one node each, in use for a long time. */
function twoPools(): BackfillStory {
  const story = new BackfillStory({ poolLabel: 'pool' });
  for (const name of ['a', 'b']) {
    story.core.node({ name, cpu: 2, labels: { pool: name } });
    story.running(`old-${name}`, name, { runtime: '1000m' });
  }
  return story;
}

test('BF14: gangs that no single pool can hold do not keep others from a turn', async () => {
  const story = twoPools();
  for (let i = 1; i <= 8; i++) story.gang(`wide-${i}`, 2, { cpu: 2, runtime: `${i}h` });
  await story.pass(5);
  story.pod('one', { cpu: 2, runtime: '1h' });
  await story.pass(180);
  expect(story.holders).toEqual(['one']);
});

test('BF14: entities whose pool is taken do not keep others from a turn in another pool', async () => {
  const story = twoPools();
  for (let i = 0; i < 8; i++) {
    story.pod(`a${i}`, { cpu: 2, runtime: `${i + 1}h`, nodeSelector: { pool: 'a' } });
    await story.pass(1);
  }
  story.pod('b0', { cpu: 2, runtime: '1h', nodeSelector: { pool: 'b' } });
  await story.pass(180);
  expect(story.holders).toEqual(['a0', 'b0']);
  // The next one in order gets the turn in the pool at once.
  story.remove('a0');
  await story.pass(10);
  expect(story.holders).toEqual(['b0', 'a1']);
});

test('BF16: of many equal gangs that no pool can hold, one is tried now and then', async () => {
  const story = twoPools();
  for (let i = 0; i < 200; i++) story.gang(`wide-${i}`, 2, { cpu: 2, runtime: '1h' });
  await story.pass(5);
  story.pod('one', { cpu: 2, runtime: '1h' });
  await story.pass(3_600, undefined, 30);
  expect(story.holders).toEqual(['one']);
  expect(story.results.rejected).toBeLessThan(50);
});

test('BF14: an entity gets a turn in its pool however many pools there are', async () => {
  const story = new BackfillStory({ poolLabel: 'pool' });
  for (let i = 100; i < 140; i++) {
    story.core.node({ name: `n${i}`, cpu: 2, labels: { pool: `p${i}` } });
    story.running(`old-${i}`, `n${i}`, { cpu: 2, runtime: '1000m' });
  }
  story.pod('wide', { cpu: 2, runtime: '1h', nodeSelector: { pool: 'p139' } });
  await story.pass(120);
  expect(story.reserved).toEqual({ wide: 'n139' });
});
