import { describe, expect, it } from 'vitest';
import type { Clock, Timer } from '../../base/clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { JobsPlane, startJobsPlane } from './testing/jobs-plane.ts';

const day = 24 * 60 * 60;
const huge = 2 ** 31 - 1;
const podsPath = '/api/v1/namespaces/default/pods';

/** The clock of a plane, which knows how many timers of the controller are set. */
class CountedTimers implements Clock {
  set = 0;
  clock: Clock = new VirtualClock();

  now(): number {
    return this.clock.now();
  }

  monotonic(): number {
    return this.clock.monotonic();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    this.set++;
    let isSet = true;
    const end = (): void => {
      if (isSet) this.set--;
      isSet = false;
    };
    const timer = this.clock.setTimer(delayMs, () => {
      end();
      callback();
    });
    return {
      cancel: () => {
        end();
        timer.cancel();
      },
    };
  }
}

describe('a controller of Jobs', () => {
  it.each<[string, object]>([
    ['numbers as large as they may be', { parallelism: huge, completions: huge, backoffLimit: huge }],
    ['times as long as they may be', { activeDeadlineSeconds: 2 ** 53 - 1, ttlSecondsAfterFinished: huge }],
    ['indexes without number', { completionMode: 'Indexed', completions: huge, parallelism: 3 }],
    [
      'limits of each index',
      {
        completionMode: 'Indexed',
        completions: 100_000,
        parallelism: 100_000,
        backoffLimitPerIndex: huge,
        maxFailedIndexes: 100_000,
      },
    ],
    ['nothing at all', { parallelism: 0, completions: 0, backoffLimit: 0 }],
    ['nothing, and no time to keep it', { completions: 0, ttlSecondsAfterFinished: 0 }],
    [
      'a success of no indexes',
      {
        completionMode: 'Indexed',
        completions: 2,
        parallelism: 2,
        successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 2 }] },
      },
    ],
  ])('does what it can about %s, and then nothing more', async (_name, spec) => {
    await using plane = await startJobsPlane({ mostPods: 40 });
    await plane.createJob('hostile', spec);
    await plane.pass(5_000);
    const calls: string[] = [];
    plane.onCall = ({ method, path }) => calls.push(`${method} ${path}`);
    await plane.pass(3_600_000);
    expect(calls).toEqual([]);
    expect(plane.jobProblems).toEqual([]);
    expect((await plane.pods()).length).toBeLessThanOrEqual(40);
    plane.onCall = () => undefined;
    // It is there for others.
    await plane.deleteJob('hostile').catch(() => undefined);
    await plane.createJob('after', {}, '100ms');
    await plane.pass(30_000);
    expect(await plane.status('after')).toMatchObject({ succeeded: 1 });
  });

  it('makes no more pods than there may be, however many Jobs want some at the same time', async () => {
    await using plane = await startJobsPlane({ mostPods: 40, workers: 8 });
    let most = 0;
    plane.onAnswer = () => {
      void plane.pods().then(({ length }) => (most = Math.max(most, length)));
    };
    for (let number = 0; number < 8; number++)
      await plane.createJob(`j-${number}`, { parallelism: 30, completions: 30 });
    await plane.pass(10_000);
    expect(most).toBe(40);
    // Each gets what it wants when it is its turn.
    plane.onAnswer = () => undefined;
    for (let number = 0; number < 8; number++) {
      for (const { metadata, status } of await plane.pods()) {
        if (status.phase !== 'Succeeded')
          await plane.client.patch(`${podsPath}/${metadata.name}/status`, 'merge', { status: { phase: 'Succeeded' } });
      }
      await plane.pass(2_000);
      for (const { metadata } of await plane.pods()) await plane.deletePod(metadata.name, { gracePeriodSeconds: 0 });
      await plane.pass(2_000);
    }
    const succeeded: unknown[] = [];
    for (let number = 0; number < 8; number++) succeeded.push((await plane.status(`j-${number}`)).succeeded);
    expect(succeeded).toEqual(Array.from({ length: 8 }, () => 30));
  });

  it('does nothing about Jobs that wait for room while there is none', async () => {
    await using plane = await startJobsPlane({ mostPods: 5 });
    await plane.createJob('full', { parallelism: 5, completions: 5 });
    await plane.pass(1_000);
    for (let number = 0; number < 50; number++) await plane.createJob(`waits-${number}`);
    await plane.pass(10_000);
    const before = plane.requests.length;
    await plane.pass(60_000);
    const asked = plane.requests.slice(before).filter(({ userAgent }) => userAgent === 'tutti-simulated-jobs');
    // Its two watches may have to be opened again.
    expect(asked.length).toBeLessThan(5);
    await plane.deleteJob('full');
    await plane.pass(5_000);
    expect(await plane.pods()).toHaveLength(5);
  });

  it('keeps nothing of Jobs that are gone', async () => {
    const timers = new CountedTimers();
    await using plane = new JobsPlane({ clock: timers, mostPods: 10 });
    timers.clock = plane.clock;
    await plane.started();
    await plane.pass(60_000);
    const before = timers.set;
    const stories: readonly (readonly [spec: object, runs: string, exitCode: string])[] = [
      [{ ttlSecondsAfterFinished: day }, '100ms', '0'],
      [{ completions: 0, ttlSecondsAfterFinished: day }, 'never', '0'],
      [{ activeDeadlineSeconds: day }, 'never', '0'],
      [{ parallelism: 0, activeDeadlineSeconds: day }, 'never', '0'],
      [{ backoffLimit: 100 }, '100ms', '1'],
      [{ parallelism: 1_000 }, 'never', '0'],
    ];
    for (const [spec, runs, exitCode] of stories) {
      for (let number = 0; number < 10; number++) await plane.createJob(`j-${number}`, spec, runs, exitCode);
      await plane.pass(5_000);
      for (let number = 0; number < 10; number++) await plane.deleteJob(`j-${number}`);
      await plane.pass(60_000);
      // Whoever records Events looks now and then after what is old.
      expect({ spec, isNothing: timers.set - before < 3 }).toEqual({ spec, isNothing: true });
      expect(plane.controller.isMoving).toBe(false);
    }
  });

  it('is not moving for a Job that was deleted while it was looked at', async () => {
    await using plane = await startJobsPlane();
    plane.onAnswer = ({ method }) => {
      if (method !== 'PUT') return;
      plane.onAnswer = () => undefined;
      void plane.deleteJob('j');
    };
    await plane.createJob('j', { parallelism: 0, activeDeadlineSeconds: day });
    await plane.pass(60_000);
    expect(plane.controller.isMoving).toBe(false);
  });

  it('lets the pods of a namespace that goes end with it', async () => {
    await using plane = await startJobsPlane();
    await plane.client.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'brief' },
    });
    let calls = 0;
    plane.onCall = () => {
      if (++calls === 3) void plane.client.delete('/api/v1/namespaces/brief');
    };
    const path = '/apis/batch/v1/namespaces/brief/jobs';
    for (const name of ['a', 'b']) {
      await plane.client.create(path, {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name },
        spec: {
          parallelism: 10,
          completions: 10,
          template: {
            spec: { restartPolicy: 'Never', nodeName: 'a', containers: [{ name: 'main', image: 'main' }] },
          },
        },
      });
    }
    await plane.pass(120_000);
    expect((await plane.client.list('/api/v1/pods')).items).toEqual([]);
    const { items } = await plane.client.list('/api/v1/namespaces');
    expect((items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).not.toContain('brief');
    expect(plane.controller.isMoving).toBe(false);
    const later = plane.requests.length;
    await plane.pass(600_000);
    const asked = plane.requests
      .slice(later)
      .filter(({ userAgent, method }) => userAgent === 'tutti-simulated-jobs' && method !== 'GET');
    expect(asked).toEqual([]);
  });
});
