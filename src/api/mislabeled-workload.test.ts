import { expect, it } from 'vitest';
import { describeMislabeledWorkload, mislabeledWorkloadOf } from './mislabeled-workload.ts';
import { podGroupLabel } from './pod-group-membership.ts';

const named = { [podGroupLabel]: 'red' };

it('finds a workload that has the label of a group, while its pod template names none', () => {
  const found = { kind: 'Job', name: 'train', group: 'red' };
  const template = { metadata: { labels: { app: 'train' } } };
  expect(mislabeledWorkloadOf('Job', { metadata: { name: 'train', labels: named }, spec: { template } })).toEqual(
    found,
  );
  expect(mislabeledWorkloadOf('Job', { metadata: { name: 'train', annotations: named } })).toBeUndefined();
  const labeled = { template: { metadata: { labels: named } } };
  expect(mislabeledWorkloadOf('Job', { metadata: { name: 'train', labels: named }, spec: labeled })).toBeUndefined();
  expect(mislabeledWorkloadOf('Job', { metadata: { name: 'train' }, spec: { template } })).toBeUndefined();
  expect(mislabeledWorkloadOf('Job', {})).toBeUndefined();
});

it('says what to do, which for a Job is to create it again', () => {
  const describe = (kind: 'Job' | 'Deployment'): string =>
    describeMislabeledWorkload({ kind, name: 'train', group: 'red' });
  expect(describe('Deployment')).toBe(
    'Deployment train has the label scheduling.x-k8s.io/pod-group=red, but its pod template lacks it, ' +
      'so its pods start one by one; set the label in spec.template.metadata.labels',
  );
  expect(describe('Job')).toContain('create the Job again with the label');
});
