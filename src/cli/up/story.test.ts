import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../base/testing/collect-garbage.ts';
import { Story } from './story.ts';
import type { StoryEvent } from './story.ts';
import { groupOf, nodeOf, podOf } from './testing/observed-objects.ts';

function kindsOf(events: readonly StoryEvent[]): string[] {
  return events.map(({ kind }) => kind);
}

describe('Story', () => {
  it('reports a group that is scheduled and finishes', () => {
    const story = new Story();
    const reported = [
      ...story.change(1, { kind: 'group', group: groupOf('red', 2) }),
      ...story.change(2, { kind: 'pod', pod: podOf('red-0') }),
      ...story.change(3, { kind: 'pod', pod: podOf('red-1') }),
      ...story.change(4, { kind: 'pod', pod: podOf('red-0', { nodeName: 'a' }) }),
      ...story.change(5, { kind: 'pod', pod: podOf('red-1', { nodeName: 'b' }) }),
      ...story.change(6, { kind: 'pod', pod: podOf('red-0', { nodeName: 'a', phase: 'Running' }) }),
      ...story.change(7, { kind: 'pod', pod: podOf('red-0', { nodeName: 'a', phase: 'Succeeded' }) }),
      ...story.change(8, { kind: 'pod', pod: podOf('red-1', { nodeName: 'b', phase: 'Failed', failure: 'OutOfcpu' }) }),
    ];
    expect(kindsOf(reported)).toEqual([
      'group-created',
      'created',
      'created',
      'bound',
      'bound',
      'scheduled',
      'running',
      'finished',
      'finished',
      'group-finished',
    ]);
    expect(reported.at(-1)).toEqual({ atMs: 8, kind: 'group-finished', group: 'default/red', succeeded: 1, failed: 1 });
  });

  it('reports a verdict of a group after it has been stable for 250 ms, and each text only once', () => {
    const story = new Story();
    story.change(0, { kind: 'group', group: groupOf('blue', 3) });
    const verdictOf = (name: string, verdict: string, atMs: number): void => {
      story.change(atMs, { kind: 'pod', pod: podOf(name, { verdict }) });
    };
    verdictOf('blue-0', '1 of 3 members exist', 100);
    verdictOf('blue-0', 'no capacity', 200);
    verdictOf('blue-1', 'no capacity', 210);
    expect(story.tick(400)).toEqual([]);
    expect(story.tick(450)).toEqual([
      { atMs: 450, kind: 'pending', group: 'default/blue', pod: undefined, verdict: 'no capacity' },
    ]);
    verdictOf('blue-2', 'no capacity', 500);
    expect(story.tick(5_000)).toEqual([]);
  });

  it('names a pending pod without a group, and reports nothing if the pod is already bound', () => {
    const story = new Story();
    const ungrouped = podOf('web', { group: undefined, verdict: 'no capacity' });
    story.change(0, { kind: 'pod', pod: ungrouped });
    expect(story.tick(1_000)).toMatchObject([{ kind: 'pending', pod: 'default/web', group: undefined }]);
    story.change(1_100, { kind: 'pod', pod: podOf('api', { group: undefined, verdict: 'full' }) });
    story.change(1_200, { kind: 'pod', pod: podOf('api', { group: undefined, verdict: 'full', nodeName: 'a' }) });
    expect(story.tick(9_000)).toEqual([]);
  });

  it('reports a group whose pods start one by one because their owner has the label, once', () => {
    const story = new Story();
    const mislabeled = { kind: 'Job', name: 'train', group: 'red' } as const;
    story.change(0, { kind: 'group', group: groupOf('red', 2) });
    story.change(1, { kind: 'job', job: { key: 'default/train', end: undefined, reason: '', mislabeled } });
    const pod = (name: string, state: object): void => {
      const owner = 'Job default/train';
      story.change(2, { kind: 'pod', pod: podOf(name, { group: undefined, owner, ...state }) });
    };
    pod('train-0', {});
    expect(story.tick(300)).toEqual([]);
    for (const name of ['train-0', 'train-1']) pod(name, { nodeName: 'a' });
    expect(story.tick(600)).toMatchObject([
      { kind: 'unlabeled', group: 'default/red', cause: expect.stringContaining('Job train has the label') as string },
    ]);
    expect(story.tick(900)).toEqual([]);
    for (const name of ['train-0', 'train-1', 'train-2']) pod(name, { nodeName: 'a', phase: 'Succeeded' });
    expect(story.unlabeledStarts()).toMatchObject([{ group: 'default/red', pods: 3 }]);
  });

  it('reports partially bound groups after one second and the deadlock after five, each once', () => {
    const story = new Story();
    for (const group of ['red', 'blue']) {
      story.change(0, { kind: 'group', group: groupOf(group, 3) });
      story.change(0, { kind: 'pod', pod: podOf(`${group}-0`, { nodeName: 'a', phase: 'Running' }) });
    }
    expect(kindsOf(story.tick(1_000))).toEqual([]);
    expect(kindsOf(story.tick(1_001))).toEqual(['partial', 'partial']);
    expect(kindsOf(story.tick(4_999))).toEqual([]);
    expect(kindsOf(story.tick(5_000))).toEqual(['deadlock']);
    expect(kindsOf(story.tick(5_100))).toEqual([]);
  });

  it('forgets the verdict of a deleted or recreated group, and reports that of the new group', () => {
    const story = new Story();
    const verdictIs = (uid: string): void => {
      story.change(0, { kind: 'group', group: { ...groupOf('red', 3), uid } });
      story.change(0, { kind: 'pod', pod: podOf('red-0', { verdict: 'full', uid: `${uid}-0` }) });
    };
    verdictIs('first');
    expect(kindsOf(story.tick(1_000))).toEqual(['pending']);
    verdictIs('second');
    expect(kindsOf(story.tick(2_000))).toEqual(['pending']);
    story.change(2_000, { kind: 'pod-gone', key: 'default/red-0' });
    expect(kindsOf(story.change(2_000, { kind: 'group-gone', key: 'default/red' }))).toEqual(['group-deleted']);
    expect(story.groupVerdict('default/red')).toBeUndefined();
    expect(story.history.groups()).toEqual([]);
  });

  it('does not count a node update as a change', () => {
    const story = new Story();
    story.change(0, { kind: 'group', group: groupOf('red', 3) });
    story.change(9_000, { kind: 'node', node: nodeOf('node-10') });
    story.change(9_000, { kind: 'node', node: nodeOf('node-9') });
    expect(story.nodes().map(({ name }) => name)).toEqual(['node-9', 'node-10']);
    expect(story.isQuiet(10_000, 0)).toBe(true);
  });

  it('reports a pod with another uid as a deleted pod and a created pod', () => {
    const story = new Story();
    story.change(0, { kind: 'pod', pod: podOf('red-0', { nodeName: 'a', phase: 'Running' }) });
    const reported = story.change(1, { kind: 'pod', pod: podOf('red-0', { uid: 'another' }) });
    expect(kindsOf(reported)).toEqual(['deleted', 'created']);
  });

  it('considers a pod over once it has finished or was deleted, but not before it was seen', () => {
    const story = new Story();
    expect(story.isOver('default/red-0')).toBe(false);
    story.change(0, { kind: 'pod', pod: podOf('red-0') });
    expect(story.isOver('default/red-0')).toBe(false);
    story.change(1, { kind: 'pod-gone', key: 'default/red-0' });
    expect(story.isOver('default/red-0')).toBe(true);
    // After forgetGone, deleted pods are unknown.
    story.forgetGone();
    expect(story.isOver('default/red-0')).toBe(false);
  });
});

