import { expect, it } from 'vitest';
import type { PodGroupStatus } from '../api/pod-group.ts';
import { derivePodGroupStatus } from './pod-group-status.ts';
import { statusPatch } from './status-patch.ts';
import { creation, memberPods, podGroup } from './testing/objects.ts';

const derived = derivePodGroupStatus(podGroup({ minMember: 2 }), memberPods(2, { phase: 'Running' }), creation);

it('writes every counter the first time, including zeros, but no empty occupiedBy', () => {
  const patch = statusPatch({}, derived)!;
  expect(patch).toMatchObject({
    phase: 'Running',
    running: 2,
    succeeded: 0,
    failed: 0,
    members: 2,
    scheduled: 2,
    ready: 0,
  });
  expect(patch).not.toHaveProperty('occupiedBy');
});

it('writes nothing if the status is equal, in any order of its fields', () => {
  const reversed = (value: object): object => Object.fromEntries(Object.entries(value).reverse());
  const status = { ...reversed(derived), conditions: derived.conditions.map(reversed) } as PodGroupStatus;
  expect(statusPatch(status, derived)).toBeUndefined();
});

it('writes only the fields that differ, and all conditions if one differs', () => {
  expect(statusPatch({ ...derived, running: 1 }, derived)).toEqual({ running: 2 });
  const [first, ...others] = derived.conditions;
  const status = { ...derived, conditions: [{ ...first!, message: 'old' }, ...others] };
  expect(statusPatch(status, derived)).toEqual({ conditions: derived.conditions });
});

it('deletes the predicted start, and only if there is one', () => {
  const status = { ...derived, predictedStartTime: '2026-01-01T12:00:00Z', startConfidence: 'Declared' };
  expect(statusPatch(status, derived)).toEqual({ predictedStartTime: null, startConfidence: null });
  const drains = { ...derived, startConfidence: 'Draining' };
  expect(statusPatch(status, drains)).toEqual({ predictedStartTime: null, startConfidence: 'Draining' });
  expect(statusPatch(drains, status)).toEqual({
    predictedStartTime: '2026-01-01T12:00:00Z',
    startConfidence: 'Declared',
  });
  expect(statusPatch(status, status)).toBeUndefined();
});
