import { expect } from 'vitest';
import type { JobStatus } from '../../src/plane/workloads/job.ts';
import { JobStage } from './job-stage.ts';
import type { PodSeen } from './job-stage.ts';
import { scenario } from './scenario.ts';
import type { Scenario } from './scenario.ts';

const tracking = 'batch.kubernetes.io/job-tracking';
const indexName = 'batch.kubernetes.io/job-completion-index';

/** Returns the conditions that hold, with their reasons. */
const conditionsOf = ({ conditions = [] }: JobStatus): string[] =>
  conditions.map(({ type, status, reason }) =>
    status === 'True' ? `${type} ${reason}` : `${type}=${status} ${reason}`,
  );
const times = (count: number, event: string): string[] => Array.from({ length: count }, () => event);
const made = (count: number): string[] => times(count, 'Normal SuccessfulCreate');
const deleted = (count: number): string[] => times(count, 'Normal SuccessfulDelete');
const indexed = (count: number, rest: object = {}): object => ({
  completionMode: 'Indexed',
  completions: count,
  parallelism: count,
  ...rest,
});

/** Behavior of Jobs under kube-controller-manager or its simulation. */
export const jobs = {
  J1: scenario('an Indexed Job gives each pod an index and counts each once it has succeeded', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('train', { labels: { app: 'train' }, spec: indexed(3) });
    const pods = await play.untilRunning('train', 3);
    for (const [index, { metadata, spec }] of pods.entries()) {
      const own = { [indexName]: String(index) };
      expect(metadata.name).toMatch(new RegExp(`^train-${index}-[a-z0-9]{5}$`));
      expect(metadata.labels).toMatchObject({ app: 'train', 'job-name': 'train', ...own });
      expect(metadata.annotations).toMatchObject(own);
      expect(metadata.finalizers).toEqual([tracking]);
      expect(metadata.ownerReferences).toMatchObject([
        { apiVersion: 'batch/v1', kind: 'Job', name: 'train', controller: true, blockOwnerDeletion: true },
      ]);
      expect(spec.hostname).toBe(`train-${index}`);
      const variable = { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${indexName}']` } };
      expect(spec.containers[0]!.env).toEqual([{ name: 'JOB_COMPLETION_INDEX', valueFrom: variable }]);
    }
    await play.untilStatus('train', {
      active: 3,
      ready: 3,
      terminating: 0,
      succeeded: undefined,
      conditions: undefined,
    });
    await play.end(pods[2]!, 'Succeeded');
    await play.end(pods[0]!, 'Succeeded');
    await play.untilStatus('train', { active: 1, ready: 1, succeeded: 2, completedIndexes: '0,2' });
    await play.end(pods[1]!, 'Succeeded');
    const status = await play.untilCondition('train', 'Complete');
    expect(conditionsOf(status)).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
    expect(status).toMatchObject({ succeeded: 3, completedIndexes: '0-2', ready: 0, terminating: 0 });
    expect(status.uncountedTerminatedPods).toEqual({});
    expect(status.active).toBeUndefined();
    expect(status.conditions!.map(({ message }) => message)).toEqual(
      times(2, 'Reached expected number of succeeded pods'),
    );
    expect(Date.parse(status.completionTime!)).toBeGreaterThanOrEqual(Date.parse(status.startTime!));
    // The SuccessCriteriaMet condition precedes Complete.
    expect(await play.history('train', conditionsOf)).toEqual([
      [],
      conditionsOf(status).slice(0, 1),
      conditionsOf(status),
    ]);
    expect((await play.pods('train')).map(({ metadata }) => metadata.finalizers)).toEqual(
      times(3, '').map(() => undefined),
    );
    await play.untilEvents('train', [...made(3), 'Normal Completed']);
  }),

  J2: scenario('a Job of five runs two at a time', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('batch', { runs: '100ms', spec: { completions: 5, parallelism: 2 } });
    const status = await play.untilCondition('batch', 'Complete');
    expect(status).toMatchObject({ succeeded: 5, ready: 0 });
    const pods = await play.pods('batch');
    expect(pods).toHaveLength(5);
    for (const { metadata, spec } of pods) {
      expect(metadata.name).toMatch(/^batch-[a-z0-9]{5}$/);
      expect(metadata.labels).not.toHaveProperty(indexName);
      expect(spec.hostname).toBeUndefined();
    }
    const actives = await play.history('batch', ({ active = 0 }) => active);
    expect(Math.max(...actives)).toBe(2);
    await play.untilEvents('batch', [...made(5), 'Normal Completed']);
  }),

  J3: scenario('a Job without completions creates no pods once one has succeeded', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('queue', { spec: { parallelism: 2 } });
    const [first, second] = await play.untilRunning('queue', 2);
    await play.end(first!, 'Succeeded');
    const status = await play.untilStatus('queue', { succeeded: 1, active: 1 });
    expect(conditionsOf(status)).toEqual([]);
    await play.end(second!, 'Succeeded');
    expect(await play.untilCondition('queue', 'Complete')).toMatchObject({ succeeded: 2 });
    expect(await play.pods('queue')).toHaveLength(2);
  }),

  J4: scenario('a Job without retries fails with its first failed pod and deletes the others', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('strict', { spec: { ...indexed(3), backoffLimit: 0 } });
    const pods = await play.untilRunning('strict', 3);
    await play.end(pods[1]!, 'Failed');
    const status = await play.untilCondition('strict', 'Failed');
    expect(conditionsOf(status)).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
    expect(status).toMatchObject({ failed: 3, ready: 0, terminating: 0, uncountedTerminatedPods: {} });
    expect([status.active, status.completionTime, status.completedIndexes]).toEqual([undefined, undefined, undefined]);
    expect(status.conditions![0]!.message).toBe('Job has reached the specified backoff limit');
    expect(await play.history('strict', conditionsOf)).toEqual([
      [],
      conditionsOf(status).slice(0, 1),
      conditionsOf(status),
    ]);
    expect((await play.pods('strict')).map(({ metadata }) => metadata.uid)).toEqual([pods[1]!.metadata.uid]);
    await play.untilEvents('strict', [...made(3), ...deleted(2), 'Warning BackoffLimitExceeded']);
  }),

  J5: scenario('a failed pod is replaced after ten seconds, up to the backoff limit', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('again', { runs: '10ms', exitCode: 1, spec: { backoffLimit: 1 } });
    const status = await play.untilCondition('again', 'Failed');
    expect(conditionsOf(status)).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
    expect(status.failed).toBe(2);
    const [first, second] = (await play.pods('again')).map(({ metadata }) => Date.parse(metadata.creationTimestamp));
    expect(second! - first!).toBeGreaterThanOrEqual(9_000);
  }),

  J6: scenario('a suspended Job has no pods, and starts again when it is resumed', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('paused', { spec: { parallelism: 2, completions: 2, suspend: true } });
    const suspended = await play.untilCondition('paused', 'Suspended');
    expect(conditionsOf(suspended)).toEqual(['Suspended JobSuspended']);
    expect(suspended).toMatchObject({ ready: 0, terminating: 0 });
    expect([suspended.startTime, suspended.active]).toEqual([undefined, undefined]);
    expect(await play.pods('paused')).toEqual([]);
    await play.patch('paused', { suspend: false });
    const pods = await play.untilRunning('paused', 2);
    const resumed = await play.untilStatus('paused', { active: 2, ready: 2 });
    expect(conditionsOf(resumed)).toEqual(['Suspended=False JobResumed']);
    expect(resumed.startTime).toBeDefined();
    await play.patch('paused', { suspend: true });
    await play.untilPods('paused', 'its pods are gone', (left) => left.length === 0);
    const again = await play.untilStatus('paused', { active: undefined, ready: 0, terminating: 0 });
    expect(conditionsOf(again)).toEqual(['Suspended JobSuspended']);
    // The deleted pods do not count as failures.
    expect([again.failed, again.startTime, pods.length]).toEqual([undefined, undefined, 2]);
    await play.untilEvents('paused', [
      ...made(2),
      ...deleted(2),
      'Normal Suspended',
      'Normal Suspended',
      'Normal Resumed',
    ]);
  }),

  J7: scenario('a Job that exceeds its deadline fails', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('late', { spec: { parallelism: 2, completions: 2, activeDeadlineSeconds: 2 } });
    const status = await play.untilCondition('late', 'Failed');
    expect(conditionsOf(status)).toEqual(['FailureTarget DeadlineExceeded', 'Failed DeadlineExceeded']);
    expect(status).toMatchObject({ failed: 2, ready: 0, terminating: 0 });
    expect(status.conditions![1]!.message).toBe('Job was active longer than specified deadline');
    await play.untilPods('late', 'its pods are gone', (pods) => pods.length === 0);
    await play.untilEvents('late', [...made(2), ...deleted(2), 'Warning DeadlineExceeded']);
  }),

  J8: scenario('a Job and its pods are deleted after its TTL', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('brief', { runs: '10ms', spec: { ttlSecondsAfterFinished: 1 } });
    await play.untilGone('brief');
    await play.untilPods('brief', 'its pods are gone', (pods) => pods.length === 0);
    const last = (await play.history('brief', conditionsOf)).at(-1);
    expect(last).toEqual(['SuccessCriteriaMet CompletionsReached', 'Complete CompletionsReached']);
  }),

  J9: scenario('a Job follows its parallelism up and down', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('wide', { spec: indexed(4, { parallelism: 1 }) });
    await play.untilRunning('wide', 1);
    await play.patch('wide', { parallelism: 3 });
    const three = await play.untilRunning('wide', 3);
    expect(three.map(({ metadata }) => metadata.labels![indexName])).toEqual(['0', '1', '2']);
    await play.patch('wide', { parallelism: 1 });
    await play.untilRunning('wide', 1);
    const status = await play.untilStatus('wide', { active: 1, ready: 1, terminating: 0 });
    expect(status.failed).toBeUndefined();
    await play.patch('wide', { parallelism: 0 });
    await play.untilPods('wide', 'its pods are gone', (pods) => pods.length === 0);
    expect(conditionsOf(await play.untilStatus('wide', { active: undefined, ready: 0 }))).toEqual([]);
  }),

  J10: scenario('a pod that a user deletes counts as failed and is replaced', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('robbed', { spec: indexed(2) });
    const before = await play.untilRunning('robbed', 2);
    await play.deletePod(before[1]!);
    await play.untilStatus('robbed', { failed: 1 });
    const after = await play.untilRunning('robbed', 2);
    expect(after.map(({ metadata }) => metadata.labels![indexName])).toEqual(['0', '1']);
    expect(after[1]!.metadata.uid).not.toBe(before[1]!.metadata.uid);
    await play.untilStatus('robbed', { failed: 1, active: 2 });
  }),

  J11: scenario('the pods of a deleted Job are deleted with it, or are orphaned', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('gone', { spec: { parallelism: 2, completions: 2 } });
    await play.untilRunning('gone', 2);
    await play.delete('gone', 'Background');
    await play.untilPods('gone', 'its pods are gone', (pods) => pods.length === 0);
    await play.create('left', { spec: { parallelism: 2, completions: 2 } });
    await play.untilRunning('left', 2);
    await play.delete('left', 'Orphan');
    const isFree = ({ metadata }: PodSeen): boolean =>
      metadata.finalizers === undefined && (metadata.ownerReferences ?? []).length === 0;
    const orphans = await play.untilPods(
      'left',
      'they have no owner',
      (pods) => pods.length === 2 && pods.every(isFree),
    );
    expect(orphans.map(({ status }) => status?.phase)).toEqual(['Running', 'Running']);
  }),

  J17: scenario('a Job whose pod restarts too often in place fails', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('restless', { runs: '10ms', exitCode: 1, restartPolicy: 'OnFailure', spec: { backoffLimit: 1 } });
    const status = await play.untilCondition('restless', 'Failed');
    expect(conditionsOf(status)).toEqual(['FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded']);
    expect(status.failed).toBe(1);
    await play.untilEvents('restless', [...made(1), ...deleted(1), 'Warning BackoffLimitExceeded']);
  }),

  J21: scenario('pods of other namespaces never belong to a Job, whatever their labels', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('home', { spec: indexed(1) });
    const own = await play.untilRunning('home', 1);
    const namespace = await play.addNamespace();
    const annotations = { [indexName]: '0' };
    await play.forge('home', 'abroad', { namespace, annotations });
    await play.forge('home', 'abroad-done', {
      namespace,
      annotations: { ...annotations, 'sim.tutti.dev/run-duration': '0s' },
    });
    await play.create('later', { runs: '10ms' });
    await play.untilCondition('later', 'Complete');
    const status = await play.untilStatus('home', { active: 1, ready: 1, terminating: 0 });
    expect(status).not.toHaveProperty('succeeded');
    const left = await play.untilRunning('home', 1);
    expect(left[0]!.metadata.uid).toBe(own[0]!.metadata.uid);
  }),

  J22: scenario('pods with an invalid index that a user adds to an Indexed Job are deleted', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('forged', { spec: indexed(2) });
    const own = await play.untilRunning('forged', 2);
    for (const [number, index] of ['', 'x', '-1', '2', '99999999999999999999', '0x0'].entries()) {
      await play.forge('forged', `odd-${number}`, { annotations: { [indexName]: index } });
    }
    await play.untilPods('forged', 'they are gone', (pods) => pods.length === 2);
    const left = await play.untilRunning('forged', 2);
    expect(left.map(({ metadata }) => metadata.uid)).toEqual(own.map(({ metadata }) => metadata.uid));
    expect(await play.untilStatus('forged', { active: 2, terminating: 0 })).not.toHaveProperty('failed');
    for (const pod of own) await play.end(pod, 'Succeeded');
    expect(await play.untilCondition('forged', 'Complete')).toMatchObject({ succeeded: 2, completedIndexes: '0,1' });
  }),

  J23: scenario('an Indexed Job that shrinks forgets the indexes beyond its end', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('elastic', { spec: indexed(4) });
    const pods = await play.untilRunning('elastic', 4);
    await play.end(pods[3]!, 'Succeeded');
    await play.end(pods[1]!, 'Succeeded');
    await play.untilStatus('elastic', { succeeded: 2, completedIndexes: '1,3', active: 2 });
    await play.patch('elastic', { completions: 2, parallelism: 2 });
    await play.untilStatus('elastic', { succeeded: 1, completedIndexes: '1', active: 1, terminating: 0 });
    await play.patch('elastic', { completions: 5, parallelism: 5 });
    const status = await play.untilStatus('elastic', { active: 4, ready: 4, succeeded: 1 });
    expect(status.failed).toBeUndefined();
    await play.patch('elastic', { completions: 0, parallelism: 0 });
    expect(await play.untilCondition('elastic', 'Complete')).not.toHaveProperty('completedIndexes');
  }),

  J24: scenario('a Job that is repeatedly suspended and resumed ends without failures', async (stage) => {
    const play = await JobStage.open(stage);
    await play.create('restless', { runs: '200ms', spec: indexed(3, { backoffLimit: 0 }) });
    for (const suspend of [true, false, true, false, true, false, true, true, false]) {
      await play.patch('restless', { suspend });
    }
    const status = await play.untilCondition('restless', 'Complete');
    expect(status).toMatchObject({ succeeded: 3, completedIndexes: '0-2', ready: 0, terminating: 0 });
    expect(status).not.toHaveProperty('failed');
    expect(Math.max(...(await play.history('restless', ({ active = 0 }) => active)))).toBeLessThanOrEqual(3);
  }),
} as const satisfies Record<string, Scenario>;
