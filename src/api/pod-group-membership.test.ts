import { expect, it } from 'vitest';
import { keyOfOtherScheduler, lookAlikesOf, podGroupLabel, podGroupNameOf } from './pod-group-membership.ts';

it('reads the group from the label or the annotation', () => {
  expect(podGroupNameOf({ [podGroupLabel]: 'red' }, undefined)).toEqual({ name: 'red' });
  expect(podGroupNameOf({ app: 'x' }, { [podGroupLabel]: 'red' })).toEqual({ name: 'red' });
  expect(podGroupNameOf({ [podGroupLabel]: 'red' }, { [podGroupLabel]: 'red' })).toEqual({ name: 'red' });
});

it('prefers the label to the annotation and reports that they disagree', () => {
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

it('shortens and escapes text that is not a valid name, so that it names no group', () => {
  const text = `\u001b[2J${'x'.repeat(200_000)}`;
  const { name, disagreement } = podGroupNameOf({ [podGroupLabel]: 'red' }, { [podGroupLabel]: text })!;
  expect([name, disagreement?.label]).toEqual(['red', 'red']);
  expect(disagreement?.annotation).toMatch(/^\\u001b\[2Jx+…$/);
  expect(podGroupNameOf({}, { [podGroupLabel]: text })).toEqual({ name: disagreement?.annotation });
  expect(disagreement?.annotation.length).toBe(253);
});

it('finds labels and annotations that may have been meant as the label', () => {
  const labels = { app: 'red', 'Scheduling.x-k8s.io/PodGroup': 'red', 'scheduling.k8s.io/pod-group': '' };
  const annotations = { 'scheduling.k8s.io/group-name': 'blue', 'x/pod-group': 'x'.repeat(254), 'x/note': 'red' };
  expect(lookAlikesOf(labels, annotations)).toEqual([
    { key: 'Scheduling.x-k8s.io/PodGroup', name: 'red', isAnnotation: false },
    { key: 'scheduling.k8s.io/group-name', name: 'blue', isAnnotation: true },
  ]);
  expect(lookAlikesOf({ app: 'red', [podGroupLabel]: '' }, undefined)).toEqual([]);
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`pod-group-${index}`, 'red']));
  expect(lookAlikesOf(many, many)).toHaveLength(8);
});

it('finds a key by which another gang scheduler would find the group of a pod', () => {
  expect(keyOfOtherScheduler({ app: 'red', 'pod-group.scheduling.sigs.k8s.io': 'red' }, undefined)).toBe(
    'pod-group.scheduling.sigs.k8s.io',
  );
  expect(keyOfOtherScheduler(undefined, { 'scheduling.k8s.io/group-name': 'red' })).toBe(
    'scheduling.k8s.io/group-name',
  );
  expect(keyOfOtherScheduler({ 'scheduling.x-k8s.io/podgroup': '' }, { 'kueue.x-k8s.io/pod-group-name': 'red' })).toBe(
    undefined,
  );
});