describe('Story over a long time', () => {
  it('reports a group without a PodGroup each time its pods are recreated, and keeps no state in between', () => {
    const story = new Story();
    const verdictEvents = (atMs: number): string[] => {
      story.change(atMs, { kind: 'pod', pod: podOf('red-0', { verdict: 'no PodGroup' }) });
      const reported = kindsOf(story.tick(atMs + 500));
      story.change(atMs + 600, { kind: 'pod-gone', key: 'default/red-0' });
      expect(story.groupVerdict('default/red')).toBeUndefined();
      return reported;
    };
    expect(verdictEvents(0)).toEqual(['pending']);
    expect(verdictEvents(10_000)).toEqual(['pending']);
  });

  it('keeps no memory for deleted groups', async () => {
    const story = new Story();
    const runGroups = (from: number, rounds: number): void => {
      for (let round = from; round < from + rounds; round++) {
        const atMs = round * 1_000;
        const name = `g${round}`;
        story.change(atMs, { kind: 'group', group: groupOf(name, 2) });
        story.change(atMs + 1, { kind: 'pod', pod: podOf(`${name}-0`, { nodeName: 'a', verdict: 'no capacity' }) });
        story.change(atMs + 2, { kind: 'pod', pod: podOf(`${name}-1`, { nodeName: 'a' }) });
        for (const pod of [`${name}-0`, `${name}-1`])
          story.change(atMs + 3, { kind: 'pod-gone', key: `default/${pod}` });
        story.change(atMs + 4, { kind: 'group-gone', key: `default/${name}` });
      }
    };
    story.forgetGone();
    runGroups(0, 2_000);
    await collectGarbage(() => true);
    const before = process.memoryUsage().heapUsed;
    runGroups(2_000, 40_000);
    // 100 bytes per group would add up to about four times this limit.
    await collectGarbage(() => process.memoryUsage().heapUsed - before < 1024 * 1024);
    expect(story.history.groups()).toEqual([]);
  });
});
