import { describe, expect, it } from 'vitest';
import { scenarioEnd } from './scenario.ts';
import type { ScenarioEnd } from './scenario.ts';
import { Story } from './story.ts';
import { summarize } from './summary.ts';
import type { Summary } from './summary.ts';
import { groupOf, podOf } from './testing/observed-objects.ts';

function storyOf(...groups: readonly string[]): Story {
  const story = new Story();
  for (const group of groups) {
    story.change(0, { kind: 'group', group: groupOf(group, 2) });
    for (const index of [0, 1]) story.change(0, { kind: 'pod', pod: podOf(`${group}-${index}`) });
  }
  return story;
}

function move(story: Story, atMs: number, state: Parameters<typeof podOf>[1], ...pods: readonly string[]): void {
  for (const pod of pods) story.change(atMs, { kind: 'pod', pod: podOf(pod, state) });
}

const bound = { nodeName: 'a', phase: 'Running' } as const;
const finished = { nodeName: 'a', phase: 'Succeeded' } as const;

describe('summarize', () => {
  it('returns exit code 0 if every group started all together', () => {
    const story = storyOf('red', 'blue');
    move(story, 500, bound, 'red-0', 'red-1');
    move(story, 2_500, finished, 'red-0', 'red-1');
    move(story, 2_600, bound, 'blue-0', 'blue-1');
    move(story, 4_600, finished, 'blue-0', 'blue-1');
    expect(summarize(story, { kind: 'finished' }, 4_650)).toEqual({
      lines: [
        'red    scheduled at 0.50s, finished at 2.50s, 2 succeeded',
        'blue   scheduled at 2.60s, finished at 4.60s, 2 succeeded',
        '0 partial starts',
        'scenario took 4.65s, including control plane startup',
      ],
      exitCode: 0,
    });
  });

  it('returns exit code 3 and the period in which a group was partially bound, even if it was scheduled later', () => {
    const story = storyOf('red');
    move(story, 500, bound, 'red-0');
    move(story, 2_000, bound, 'red-1');
    move(story, 3_000, finished, 'red-0', 'red-1');
    const { lines, exitCode } = summarize(story, { kind: 'finished' }, 3_000);
    expect(exitCode).toBe(3);
    expect(lines).toContain('partial start: red had 1 of 2 members bound from 0.50s to 2.00s (1.50s)');
    expect(lines).toContain('1 partial start');
  });

  it('returns exit code 3 and the cause if pods with a look-alike of the label started one by one', () => {
    const story = new Story();
    story.change(0, { kind: 'group', group: groupOf('red', 2) });
    const lookAlikes = [{ key: 'scheduling.k8s.io/pod-group', name: 'red', isAnnotation: false }];
    for (const name of ['a', 'b']) {
      story.change(500, { kind: 'pod', pod: podOf(name, { group: undefined, lookAlikes, ...finished }) });
    }
    expect(summarize(story, { kind: 'finished' }, 3_000)).toEqual({
      lines: [
        'red    pending: pods such as a have the label scheduling.k8s.io/pod-group=red instead of ' +
          'scheduling.x-k8s.io/pod-group=red, so they start one by one; correct the key',
        '2 pods without a PodGroup: 2 finished',
        '2 pods without the label of PodGroup red started one by one',
        '0 partial starts',
        'scenario took 3.00s, including control plane startup',
      ],
      exitCode: 3,
    });
  });

  it('returns exit code 3 for a deadlock', () => {
    const story = storyOf('red', 'blue');
    move(story, 500, bound, 'red-0', 'blue-0');
    const end = scenarioEnd({
      story,
      nowMs: 5_500,
      appliedMs: 0,
      pods: ['default/red-0'],
      jobs: [],
      timeoutMs: 60_000,
    });
    expect(end?.kind).toBe('deadlock');
    const { lines, exitCode } = summarize(story, end!, 5_500);
    expect(exitCode).toBe(3);
    expect(lines.at(-1)).toMatch(/^deadlock: red and blue are partially bound/);
  });

  it('returns exit code 4 and the verdict if a group is still pending', () => {
    const story = storyOf('red');
    move(story, 500, { verdict: 'red-0 requests 9 CPU' }, 'red-0');
    const { lines, exitCode } = summarize(story, { kind: 'quiet' }, 10_500);
    expect(exitCode).toBe(4);
    expect(lines[0]).toBe('red    pending: red-0 requests 9 CPU');
  });

  it('returns exit code 4 if a group or a pod without a group failed, but not if minMember members succeeded', () => {
    const failed = { ...finished, phase: 'Failed' } as const;
    const exitCode = (...phases: (typeof failed | typeof finished)[]): number => {
      const story = storyOf('red');
      phases.forEach((phase, index) => move(story, 500, phase, `red-${index}`));
      return summarize(story, { kind: 'finished' }, 1_000).exitCode;
    };
    expect(exitCode(failed, failed)).toBe(4);
    expect(exitCode(finished, failed)).toBe(4);
    expect(exitCode(finished, finished, failed)).toBe(0);
    const story = new Story();
    story.change(500, { kind: 'pod', pod: podOf('lone', { ...failed, group: undefined }) });
    expect(summarize(story, { kind: 'finished' }, 1_000).exitCode).toBe(4);
  });

  it('judges a Job by its status, not by pods that it replaced, and returns exit code 4 if the Job failed', () => {
    const reported = (end: 'Complete' | 'Failed' | undefined): { kind: string | undefined; summary: Summary } => {
      const story = new Story();
      const ofJob = { group: undefined, isOfJob: true };
      story.change(100, {
        kind: 'job',
        job: { key: 'default/train', end: undefined, reason: '', mislabeled: undefined },
      });
      story.change(500, { kind: 'pod', pod: podOf('train-0', { ...finished, ...ofJob, phase: 'Failed' }) });
      story.change(600, { kind: 'pod', pod: podOf('train-1', { ...finished, ...ofJob }) });
      story.change(700, { kind: 'job', job: { key: 'default/train', end, reason: 'Because', mislabeled: undefined } });
      const input = { story, nowMs: 800, appliedMs: 0, pods: [], jobs: ['default/train'], timeoutMs: 60_000 };
      return { kind: scenarioEnd(input)?.kind, summary: summarize(story, { kind: 'finished' }, 800) };
    };
    expect(reported(undefined).kind).toBeUndefined();
    expect(reported('Complete')).toMatchObject({ kind: 'finished', summary: { exitCode: 0 } });
    expect(reported('Complete').summary.lines).toContain('Job train  Complete');
    expect(reported('Failed')).toMatchObject({ kind: 'finished', summary: { exitCode: 4 } });
    expect(reported('Failed').summary.lines).toContain('Job train  Failed: Because');
    const story = new Story();
    story.change(100, {
      kind: 'job',
      job: { key: 'default/train', end: undefined, reason: '', mislabeled: undefined },
    });
    story.change(200, { kind: 'job-gone', key: 'default/train' });
    expect(story.isJobOver('default/train')).toBe(true);
    expect(story.isJobOver('default/never-seen')).toBe(false);
  });

  it('returns exit code 4 if the timeout expired, even if all pods started', () => {
    const story = storyOf('red');
    move(story, 500, bound, 'red-0', 'red-1');
    expect(summarize(story, { kind: 'timeout' }, 60_000).exitCode).toBe(4);
    expect(summarize(story, { kind: 'quiet' }, 60_000).exitCode).toBe(0);
  });
});

