import { expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Job } from '../api/job.ts';
import { Builders } from '../testkit/builders/builders.ts';
import type { PodOptions } from '../testkit/builders/pod.ts';
import { ResourceNames } from '../api/resource-names.ts';
import type { Pod } from '../api/pod.ts';
import { ListedObjects } from './listed-objects.ts';
import { RunTimes } from './run-times.ts';

interface SetUp {
  readonly clock: VirtualClock;
  readonly runTimes: RunTimes;
  /** Names of the pods that were reported as overruns. */
  readonly overruns: string[];
  /** Builds a pod that starts now. */
  readonly started: (options: PodOptions) => Pod;
  /** Returns seconds from now. */
  readonly endOf: (pod: Pod) => number;
}

function setUp(jobs: readonly Omit<Job, 'kind' | 'namespace' | 'cronJob'>[] = []): SetUp {
  const clock = new VirtualClock();
  const overruns: string[] = [];
  const listed = new ListedObjects();
  for (const job of jobs) listed.set({ kind: 'Job', namespace: 'default', cronJob: undefined, ...job });
  const runTimes = new RunTimes({
    clock,
    listed,
    penaltyMs: 60_000,
    overrun: ({ name }) => void overruns.push(name),
  });
  const build = new Builders({ resources: new ResourceNames() });
  return {
    clock,
    runTimes,
    overruns,
    started: (options) => ({
      ...build.projectedPod({ nodeName: 'a', ...options }),
      startedAt: Math.round(clock.now() / 1000),
    }),
    endOf: (pod) => (runTimes.endOf(pod).at - clock.now()) / 1000,
  };
}

it('prefers activeDeadlineSeconds to the annotation', () => {
  const { started, endOf } = setUp();
  expect(endOf(started({ activeDeadlineSeconds: 100, runtime: '10s' }))).toBe(100);
  expect(endOf(started({ runtime: '10s' }))).toBe(10);
  expect(endOf(started({}))).toBe(Infinity);
});

it('counts the deadline of a Job from the start of the Job, also for a pod that has not started', () => {
  const { clock, runTimes, started, endOf } = setUp([
    { name: 'train', uid: 'train', deadlineSeconds: 500, startedAt: Date.UTC(2026, 0, 1) / 1000 },
  ]);
  clock.advance(100_000);
  expect(endOf(started({ job: 'train' }))).toBe(400);
  expect(runTimes.endIfStartedNow([started({ job: 'train' })]) - clock.now()).toBe(400_000);
});

it('ignores a Job of the same name with another uid', () => {
  const { started, endOf } = setUp([{ name: 'train', uid: 'earlier', deadlineSeconds: 500, startedAt: 1_767_225_600 }]);
  expect(endOf(started({ job: 'train' }))).toBe(Infinity);
});

it('a terminating pod ends with its grace period', () => {
  const { started, endOf, clock } = setUp();
  const pod = started({});
  expect(endOf({ ...pod, deleting: true, deletionTimestamp: clock.now() / 1000 + 30 })).toBe(30);
});

it('estimates the end from the mean of the last two pods of the controller that succeeded', () => {
  const { clock, runTimes, started, endOf } = setUp();
  for (const seconds of [1000, 100, 200]) {
    const pod = started({ job: 'train' });
    clock.advance(seconds * 1000);
    runTimes.left({ ...pod, phase: 'Succeeded' });
  }
  const failed = started({ job: 'train' });
  clock.advance(7_000);
  runTimes.left({ ...failed, phase: 'Failed' });
  expect(endOf(started({ job: 'train' }))).toBe(150);
  expect(runTimes.endOf(started({ job: 'train' })).isEstimated).toBe(true);
  expect(endOf(started({ job: 'other' }))).toBe(Infinity);
  expect(runTimes.endIfStartedNow([started({ job: 'train' })])).toBe(Infinity);
});

it('expects an overrun to last as long again, and ignores the declarations of its owner for a while', () => {
  const { clock, runTimes, overruns, started, endOf } = setUp();
  const pod = started({ name: 'late', runtime: '10s', job: 'train' });
  clock.advance(110_000);
  expect(endOf(pod)).toBe(100);
  expect(runTimes.endOf(pod).isEstimated).toBe(true);
  expect(overruns).toEqual(['late']);
  const next = started({ runtime: '10s', job: 'train' });
  expect(runTimes.endIfStartedNow([next])).toBe(Infinity);
  expect(runTimes.endIfStartedNow([started({ runtime: '10s', job: 'other' })])).toBe(clock.now() + 10_000);
  clock.advance(60_000);
  expect(runTimes.endIfStartedNow([next])).toBe(clock.now() + 10_000);
});

it('reports an overrun once, whether a prediction or only its end shows it', () => {
  const { clock, runTimes, overruns, started } = setUp();
  const seen = started({ name: 'seen', runtime: '10s' });
  const unseen = started({ name: 'unseen', runtime: '10s' });
  const punctual = started({ name: 'punctual', runtime: '10s' });
  clock.advance(15_000);
  runTimes.left({ ...punctual, phase: 'Succeeded' });
  clock.advance(100_000);
  runTimes.endOf(seen);
  for (const pod of [seen, unseen]) runTimes.left({ ...pod, phase: 'Succeeded' });
  expect(overruns).toEqual(['seen', 'unseen']);
});

it('a gang ends with its last member, and its end is unknown if one member declares none', () => {
  const { clock, runTimes, started } = setUp();
  const [short, long, unknown] = [started({ runtime: '10s' }), started({ runtime: '20s' }), started({})];
  expect(runTimes.endIfStartedNow([short, long])).toBe(clock.now() + 20_000);
  expect(runTimes.endIfStartedNow([short, unknown])).toBe(Infinity);
});
