import { expect, test } from 'vitest';
import type { Job } from '../api/job.ts';
import { preemptionReason } from '../api/pod.ts';
import type { Pod } from '../api/pod.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { Builders } from '../testkit/builders/builders.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { RunTimes } from './run-times.ts';

const minute = 60_000;

function jobOf(job: Partial<Job>): Job {
  return {
    ...{ kind: 'Job', namespace: 'default', name: 'j', uid: 'j', cronJob: undefined },
    ...{ deadlineSeconds: 0, startedAt: 0 },
    ...job,
  };
}

class Story {
  readonly clock = new VirtualClock();
  readonly build = new Builders();
  readonly overruns: string[] = [];
  job: Job | undefined;
  readonly runTimes = new RunTimes({
    clock: this.clock,
    listed: { get: () => this.job as never },
    penaltyMs: 60 * minute,
    overrun: ({ name }) => this.overruns.push(name),
  });

  /** Returns a pod that started `sinceMinutes` ago. */
  running(options: PodOptions, sinceMinutes: number): Pod {
    const startedAt = this.clock.now() / 1000 - sinceMinutes * 60;
    return { ...this.build.projectedPod({ nodeName: 'a', ...options }), startedAt };
  }

  /** Minutes until the pod ends. */
  left(pod: Pod): number {
    return (this.runTimes.endOf(pod).at - this.clock.now()) / minute;
  }
}

test('a deadline beyond the year 9999 is no end', () => {
  const story = new Story();
  expect(story.left(story.running({ activeDeadlineSeconds: 9e15 }, 1))).toBe(Infinity);
  expect(story.left(story.running({ activeDeadlineSeconds: 9e15, runtime: '10m' }, 1))).toBe(9);
  story.job = jobOf({ deadlineSeconds: Number.MAX_SAFE_INTEGER, startedAt: story.clock.now() / 1000 });
  expect(story.left(story.running({ job: 'j' }, 1))).toBe(Infinity);
  expect(story.runTimes.endIfStartedNow([story.running({ job: 'j' }, 1)])).toBe(Infinity);
});

test('a pod that does not terminate in time is expected to take as long again', () => {
  const story = new Story();
  const pod = story.running({ runtime: '10m', deleting: true }, 1);
  const terminatesIn = (minutes: number): Pod => ({
    ...pod,
    deletionTimestamp: story.clock.now() / 1000 + minutes * 60,
  });
  expect(story.left(terminatesIn(5))).toBe(5);
  expect(story.runTimes.endOf(terminatesIn(5)).isEstimated).toBe(false);
  expect(story.left(terminatesIn(-5))).toBe(5);
  expect(story.runTimes.endOf(terminatesIn(-5)).isEstimated).toBe(true);
});

test('a pod that seems to have ended before it started ran for no time', () => {
  const story = new Story();
  story.runTimes.left({ ...story.running({ job: 'j' }, -60), phase: 'Succeeded' });
  expect(story.left(story.running({ job: 'j' }, -10))).toBe(10);
});

test('a pod that declares a longer run time while it runs still overruns the first one', () => {
  const story = new Story();
  const before = story.running({ runtime: '1s', job: 'j' }, 0);
  const pending = story.build.projectedPod({ runtime: '1s', job: 'j' });
  story.runTimes.seen(before.uid, before);
  const after = { ...before, runtimeSeconds: 36_000 };
  story.runTimes.seen(after.uid, after);
  expect(story.left(after)).toBe(600);
  story.clock.advance(minute);
  expect(story.left(after)).toBe(599);
  expect(story.overruns).toEqual([before.name]);
  expect(story.runTimes.endIfStartedNow([pending])).toBe(Infinity);
});

test('a pod that no longer declares a run time still overruns the first one', () => {
  const story = new Story();
  const before = story.running({ runtime: '1s', job: 'j' }, 0);
  story.runTimes.seen(before.uid, before);
  story.clock.advance(minute);
  story.runTimes.left({ ...before, runtimeSeconds: 0, phase: 'Succeeded' });
  expect(story.overruns).toEqual([before.name]);
});

test('a deadline that a Job gets after its pod has started does not excuse the annotation', () => {
  const story = new Story();
  const pod = story.running({ job: 'j', runtime: '1m' }, 0);
  story.runTimes.seen(pod.uid, pod);
  const startedAt = story.clock.now() / 1000;
  story.job = jobOf({ deadlineSeconds: 6_000, startedAt });
  story.clock.advance(2 * minute);
  expect(story.left(pod)).toBe(98);
  expect(story.overruns).toEqual([pod.name]);
});

test('a pod that exceeds its annotation but not the deadline of its Job is no overrun', () => {
  const story = new Story();
  const startedAt = story.clock.now() / 1000;
  story.job = jobOf({ deadlineSeconds: 6_000, startedAt });
  const pod = story.running({ job: 'j', runtime: '1m' }, 0);
  story.runTimes.seen(pod.uid, pod);
  story.clock.advance(2 * minute);
  expect(story.left(pod)).toBe(98);
  expect(story.overruns).toEqual([]);
});

test('the deadline of a Job that has not started counts from now', () => {
  const story = new Story();
  story.job = jobOf({ deadlineSeconds: 600, startedAt: 0 });
  const pod = story.build.projectedPod({ job: 'j' });
  const key = story.runTimes.keyOf(pod);
  story.clock.advance(minute);
  expect(story.runTimes.endIfStartedNow([pod])).toBe(story.clock.now() + 10 * minute);
  expect(story.runTimes.keyOf(pod)).toBe(key);
});