describe('scenarioEnd', () => {
  const pods = ['default/red-0', 'default/red-1'];
  const endKind = (story: Story, nowMs: number): ScenarioEnd['kind'] | undefined =>
    scenarioEnd({ story, nowMs, appliedMs: 100, pods, jobs: [], timeoutMs: 120_000 })?.kind;

  it('ends the scenario when all applied pods have finished or were deleted', () => {
    const story = storyOf('red');
    expect(endKind(story, 200)).toBeUndefined();
    move(story, 1_000, finished, 'red-0');
    expect(endKind(story, 1_000)).toBeUndefined();
    story.change(1_100, { kind: 'pod-gone', key: 'default/red-1' });
    expect(endKind(story, 1_100)).toBe('finished');
  });

  it('ends the scenario when nothing has changed for ten seconds', () => {
    const story = storyOf('red');
    move(story, 5_000, bound, 'red-0', 'red-1');
    expect(endKind(story, 14_999)).toBeUndefined();
    expect(endKind(story, 15_000)).toBe('quiet');
  });

  it('ends no scenario for inactivity or a deadlock while a pod will still end without outside help', () => {
    let isMoving = true;
    const story = new Story(() => isMoving);
    for (const name of ['red', 'blue']) {
      story.change(0, { kind: 'group', group: groupOf(name, 2) });
      move(story, 5_000, bound, `${name}-0`);
    }
    expect(endKind(story, 60_000)).toBeUndefined();
    expect(story.tick(60_000).map(({ kind }) => kind)).not.toContain('deadlock');
    isMoving = false;
    expect(endKind(story, 60_000)).toBe('deadlock');
    expect(story.tick(60_000).map(({ kind }) => kind)).toContain('deadlock');
  });

  it('ends the scenario when the timeout expires, even if pods still change', () => {
    const story = storyOf('red');
    move(story, 119_999, bound, 'red-0', 'red-1');
    expect(endKind(story, 120_000)).toBe('timeout');
  });
});
