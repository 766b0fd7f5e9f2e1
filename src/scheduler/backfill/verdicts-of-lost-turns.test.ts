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
