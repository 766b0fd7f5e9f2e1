import { expect, it } from 'vitest';
import { mergeConditions } from './condition.ts';
import { toKubernetesTime } from './kubernetes-time.ts';
import type { Condition, ConditionState } from './condition.ts';

const noon = Date.UTC(2026, 0, 1, 12, 0, 0, 250);
const later = noon + 60_000;
const ready: ConditionState = { type: 'Ready', status: 'True', reason: 'QuorumReady', message: '' };

it('writes times as Kubernetes does: UTC, whole seconds', () => {
  expect(toKubernetesTime(noon)).toBe('2026-01-01T12:00:00Z');
});

it('changes the transition time only with the status, not with reason or message', () => {
  const first = mergeConditions([], [ready], noon);
  expect(first).toEqual([{ ...ready, lastTransitionTime: '2026-01-01T12:00:00Z' }]);
  const reworded = mergeConditions(first, [{ ...ready, reason: 'Other', message: 'words' }], later);
  expect(reworded[0]).toMatchObject({ reason: 'Other', message: 'words', lastTransitionTime: '2026-01-01T12:00:00Z' });
  const lost = mergeConditions(reworded, [{ ...ready, status: 'False' }], later);
  expect(lost[0]!.lastTransitionTime).toBe('2026-01-01T12:01:00Z');
});

it('appends the conditions of other writers', () => {
  const foreign: Condition = {
    type: 'Admitted',
    status: 'True',
    reason: 'Quota',
    message: '',
    lastTransitionTime: 'x',
  };
  expect(mergeConditions([foreign], [ready], noon).map((condition) => condition.type)).toEqual(['Ready', 'Admitted']);
});
