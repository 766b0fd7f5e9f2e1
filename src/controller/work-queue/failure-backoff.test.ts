import { expect, it } from 'vitest';
import { FailureBackoff } from './failure-backoff.ts';

const policy = { initialMs: 100, maxMs: 1_000 };

it('doubles the delay of a key with each failure in a row, to the cap', () => {
  const backoff = new FailureBackoff({ policy, random: () => 1 });
  const answers = Array.from({ length: 6 }, () => backoff.failed('a'));
  expect(answers.map(({ delayMs }) => delayMs)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  expect(answers.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6]);
});

it('counts each key by itself, and begins anew after a success', () => {
  const backoff = new FailureBackoff({ policy, random: () => 1 });
  backoff.failed('a');
  backoff.failed('a');
  expect(backoff.failed('b')).toEqual({ failures: 1, delayMs: 100 });
  backoff.succeeded('a');
  expect(backoff.failed('a')).toEqual({ failures: 1, delayMs: 100 });
  expect(backoff.failed('b')).toEqual({ failures: 2, delayMs: 200 });
});

it('takes up to half of the delay away, so that keys that failed together do not come back together', () => {
  const backoff = new FailureBackoff({ policy, random: () => 0 });
  expect(backoff.failed('a').delayMs).toBe(50);
});