test('the Jobs of a CronJob share its run times and its penalty', () => {
  const story = new Story();
  const runOf = (job: string, options: PodOptions, sinceMinutes: number): Pod => {
    story.job = jobOf({ name: job, uid: job, cronJob: 'nightly' });
    return story.running({ job, ...options }, sinceMinutes);
  };
  story.runTimes.left({ ...runOf('nightly-1', {}, 20), phase: 'Succeeded' });
  expect(story.left(runOf('nightly-2', {}, 5))).toBe(15);
  story.left(runOf('nightly-3', { runtime: '1m' }, 5));
  expect(story.runTimes.endIfStartedNow([runOf('nightly-4', { runtime: '1m' }, 0)])).toBe(Infinity);
});

const longGrace = { terminationGracePeriodSeconds: 86_400 };

test('the containers of a pod whose deadline has passed have their grace period', () => {
  const story = new Story();
  const declared = { activeDeadlineSeconds: 60 };
  expect(story.left(story.running(declared, 0))).toBe(1);
  const stubborn = story.running({ ...declared, spec: longGrace }, 0);
  expect(story.left(stubborn)).toBe(1 + 1440 - 0.5);
  expect(story.runTimes.endIfStartedNow([stubborn])).toBe(story.clock.now() + 60_000 + 86_370_000);
  story.clock.advance(1440 * minute);
  story.runTimes.endOf(stubborn);
  expect(story.overruns).toEqual([]);
});

test.each([{ runtime: '60s' }, { activeDeadlineSeconds: 60 }])(
  'a pod that its user deletes with a long grace period overruns %s',
  (declared) => {
    const story = new Story();
    const pod = story.running({ ...declared, job: 'j' }, 0);
    story.runTimes.seen(pod.uid, pod);
    const deleted = { ...pod, deleting: true, deletionTimestamp: pod.startedAt + 86_400 };
    story.runTimes.seen(pod.uid, deleted);
    expect(story.left(deleted)).toBe(1440);
    story.clock.advance(1.5 * minute);
    story.runTimes.endOf(deleted);
    expect(story.overruns).toEqual([]);
    story.clock.advance(minute);
    expect(story.left(deleted)).toBe(1437.5);
    expect(story.overruns).toEqual([pod.name]);
    expect(story.runTimes.endIfStartedNow([story.build.projectedPod({ ...declared, job: 'j' })])).toBe(Infinity);
  },
);

test('a pod that is preempted may use its grace period', () => {
  const story = new Story();
  const pod = story.running({ runtime: '60s', job: 'j' }, 0);
  story.clock.advance(10 * minute);
  const victim = { ...pod, deleting: true, deletionTimestamp: pod.startedAt + 900, disruptedBy: preemptionReason };
  story.runTimes.left({ ...victim, phase: 'Failed' });
  expect(story.overruns).toEqual([]);
});

test('a pod overruns the deadline of its Job although the Job no longer has one, or no longer controls it', () => {
  for (const change of ['raise', 'remove', 'release'] as const) {
    const story = new Story();
    const job = jobOf({ deadlineSeconds: 60 });
    story.job = { ...job, startedAt: story.clock.now() / 1000 };
    const pod = story.running({ job: 'j' }, 0);
    story.runTimes.seen(pod.uid, pod);
    const later = change === 'release' ? { ...pod, controller: undefined } : pod;
    if (change === 'raise') story.job = { ...story.job, deadlineSeconds: 86_400 };
    if (change === 'remove') story.job = { ...story.job, deadlineSeconds: 0 };
    story.runTimes.seen(pod.uid, later);
    story.clock.advance(3 * minute);
    story.runTimes.endOf(later);
    expect(story.overruns, change).toEqual([pod.name]);
    story.job = { ...job, startedAt: story.clock.now() / 1000 };
    expect(story.runTimes.endIfStartedNow([story.running({ job: 'j' }, 0)]), change).toBe(Infinity);
  }
});

test('the deadline of a Job that has passed is no end of a pod that starts later', () => {
  const story = new Story();
  const startedAt = story.clock.now() / 1000 - 120;
  story.job = jobOf({ deadlineSeconds: 60, startedAt });
  expect(story.runTimes.endIfStartedNow([story.build.projectedPod({ job: 'j' })])).toBe(Infinity);
});

test('an annotation that understates the run time does not cost a pod the credit of its deadlines', () => {
  const story = new Story();
  const pod = story.running({ runtime: '1s', job: 'j' }, 10);
  story.runTimes.endOf(pod);
  expect(story.overruns).toEqual([pod.name]);
  const next = story.build.projectedPod({ activeDeadlineSeconds: 60, job: 'j' });
  expect(story.runTimes.endIfStartedNow([next])).toBe(story.clock.now() + minute);
});

test.each([{ runtime: '60m' }, { activeDeadlineSeconds: 3_600 }])(
  'a pod does not overrun because the wall clock jumps ahead: %s',
  (declared) => {
    const story = new Story();
    const pod = story.running({ ...declared, job: 'j' }, 0);
    story.runTimes.seen(pod.uid, pod);
    const now = story.clock.now.bind(story.clock);
    story.clock.now = () => now() + 120 * minute;
    story.runTimes.endOf(pod);
    story.clock.now = now;
    expect(story.overruns).toEqual([]);
    expect(story.runTimes.endIfStartedNow([pod])).toBeLessThan(Infinity);
    story.clock.advance(62 * minute);
    story.runTimes.endOf(pod);
    expect(story.overruns).toEqual([pod.name]);
  },
);
