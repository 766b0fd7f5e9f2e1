import { expect, it } from 'vitest';
import { TurnStory } from '../testing/turn-story.ts';

it('takes the predicted start back at once from an entity whose turn another one gets', async () => {
  const story = new TurnStory();
  for (const name of ['a', 'b']) {
    story.node(name, 4);
    story.pod(`old-${name}`, { nodeName: name, cpu: 4, runtime: '600s' });
  }
  story.gang('big', 2, { cpu: 4 });
  await story.after(30);
  story.gang('high', 2, { cpu: 4, priority: 10, spec: { preemptionPolicy: 'Never' } });
  await story.after(40);
  expect(story.predictedStartOf('big-0')).toBe(600);
  await story.after(22);
  expect(story.predictedStartOf('high-0')).toBe(600);
  expect(story.predictedStartOf('big-0')).toBeUndefined();
});

it('names the entity ahead, not its own turn in another pool, in the verdict of one that would fit without reservations', async () => {
  const story = new TurnStory({ poolLabel: 'pool' });
  story.node('x', 5, { pool: 'x' });
  story.node('y', 4, { pool: 'y' });
  story.pod('old-x', { nodeName: 'x', cpu: 2, runtime: '600s' });
  story.pod('short-x', { nodeName: 'x', cpu: 1, runtime: '600s', runs: 140 });
  story.pod('old-y', { nodeName: 'y', cpu: 1, runtime: '300s' });
  story.pod('first', { cpu: 4, nodeSelector: { pool: 'y' } });
  await story.after(62);
  story.gang('second', 2, { cpu: 2 });
  await story.after(62);
  // The turn in the other pool is renewed.
  await story.after(40);
  expect(story.reserved).toEqual({ x: ['second-0', 'second-1'], y: ['first'] });
  const { message } = story.queueing.harness.core.verdictOf('second-0')!;
  expect(message).toContain('Capacity is reserved for default/first');
  expect(message).not.toContain('Capacity is reserved for default/second');
});
