import { expect, it } from 'vitest';
import { transition } from './testing/builders.ts';
import { WaitingTimes } from './waiting-times.ts';

it('a wait begins with the first member and ends when the quorum is bound', () => {
  const times = new WaitingTimes();
  const waits = [
    transition(10, 'NotReady'),
    transition(20, 'Waiting'),
    transition(30, 'Starting'),
    transition(31, 'Partial'),
    transition(40, 'Running'),
    transition(50, 'Degraded'),
    transition(60, 'Waiting'),
    transition(70, 'Gone'),
    transition(80, 'NotReady'),
  ].map((each) => times.add(each));
  expect(waits).toEqual([10, 10, 10, 10, 10, undefined, 60, 60, 80]);
  expect(times.since('gang/ml/red')).toBe(80);
  expect(times.since('gang/ml/blue')).toBeUndefined();
});
