import { describe, expect, it } from 'vitest';
import type { TimelineDelta } from '../../api/timeline/timeline-message.ts';
import type { Pod } from '../../api/pod.ts';
import { defaultPlugins } from '../../plugins/registry.ts';
import type { QueuedEntity } from '../../queue/queued-entity.ts';
import { CoreHarness } from '../../testkit/core-harness.ts';
import { PreemptionStory } from '../testing/preemption-story.ts';
import { TimelineFeed } from './timeline-feed.ts';
import { Timeline } from './timeline.ts';

function linesOf(delta: TimelineDelta | undefined): readonly string[] {
  return (delta?.transitions ?? []).map(({ kind, entity, state }) => `${kind} ${entity} ${state}`);
}

describe('a pod that joins a group', () => {
  it('while capacity is reserved for it, ends its lane once', async () => {
    const story = new PreemptionStory();
    const feed = story.core.harness.core.timeline;
    feed.start();
    story.node('a', 1);
    story.pod('old', { nodeName: 'a' });
    const { uid } = story.pod('high', { priority: 1000 });
    await story.run();
    story.change('high', { podGroupKey: 'default/red' });
    expect(linesOf(feed.delta()).slice(-2)).toEqual([`Removed pod/${uid} Gone`, 'Added gang/default/red NotReady']);
    expect(feed.delta()).toBeUndefined();
  });

  it.each<[string, (timeline: Timeline, pod: Pod) => void]>([
    [
      'while an attempt for it finds no nodes',
      (timeline, pod) =>
        timeline.rejected(entityOf(pod), { reason: 'Unschedulable', message: 'full', waitsFor: 'capacity' }),
    ],
    ['while an attempt for it finds nodes', (timeline, pod) => timeline.planned(entityOf(pod), [{ nodeName: 'a' }])],
    [
      'before its reservation ends',
      (timeline, pod) => timeline.reservationEnded({ kind: 'nomination', owner: pod, nodeName: 'a' }),
    ],
  ])('%s, ends its lane once', (_when, recordLate) => {
    const harness = new CoreHarness({ plugins: defaultPlugins });
    const { cluster, clock, core } = harness;
    const parts = { cluster, clock, queue: core.queue, profiles: core.profiles };
    const timeline = new Timeline(parts);
    const feed = new TimelineFeed({ ...parts, timeline, verdictOf: () => undefined });
    timeline.begin('e');
    feed.start();
    const before = harness.pod({ name: 'lone', uid: 'lone' });
    timeline.podChanged(undefined, before, clock.now());
    const now = { ...before, podGroupKey: 'default/red' };
    cluster.setPod(now);
    timeline.podChanged(before, now, clock.now());
    recordLate(timeline, before);
    expect(linesOf(feed.delta())).toEqual([
      'Added pod/lone Waiting',
      'Removed pod/lone Gone',
      'Added gang/default/red NotReady',
    ]);
  });
});

function entityOf(pod: Pod): Pick<QueuedEntity, 'schedulingEntity' | 'rejectionPosition'> {
  return { schedulingEntity: { kind: 'pod', pod }, rejectionPosition: -1 };
}
