import { describe, expect, it } from 'vitest';
import { defaultPreemption } from '../../plugins/registry.ts';
import type { PodOptions } from '../../testkit/builders/pod.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';

const highest = { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '2147483647' } };

function storyOf(nodes: Readonly<Record<string, number>>): PreemptionStory {
  const story = new PreemptionStory(undefined, defaultPreemption);
  for (const [name, cpu] of Object.entries(nodes)) story.node(name, cpu);
  return story;
}

function started(second: number): PodOptions {
  return { status: { startTime: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() } };
}

function deleted(story: PreemptionStory): string[] {
  return story.sent.filter((sent) => sent.startsWith('delete')).map((sent) => sent.slice('delete '.length));
}

describe('I10: the annotation pod-deletion-cost', () => {
  it('protects no pod at the cost of those of other owners: the one that started last goes', async () => {
    const story = storyOf({ a: 2 });
    story.pod('victim', { namespace: 'other', nodeName: 'a', ...started(1) });
    story.pod('hostile', { nodeName: 'a', ...highest, ...started(2) });
    story.pod('high', { priority: 10 });
    await story.run();
    expect(deleted(story)).toEqual(['hostile']);
  });

  it('protects no gang at the cost of other pods', async () => {
    const story = storyOf({ a: 4 });
    story.group('hostile', 1);
    for (let i = 0; i < 3; i++)
      story.pod(`hostile-${i}`, { group: 'hostile', nodeName: 'a', ...highest, ...started(2) });
    story.pod('victim', { namespace: 'other', nodeName: 'a', ...started(1) });
    story.pod('high', { priority: 10 });
    await story.run();
    expect(deleted(story).join()).toMatch(/^hostile-/);
  });

  it('decides which members of a gang go first, whenever they have started', async () => {
    for (const starts of [
      [1, 1, 1],
      [1, 2, 3],
      [3, 2, 1],
    ]) {
      const story = storyOf({ a: 4 });
      story.group('low', 1);
      for (const [i, second] of starts.entries())
        story.pod(`low-${i}`, { group: 'low', nodeName: 'a', ...(i !== 1 && highest), ...started(second) });
      story.pod('older', { nodeName: 'a', ...started(0) });
      story.pod('high', { priority: 10 });
      await story.run();
      expect(deleted(story), String(starts)).toEqual(['low-1']);
    }
  });
});
