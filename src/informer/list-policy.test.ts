import { beforeEach, describe, expect, test } from 'vitest';
import {
  ConnectionError,
  ForbiddenError,
  GoneError,
  ServerError,
  TimeoutError,
  TooManyRequestsError,
} from '../client/api-errors.ts';
import type { ApiErrorDetails } from '../client/api-errors.ts';
import { ListPolicy } from './list-policy.ts';
import { WatchMalformedError, WatchSilentError } from './watch-stream.ts';

let policy: ListPolicy;

beforeEach(() => {
  policy = new ListPolicy({ random: () => 0, pageSize: 500 }); // minimum jitter: half of the backoff
});

function response<E>(ErrorClass: new (message: string, details: ApiErrorDetails) => E, retryAfterMs?: number): E {
  const details = { status: 0, reason: '', request: 'GET /things', causes: [] };
  return new ErrorClass('no', { ...details, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

const noResponse = new ConnectionError('no response', { ambiguous: false, cause: undefined });

const watchEnds = (error?: Error, lastedMs = 0): number =>
  policy.delayAfter({ step: 'watch', lastedMs, ...(error === undefined ? {} : { error }) });
const listFails = (error: Error): number => policy.delayAfter({ step: 'list', lastedMs: 0, error });
const times = (count: number, round: () => number): number[] => Array.from({ length: count }, round);

describe('the resourceVersion', () => {
  test('is undefined before the first list, then that of the list, then that of the last watch event', () => {
    expect(policy.resourceVersion).toBeUndefined();
    policy.listed('5');
    expect(policy.resourceVersion).toBe('5');
    policy.reached('8');
    watchEnds();
    expect(policy.resourceVersion).toBe('8');
  });

  test.each([
    ['without a response', noResponse],
    ['in silence', new WatchSilentError('silent')],
    ['with the server shedding load', response(TooManyRequestsError)],
  ])('stays the same after any number of watches that end %s', (_, error) => {
    policy.listed('5');
    times(20, () => watchEnds(error));
    expect(policy.resourceVersion).toBe('5');
  });

  test.each([
    ['rejected', response(ForbiddenError)],
    ['failed by the server', response(ServerError)],
    ['garbled', new WatchMalformedError('not JSON')],
  ])('is discarded after three consecutive watches are %s', (_, error) => {
    policy.listed('500');
    times(2, () => watchEnds(error));
    expect(policy.resourceVersion).toBe('500');
    watchEnds(error);
    expect(policy.resourceVersion).toBeUndefined();
  });

  test.each([
    ['progress', () => policy.reached('6'), 0],
    ['a watch that lasted', () => undefined, 10_000],
  ])('has its failure count reset by %s', (_, happens, lastedMs) => {
    policy.listed('5');
    times(2, () => watchEnds(response(ServerError)));
    happens();
    watchEnds(response(ServerError), lastedMs);
    times(1, () => watchEnds(response(ServerError)));
    expect(policy.resourceVersion).toBeDefined();
    watchEnds(response(ServerError));
    expect(policy.resourceVersion).toBeUndefined();
  });

  test('is discarded at once when it is too old for the server', () => {
    policy.listed('5');
    expect(watchEnds(response(GoneError))).toBe(0);
    expect(policy.resourceVersion).toBeUndefined();
  });
});

describe('the page size', () => {
  test('is unlimited from an expired continue token until the next complete list', () => {
    expect(policy.pageSize).toBe(500);
    listFails(response(GoneError));
    expect(policy.pageSize).toBeUndefined();
    listFails(noResponse);
    expect(policy.pageSize).toBeUndefined();
    policy.listed('9');
    expect(policy.pageSize).toBe(500);
  });

  test('is unaffected by an expired watch', () => {
    policy.listed('5');
    watchEnds(response(GoneError));
    expect(policy.pageSize).toBe(500);
  });
});

describe('the delay', () => {
  test('doubles with each failure up to 30 s, and jitter takes off up to half', () => {
    expect(times(7, () => listFails(noResponse))).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    expect(policy.failures).toBe(7);
  });

  test('is zero after a long watch that ended normally, and short after a short one', () => {
    policy.listed('5');
    expect(watchEnds(undefined, 10_000)).toBe(0);
    expect(times(2, () => watchEnds(undefined, 9_999))).toEqual([500, 1_000]);
  });

  test('restarts after progress', () => {
    policy.listed('5');
    times(3, () => watchEnds(noResponse));
    policy.reached('6');
    expect(watchEnds(noResponse)).toBe(500);
    expect(watchEnds(noResponse)).toBe(1_000);
  });

  test("is the server's Retry-After if that is longer", () => {
    expect(listFails(response(TooManyRequestsError, 17_000))).toBe(17_000);
    expect(listFails(response(TooManyRequestsError, 1))).toBe(1_000);
  });

  test('restarts with the first response after an outage, even an error', () => {
    times(6, () => listFails(new TimeoutError('no response', { ambiguous: false })));
    expect(listFails(response(ServerError))).toBe(500);
    expect(listFails(response(ServerError))).toBe(1_000);
  });

  test('does not restart after fewer missing responses than an outage has', () => {
    listFails(response(ServerError));
    times(2, () => listFails(noResponse));
    expect(listFails(response(ServerError))).toBe(4_000);
  });

  test('grows while the resourceVersion keeps expiring, to limit the rate of lists', () => {
    const forgotten = (): number => {
      policy.listed('5');
      policy.reached('6');
      return watchEnds(response(GoneError));
    };
    expect(times(4, forgotten)).toEqual([0, 1_000, 2_000, 4_000]);
  });
});
