import { expect, it } from 'vitest';
import { FailureBackoff } from './failure-backoff.ts';

const policy = { initialMs: 100, maxMs: 1_000 };

it('doubles the delay of a key with each consecutive failure, up to the cap', () => {
  const backoff = new FailureBackoff({ policy, random: () => 1 });
  const backoffs = Array.from({ length: 6 }, () => backoff.failed('a'));
  expect(backoffs.map(({ delayMs }) => delayMs)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  expect(backoffs.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6]);
});

it('counts each key separately, and restarts after a success', () => {
  const backoff = new FailureBackoff({ policy, random: () => 1 });
  backoff.failed('a');
  backoff.failed('a');
  expect(backoff.failed('b')).toEqual({ failures: 1, delayMs: 100 });
  backoff.succeeded('a');
  expect(backoff.failed('a')).toEqual({ failures: 1, delayMs: 100 });
  expect(backoff.failed('b')).toEqual({ failures: 2, delayMs: 200 });
});

it('subtracts up to half of the delay, so that keys that failed together are not retried together', () => {
  const backoff = new FailureBackoff({ policy, random: () => 0 });
  expect(backoff.failed('a').delayMs).toBe(50);
});
