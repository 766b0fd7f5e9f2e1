import { describe, expect, it } from 'vitest';
import type { JobStatus } from './job.ts';
import { startJobsPlane } from './testing/jobs-plane.ts';
import type { JobsPlane } from './testing/jobs-plane.ts';

const indexed = (count: number, rest: object = {}): object => ({
  completionMode: 'Indexed',
  completions: count,
  parallelism: count,
  ...rest,
});
const told = ({ conditions = [] }: JobStatus): string[] =>
  conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const complete = ['SuccessCriteriaMet=True CompletionsReached', 'Complete=True CompletionsReached'];
const failed = (reason: string): string[] => [`FailureTarget=True ${reason}`, `Failed=True ${reason}`];

/** Nothing of ours is kept on pods of Jobs that are over. */
async function expectReleased(plane: JobsPlane): Promise<void> {
  expect((await plane.pods()).filter(({ metadata }) => metadata.finalizers !== undefined)).toEqual([]);
}

describe('a controller that is broken off at any of its calls', () => {
  const stories: Readonly<
    Record<string, { spec: object; exitCode?: string; end: string[]; counts: Partial<JobStatus> }>
  > = {
    'completes an Indexed Job': { spec: indexed(3), end: complete, counts: { succeeded: 3, completedIndexes: '0-2' } },
    'completes a Job': { spec: { completions: 3, parallelism: 2 }, end: complete, counts: { succeeded: 3 } },
    'fails a Job': {
      spec: { completions: 2, parallelism: 2, backoffLimit: 0 },
      exitCode: '1',
      end: failed('BackoffLimitExceeded'),
      counts: { failed: 2 },
    },
    'fails indexes': {
      spec: indexed(2, { backoffLimitPerIndex: 0 }),
      exitCode: '1',
      end: failed('FailedIndexes'),
      counts: { failed: 2, failedIndexes: '0,1' },
    },
  };

  describe.each(Object.entries(stories))('%s', (_name, { spec, exitCode, end, counts }) => {
    it.each(['before the call is carried out', 'after it, without its answer'] as const)('%s', async (when) => {
      for (let nth = 1; ; nth++) {
        await using plane = await startJobsPlane();
        let calls = 0;
        const count = (): void => {
          if (++calls === nth) throw new Error('the process dies');
        };
        const restart = async (): Promise<void> => {
          plane.onCall = () => undefined;
          plane.onAnswer = () => undefined;
          await plane.replaceController();
        };
        if (when === 'before the call is carried out') plane.onCall = count;
        else plane.onAnswer = count;
        await plane.createJob('j', spec, '100ms', exitCode);
        for (let step = 0; step < 200 && calls < nth; step++) await plane.pass(10);
        const wasBrokenOff = calls >= nth;
        await restart();
        await plane.pass(60_000);
        const status = await plane.status('j');
        expect({ nth, told: told(status) }).toEqual({ nth, told: end });
        expect(status).toMatchObject({ ...counts, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
        await expectReleased(plane);
        if (!wasBrokenOff) break;
      }
    });
  });
});

describe('hostile Jobs', () => {
  it('of a billion pods stop at the limit, say so, and go on when there is room', async () => {
    await using plane = await startJobsPlane({ mostPods: 40 });
    await plane.createJob('vast', { parallelism: 1_000_000_000, completions: 1_000_000_000 });
    await plane.pass(2_000);
    expect(await plane.pods()).toHaveLength(40);
    expect((await plane.status('vast')).active).toBe(40);
    expect(await plane.events()).toContainEqual(
      expect.stringMatching(/^FailedCreate: .*there are 40 pods, .*ttlSecondsAfterFinished/),
    );
    await plane.createJob('small', {}, '100ms');
    await plane.pass(10_000);
    expect((await plane.status('small')).active).toBeUndefined();
    await plane.patchJob('vast', { parallelism: 10 });
    await plane.pass(10_000);
    expect(told(await plane.status('small'))).toEqual(complete);
  });

  it('of a billion indexes are counted as runs', async () => {
    await using plane = await startJobsPlane();
    await plane.createJob('long', indexed(1_000_000_000, { parallelism: 2 }), '100ms');
    await plane.pass(5_000);
    const { completedIndexes = '', succeeded = 0 } = await plane.status('long');
    expect(completedIndexes).toMatch(/^0-\d+$/);
    expect(succeeded).toBeGreaterThan(10);
  });

  it('whose pods the server refuses are tried again, later and later, and say why', async () => {
    await using plane = await startJobsPlane();
    const name = 'a'.repeat(63); // of which the names of its pods have what fits
    await plane.createJob(name, { completionMode: 'NonIndexed', parallelism: 3, completions: 3 });
    const bad = 'b';
    await plane.createJob(bad, {
      template: {
        metadata: { annotations: { 'sim.tutti.dev/run-duration': '1s' } },
        spec: {
          restartPolicy: 'Never',
          nodeName: 'a',
          priorityClassName: 'nobody-has-made-it',
          containers: [{ name: 'main', image: 'main' }],
        },
      },
    });
    await plane.pass(60_000);
    expect((await plane.pods()).filter(({ metadata }) => metadata.name.startsWith('b-'))).toEqual([]);
    expect(await plane.events()).toContainEqual(
      expect.stringMatching(/^FailedCreate: Error creating: .*nobody-has-made-it/),
    );
    expect(plane.jobProblems.length).toBeGreaterThan(3);
    expect(plane.jobProblems.length).toBeLessThan(20);
    expect(plane.controller.isMoving).toBe(false);
    // The other one is not kept from its pods by it.
    expect((await plane.status(name)).active).toBe(3);
  });

  it('by the hundred all end, and are all counted', async () => {
    await using plane = await startJobsPlane();
    const count = 300;
    for (let number = 0; number < count; number++) await plane.createJob(`j-${number}`, {}, '100ms');
    await plane.pass(60_000);
    const { items } = await plane.client.list('/apis/batch/v1/namespaces/default/jobs');
    const ended = (items as { status: JobStatus }[]).filter(
      ({ status }) => status.succeeded === 1 && told(status).length === 2,
    );
    expect(ended).toHaveLength(count);
    await expectReleased(plane);
    expect(plane.controller.isMoving).toBe(false);
  });
});

describe('pods of Jobs', () => {
  it('that others delete, again and again, are counted once each', async () => {
    await using plane = await startJobsPlane();
    await plane.createJob('j', indexed(2, { backoffLimit: 100 }));
    await plane.pass(1_000);
    for (let round = 1; round <= 3; round++) {
      for (const { metadata } of await plane.pods()) await plane.deletePod(metadata.name);
      await plane.pass(1_000_000);
      expect(await plane.status('j')).toMatchObject({ failed: 2 * round, active: 2, ready: 2 });
      expect(await plane.pods()).toHaveLength(2);
    }
  });

  it('of a Job that is deleted while it makes them go too', async () => {
    for (const atCall of [1, 2, 3, 4, 5, 6]) {
      await using plane = await startJobsPlane();
      let calls = 0;
      plane.onCall = () => {
        if (++calls !== atCall) return;
        void plane.client.delete('/apis/batch/v1/namespaces/default/jobs/j', { propagationPolicy: 'Background' });
      };
      await plane.createJob('j', { parallelism: 5, completions: 5 });
      await plane.pass(5_000);
      expect({ atCall, pods: await plane.pods() }).toEqual({ atCall, pods: [] });
    }
  });

  it('of a Job and of its successor of the same name are told apart', async () => {
    await using plane = await startJobsPlane();
    await plane.createJob('j', indexed(2));
    await plane.pass(1_000);
    await plane.client.delete('/apis/batch/v1/namespaces/default/jobs/j', { propagationPolicy: 'Background' });
    await plane.createJob('j', indexed(3), '100ms');
    await plane.pass(60_000);
    const status = await plane.status('j');
    expect(told(status)).toEqual(complete);
    expect(status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
    expect(status.failed).toBeUndefined();
  });

  it('on a node that died are replaced once somebody has deleted them', async () => {
    await using plane = await startJobsPlane();
    await plane.createJob('j', { parallelism: 2, completions: 2 });
    await plane.pass(1_000);
    await plane.nodes.stop();
    const before = await plane.pods();
    for (const { metadata } of before) await plane.deletePod(metadata.name, { gracePeriodSeconds: 0 });
    await plane.pass(25_000);
    const after = await plane.pods();
    expect(after).toHaveLength(2);
    expect(after.map(({ metadata }) => metadata.name)).not.toEqual(before.map(({ metadata }) => metadata.name));
    expect(await plane.status('j')).toMatchObject({ active: 2, failed: 2 });
  });

  it('that have an index twice, or one that is out of range, are removed', async () => {
    await using plane = await startJobsPlane();
    await plane.createJob('j', indexed(3));
    await plane.pass(1_000);
    await plane.patchJob('j', { completions: 2, parallelism: 2 });
    await plane.pass(5_000);
    const names = (await plane.pods()).map(({ metadata }) => metadata.name.replace(/-[a-z0-9]+$/, ''));
    expect(names.sort()).toEqual(['j-0', 'j-1']);
    expect(await plane.status('j')).toMatchObject({ active: 2 });
  });
});

describe('a Job', () => {
  it('is not touched once it has ended, and its status stays as it is', async () => {
    await using plane = await startJobsPlane();
    await plane.createJob('j', {}, '100ms');
    await plane.pass(5_000);
    const calls: string[] = [];
    plane.onCall = ({ method, path }) => calls.push(`${method} ${path}`);
    await plane.pass(600_000);
    await plane.replaceController();
    expect(calls).toEqual([]);
    expect(plane.controller.isMoving).toBe(false);
  });

  it('whose back-off runs will move by itself, and one that waits for its pods will not', async () => {
    await using plane = await startJobsPlane();
    await plane.createJob('waits');
    await plane.pass(2_000);
    expect(plane.controller.isMoving).toBe(false);
    await plane.createJob('fails', {}, '100ms', '1');
    await plane.pass(2_000);
    expect(plane.controller.isMoving).toBe(true);
  });

  it('that somebody writes to at the same time gets what both say', async () => {
    await using plane = await startJobsPlane();
    plane.onCall = ({ method }) => {
      if (method !== 'PUT') return;
      plane.onCall = () => undefined;
      void plane.patchJob('j', { parallelism: 3 });
    };
    await plane.createJob('j', { parallelism: 1, completions: 3 });
    await plane.pass(5_000);
    expect(await plane.status('j')).toMatchObject({ active: 3, ready: 3 });
    expect(await plane.pods()).toHaveLength(3);
  });
});
