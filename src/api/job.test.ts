import { expect, it } from 'vitest';
import { listedAlike, projectListed } from './listed-object.ts';

const metadata = {
  name: 'train',
  namespace: 'default',
  uid: 'u',
  resourceVersion: '1',
  ownerReferences: [
    { kind: 'CronJob', name: 'other', uid: 'o' },
    { kind: 'CronJob', name: 'nightly', uid: 'c', controller: true },
  ],
};
const spec = { activeDeadlineSeconds: 600, parallelism: 4 };

it('keeps the deadline, the start and the CronJob of a Job, and nothing else', () => {
  const status = { startTime: '2026-01-01T00:00:00Z', active: 4 };
  const job = projectListed('Job', { metadata, spec, status });
  const startedAt = Date.UTC(2026, 0, 1) / 1000;
  expect(job).toEqual({
    kind: 'Job',
    namespace: 'default',
    name: 'train',
    uid: 'u',
    deadlineSeconds: 600,
    startedAt,
    cronJob: 'nightly',
  });
  expect(listedAlike(job, projectListed('Job', { metadata, spec, status: { ...status, active: 3 } }))).toBe(true);
  expect(listedAlike(job, projectListed('Job', { metadata, spec }))).toBe(false);
});

it('reads a Job that has neither', () => {
  const none = { deadlineSeconds: 0, startedAt: 0 };
  expect(projectListed('Job', { metadata })).toMatchObject(none);
  expect(projectListed('Job', { metadata, spec: { activeDeadlineSeconds: null }, status: {} })).toMatchObject(none);
});
