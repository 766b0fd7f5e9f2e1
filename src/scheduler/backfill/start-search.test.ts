import { expect, it } from 'vitest';
import { TurnStory } from '../testing/turn-story.ts';

it('gives no turn to a member beyond the quorum that only its own siblings keep from a node', async () => {
  const story = new TurnStory();
  story.node('a', 4);
  story.queueing.group({ name: 'elastic', minMember: 1, createdAt: Date.UTC(2025, 0, 1) });
  story.pod('elastic-0', { group: 'elastic', cpu: 4, runtime: '600s' });
  story.pod('elastic-1', { group: 'elastic', cpu: 4, runtime: '600s' });
  await story.after(120);
  expect(story.started.has('elastic-0')).toBe(true);
  expect(story.reserved).toEqual({});
});
