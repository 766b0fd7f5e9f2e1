import { expect, it } from 'vitest';
import { podGroupLabel, podGroupNameOf } from './pod-group-membership.ts';

it('takes the group from the label or from the annotation', () => {
  expect(podGroupNameOf({ [podGroupLabel]: 'red' }, undefined)).toEqual({ name: 'red' });
  expect(podGroupNameOf({ app: 'x' }, { [podGroupLabel]: 'red' })).toEqual({ name: 'red' });
  expect(podGroupNameOf({ [podGroupLabel]: 'red' }, { [podGroupLabel]: 'red' })).toEqual({ name: 'red' });
});

it('lets the label win over the annotation and reports the disagreement', () => {
  expect(podGroupNameOf({ [podGroupLabel]: 'red' }, { [podGroupLabel]: 'blue' })).toEqual({
    name: 'red',
    disagreement: { label: 'red', annotation: 'blue' },
  });
});

it('returns undefined for a pod without a group', () => {
  expect(podGroupNameOf(undefined, undefined)).toBeUndefined();
  expect(podGroupNameOf({ [podGroupLabel]: '' }, { [podGroupLabel]: '' })).toBeUndefined();
  expect(podGroupNameOf({ [podGroupLabel]: '' }, { [podGroupLabel]: 'blue' })).toEqual({ name: 'blue' });
});
