import { expect, test } from 'vitest';
import { podGroupMembershipOf } from './pod-group-membership.ts';
import { groupKeyOf, parseGroupKey } from './group-key.ts';

test.each(['scheduling.x-k8s.io', 'scheduling.k8s.io'] as const)(
  'a key of %s holds source, namespace and name',
  (source) => {
    const key = groupKeyOf(source, 'team', 'train');
    expect(parseGroupKey(key)).toEqual({ source, namespace: 'team', name: 'train' });
  },
);

test('groups of one name in the two APIs have different keys', () => {
  expect(groupKeyOf('scheduling.x-k8s.io', 'team', 'train')).toBe('team/train');
  expect(groupKeyOf('scheduling.k8s.io', 'team', 'train')).toBe('scheduling.k8s.io/team/train');
});

test.each(['scheduling.k8s.io/team/train', 'team/train', '/train', '..'])(
  'no annotation names a group of the other API: %s',
  (annotation) => {
    const { key } = podGroupMembershipOf({
      namespace: 'team',
      annotations: { 'scheduling.x-k8s.io/pod-group': annotation },
      labels: undefined,
      schedulingGroup: undefined,
    })!;
    expect(parseGroupKey(key)).toEqual({ source: 'scheduling.x-k8s.io', namespace: 'team', name: annotation });
  },
);
