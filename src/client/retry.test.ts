import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import {
  ConflictError,
  ConnectionError,
  MalformedAnswerError,
  ServerError,
  TimeoutError,
  TooManyRequestsError,
} from './api-errors.ts';
import { isRetryable, retry } from './retry.ts';

const details = { status: 0, reason: '', request: 'POST /p', causes: [] };
const tooMany = new TooManyRequestsError('slow down', { ...details, retryAfterMs: 4_000 });
const serverError = new ServerError('broken', details);
const comeAgain = new ServerError('starting', { ...details, retryAfterMs: 1_000 });
const conflict = new ConflictError('changed', details);
const reset = new ConnectionError('reset', { ambiguous: true, cause: undefined });
const neverSent = new ConnectionError('rejected', { ambiguous: false, cause: undefined });
const timeout = new TimeoutError('slow', { ambiguous: true });

describe('isRetryable', () => {
  test.each([
    ['429', tooMany, true, true],
    ['a server error with Retry-After', comeAgain, true, true],
    ['a server error', serverError, true, false],
    ['a connection that was never made', neverSent, true, true],
    ['a reset', reset, true, false],
    ['a timeout', timeout, true, false],
    ['a malformed response', new MalformedAnswerError('cut short'), true, false],
    ['a conflict', conflict, false, false],
    ['anything else', new Error('bug'), false, false],
  ])('decides on %s', (_, error, ifIdempotent, ifNot) => {
    expect(isRetryable(error, true)).toBe(ifIdempotent);
    expect(isRetryable(error, false)).toBe(ifNot);
  });
});

/** Runs a call that fails with each of `errors` in turn, then succeeds. Returns the time of each attempt. */
async function attemptsAt(errors: Error[], maxAttempts = 5): Promise<{ times: number[]; outcome: unknown }> {
  const clock = new VirtualClock();
  const times: number[] = [];
  const remaining = [...errors];
  let isDone = false;
  const outcome = retry(
    async () => {
      times.push(clock.monotonic());
      const error = remaining.shift();
      if (error !== undefined) throw error;
      return 'done';
    },
    { clock, random: () => 1, idempotent: true, maxAttempts },
  )
    .catch((error: unknown) => error)
    .finally(() => {
      isDone = true;
    });
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (isDone) return { times, outcome: await outcome };
    clock.advance(clock.untilNextTimer()!);
  }
}

test('waits longer before each retry, and as long as the server asks', async () => {
  expect(await attemptsAt([serverError, reset, tooMany, timeout])).toEqual({
    times: [0, 100, 300, 4_300, 5_100],
    outcome: 'done',
  });
});

test('gives up with the last error after the last attempt', async () => {
  expect(await attemptsAt([serverError, serverError, reset], 3)).toEqual({ times: [0, 100, 300], outcome: reset });
});

test('gives up at once on an error that a retry cannot fix', async () => {
  expect(await attemptsAt([conflict])).toEqual({ times: [0], outcome: conflict });
});

test('ends the wait when its signal aborts', async () => {
  const controller = new AbortController();
  const call = retry(() => Promise.reject(serverError), {
    clock: new VirtualClock(),
    random: () => 0,
    idempotent: true,
    signal: controller.signal,
  });
  controller.abort(new Error('stopping'));
  await expect(call).rejects.toThrow('stopping');
});
