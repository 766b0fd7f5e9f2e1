import { expect, it } from 'vitest';
import { TurnStory } from '../testing/turn-story.ts';

/** Node a has 2 of 4 CPUs free, and all of it is reserved for pod big, which waits for pod old-2. */
async function halfFreeNode(): Promise<TurnStory> {
  const story = new TurnStory();
  story.node('a', 4);
  story.pod('old-1', { nodeName: 'a', cpu: 2, runtime: '100s', runs: 100 });
  story.pod('old-2', { nodeName: 'a', cpu: 2, runtime: '200s' });
  story.pod('big', { cpu: 4 });
  await story.after(110);
  expect(story.reserved).toEqual({ a: ['big'] });
  return story;
}

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

it('reports that pods wait for capacity once the entity whose turn it was has started', async () => {
  const story = await halfFreeNode();
  story.pod('small', { cpu: 1 });
  await story.after(1);
  expect(story.verdicts.get('small')).toMatchObject({ waitsFor: 'turn' });
  // The entity whose turn it is has the longer backoff.
  story.queueing.change('big', { labels: { changed: 'once' } });
  await story.run();
  story.ends('old-2');
  await story.after(15);
  expect(story.started.get('big')).toBeDefined();
  expect(story.verdicts.get('small')).toMatchObject({ reason: 'Unschedulable', waitsFor: 'capacity' });
});

it('reports that a gang waits for its turn if only members unlike the explained one would fit', async () => {
  const story = await halfFreeNode();
  story.queueing.group({ name: 'mixed', minMember: 1 });
  story.pod('nowhere', { group: 'mixed', cpu: 2, nodeSelector: { zone: 'b' } });
  story.pod('small', { group: 'mixed' });
  await story.after(1);
  expect(story.verdicts.get('small')).toMatchObject({ reason: 'WaitingForTurn', waitsFor: 'turn' });
});

it('reports that a pod waits for its turn although its Bindings to the reserved node have failed', async () => {
  const story = new TurnStory({ drainAfterMs: 60_000 });
  story.node('a', 4);
  story.pod('old', { nodeName: 'a', cpu: 3 });
  story.pod('big', { cpu: 4 });
  await story.after(5);
  story.failing.add('small');
  story.pod('small', { cpu: 1 });
  await story.after(40);
  expect(story.verdicts.get('small')).toMatchObject({ reason: 'SchedulerError' });
  await story.after(50);
  expect(story.reserved).toEqual({ a: ['big'] });
  expect(story.verdicts.get('small')).toMatchObject({ reason: 'WaitingForTurn', waitsFor: 'turn' });
});
