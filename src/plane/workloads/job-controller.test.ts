import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { startWorkloadsPlane } from './testing/workloads-plane.ts';

const succeeding = [
  { type: 'SuccessCriteriaMet', reason: 'CompletionsReached' },
  { type: 'Complete', reason: 'CompletionsReached' },
];

describe('Job controller', () => {
  it('runs at most parallelism pods at a time, and completes', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Job', 'batch', { completions: 5, parallelism: 2 }, '10s');
    await plane.pass(1_000);
    expect(await plane.pods()).toHaveLength(2);
    await plane.pass(60_000);
    const { status } = await plane.workload('Job', 'batch');
    expect(status).toMatchObject({ succeeded: 5, conditions: succeeding });
    expect(await plane.pods()).toHaveLength(5);
    expect(plane.controllers.areMoving).toBe(false);
  });

  it('completes a Job with 0 completions at once', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Job', 'nothing', { completions: 0 });
    await plane.pass(1_000);
    expect((await plane.workload('Job', 'nothing')).status).toMatchObject({ conditions: succeeding });
  });

  it('copies the scheduling group of the template to the pods', async () => {
    await using plane = await startWorkloadsPlane();
    const schedulingGroup = { podGroupName: 'train' };
    await plane.createWorkload('Job', 'train', {
      parallelism: 2,
      completions: 2,
      completionMode: 'Indexed',
      template: { spec: { restartPolicy: 'Never', schedulingGroup, containers: [{ name: 'main', image: 'image:1' }] } },
    });
    await plane.pass(1_000);
    expect(await plane.pods()).toMatchObject([{ spec: { schedulingGroup } }, { spec: { schedulingGroup } }]);
  });

  it('leaves a Job to the controller that managedBy names', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Job', 'other', { managedBy: 'example.com/controller' });
    await plane.pass(10_000);
    expect(await plane.pods()).toEqual([]);
  });

  it('fails a Job at its backoffLimit, and doubles the delay before each replacement', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Job', 'bad', { backoffLimit: 2 }, '0s', '1');
    await plane.pass(9_000);
    expect(await plane.pods()).toHaveLength(1);
    expect(plane.controllers.areMoving).toBe(true);
    await plane.pass(60_000);
    const { status } = await plane.workload('Job', 'bad');
    expect(status).toMatchObject({ failed: 3, conditions: [{ type: 'FailureTarget' }, { type: 'Failed' }] });
    expect(await plane.events()).toContain('BackoffLimitExceeded: Job has reached the specified backoff limit');
  });

  it('deletes a finished Job and its pods after ttlSecondsAfterFinished', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Job', 'brief', { ttlSecondsAfterFinished: 100 }, '0s');
    await plane.pass(99_000);
    expect(await plane.workloads('Job')).toHaveLength(1);
    expect(plane.controllers.areMoving).toBe(false);
    await plane.pass(10_000);
    expect(await plane.workloads('Job')).toEqual([]);
    expect(await plane.pods()).toEqual([]);
  });

  it('creates no pods beyond the limit of the simulation, and continues when pods are deleted', async () => {
    await using plane = await startWorkloadsPlane(4);
    await plane.createWorkload('Job', 'huge', { parallelism: 2 ** 31 - 1, completions: 2 ** 31 - 1 });
    await plane.pass(10_000);
    const pods = await plane.pods();
    expect(pods).toHaveLength(4);
    expect((await plane.events()).join()).toContain('the simulation has reached its limit of pods');
    await plane.deletePod(pods[0]!.metadata.name);
    await plane.pass(120_000);
    expect(await plane.pods()).toHaveLength(4);
    expect(plane.controllers.areMoving).toBe(false);
  });

  it('writes nothing while nothing changes', async () => {
    await using plane = await startWorkloadsPlane();
    await plane.createWorkload('Job', 'still', { completions: 2, parallelism: 2 });
    await plane.pass(5_000);
    const { metadata } = await plane.workload('Job', 'still');
    await plane.pass(600_000);
    expect((await plane.workload('Job', 'still')).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it('property: an Indexed Job completes every index exactly once, whatever pods are deleted and however often the controllers restart', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('delete' as const), pod: fc.nat(20) }),
      fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(3_000) }),
      fc.record({ kind: fc.constant('restart' as const) }),
      fc.record({ kind: fc.constant('suspend' as const), suspend: fc.boolean() }),
      fc.record({ kind: fc.constant('scale' as const), parallelism: fc.nat(5) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(step, { maxLength: 15 }),
        async (completions, steps) => {
          await using plane = await startWorkloadsPlane();
          const spec = { completionMode: 'Indexed', completions, parallelism: completions, backoffLimit: 1_000 };
          await plane.createWorkload('Job', 'train', spec, '1s');
          /** Index -> uids of its succeeded pods */
          const succeeded = new Map<string, Set<string>>();
          const recordSucceeded = async (): Promise<void> => {
            for (const { metadata, status } of await plane.pods()) {
              const index = metadata.labels!['batch.kubernetes.io/job-completion-index']!;
              if (status?.phase !== 'Succeeded') continue;
              succeeded.set(index, (succeeded.get(index) ?? new Set()).add(metadata.uid));
            }
          };
          for (const each of steps) {
            if (each.kind === 'pass') await plane.pass(each.ms);
            if (each.kind === 'restart') await plane.restartControllers();
            if (each.kind === 'suspend') await plane.patchSpec('Job', 'train', { suspend: each.suspend });
            if (each.kind === 'scale') await plane.patchSpec('Job', 'train', { parallelism: each.parallelism });
            await recordSucceeded();
            if (each.kind === 'delete') {
              const pods = await plane.pods();
              const pod = pods[each.pod % Math.max(1, pods.length)];
              if (pod !== undefined) await plane.deletePod(pod.metadata.name);
            }
          }
          await plane.patchSpec('Job', 'train', { suspend: false, parallelism: 5 });
          for (let second = 0; second < 60; second++) {
            await plane.pass(500);
            await recordSucceeded();
          }
          await plane.pass(3_600_000);
          const { status } = await plane.workload('Job', 'train');
          expect(status.conditions.at(-1)).toMatchObject({ type: 'Complete', status: 'True' });
          expect(status).toMatchObject({ succeeded: completions, uncountedTerminatedPods: {} });
          expect([...succeeded.values()].every((uids) => uids.size === 1)).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });
});
