import { expect, it } from 'vitest';
import type { Job } from '../../api/job.ts';
import { bigGangWaits } from '../testing/turn-story.ts';

function jobOf(job: Partial<Job>): Job {
  return {
    ...{ kind: 'Job', namespace: 'default', name: 'short', uid: 'short', cronJob: undefined },
    ...{ deadlineSeconds: 0, startedAt: 0 },
    ...job,
  };
}

it('lets a pod pass whose Job has a deadline and has not started', async () => {
  const story = await bigGangWaits();
  story.queueing.harness.core.handlers.listed.onAdd(jobOf({ deadlineSeconds: 100 }));
  story.pod('short-0', { job: 'short' });
  await story.after(1);
  expect([...story.started.keys()]).toEqual(['old', 'short-0']);
});

it('lets a pod pass when its Job is seen later than the pod', async () => {
  const story = await bigGangWaits();
  story.pod('short-0', { job: 'short' });
  await story.after(1);
  expect(story.verdicts.get('short-0')).toMatchObject({ reason: 'WaitingForTurn' });
  story.queueing.harness.core.handlers.listed.onAdd(jobOf({ deadlineSeconds: 100 }));
  await story.after(1);
  expect(story.started.has('short-0')).toBe(true);
});

it('lets a gang pass when the deadline of its Job is lowered', async () => {
  const story = await bigGangWaits();
  const { listed } = story.queueing.harness.core.handlers;
  const late = jobOf({ deadlineSeconds: 6_000 });
  listed.onAdd(late);
  story.gang('short', 2, { job: 'short' });
  await story.after(1);
  expect(story.started.has('short-0')).toBe(false);
  listed.onUpdate(late, jobOf({ deadlineSeconds: 100 }));
  await story.after(1);
  expect(story.started.has('short-0')).toBe(true);
});

it('tries no pod again because a Job without a deadline was added, or has started', async () => {
  const story = await bigGangWaits();
  story.pod('short-0', { job: 'short' });
  await story.after(1);
  const { core } = story.queueing.harness;
  core.handlers.listed.onAdd(jobOf({}));
  core.handlers.listed.onUpdate(jobOf({}), jobOf({ startedAt: 1 }));
  core.handlers.listed.onAdd(jobOf({ name: 'other', uid: 'other', deadlineSeconds: 100 }));
  expect(core.attempt()).toBeUndefined();
});

it('tries no pod again because of the other statuses of its Job', async () => {
  const story = await bigGangWaits();
  const { core } = story.queueing.harness;
  const job = jobOf({ deadlineSeconds: 6_000, startedAt: 1 });
  core.handlers.listed.onAdd(job);
  story.pod('short-0', { job: 'short' });
  await story.after(1);
  core.handlers.listed.onUpdate(job, { ...job });
  expect(core.attempt()).toBeUndefined();
});
