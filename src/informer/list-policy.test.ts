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
  policy = new ListPolicy({ random: () => 0, pageSize: 500 }); // the least that jitter leaves: half of the back-off
});

function answered<E>(ErrorClass: new (message: string, details: ApiErrorDetails) => E, retryAfterMs?: number): E {
  const details = { status: 0, reason: '', request: 'GET /things', causes: [] };
  return new ErrorClass('no', { ...details, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
}

const unanswered = new ConnectionError('no answer', { ambiguous: false, cause: undefined });

const watchEnds = (error?: Error, lastedMs = 0): number =>
  policy.delayAfter({ step: 'watch', lastedMs, ...(error === undefined ? {} : { error }) });
const listFails = (error: Error): number => policy.delayAfter({ step: 'list', lastedMs: 0, error });
const times = (count: number, round: () => number): number[] => Array.from({ length: count }, round);

describe('where it goes on', () => {
  test('it lists first, then watches from where the list was made, then from where a watch came', () => {
    expect(policy.resourceVersion).toBeUndefined();
    policy.listed('5');
    expect(policy.resourceVersion).toBe('5');
    policy.reached('8');
    watchEnds();
    expect(policy.resourceVersion).toBe('8');
  });

  test.each([
    ['without an answer', unanswered],
    ['in silence', new WatchSilentError('silent')],
    ['with the server shedding load', answered(TooManyRequestsError)],
  ])('a watch that ends %s, however often, is no doubt about the place', (_, error) => {
    policy.listed('5');
    times(20, () => watchEnds(error));
    expect(policy.resourceVersion).toBe('5');
  });

  test.each([
    ['rejected', answered(ForbiddenError)],
    ['failed by the server', answered(ServerError)],
    ['garbled', new WatchMalformedError('no JSON')],
  ])('a place from which watches are %s three times in a row is doubted', (_, error) => {
    policy.listed('500');
    times(2, () => watchEnds(error));
    expect(policy.resourceVersion).toBe('500');
    watchEnds(error);
    expect(policy.resourceVersion).toBeUndefined();
  });

  test.each([
    ['progress', () => policy.reached('6'), 0],
    ['a watch that lasted', () => undefined, 10_000],
  ])('%s ends the doubt', (_, happens, lastedMs) => {
    policy.listed('5');
    times(2, () => watchEnds(answered(ServerError)));
    happens();
    watchEnds(answered(ServerError), lastedMs);
    times(1, () => watchEnds(answered(ServerError)));
    expect(policy.resourceVersion).toBeDefined();
    watchEnds(answered(ServerError));
    expect(policy.resourceVersion).toBeUndefined();
  });

  test('a place that the server has forgotten is given up at once', () => {
    policy.listed('5');
    expect(watchEnds(answered(GoneError))).toBe(0);
    expect(policy.resourceVersion).toBeUndefined();
  });
});

describe('the size of a page', () => {
  test('is lifted by a continue token that has expired, until a list is whole', () => {
    expect(policy.pageSize).toBe(500);
    listFails(answered(GoneError));
    expect(policy.pageSize).toBeUndefined();
    listFails(unanswered);
    expect(policy.pageSize).toBeUndefined();
    policy.listed('9');
    expect(policy.pageSize).toBe(500);
  });

  test('stays when it is a watch whose place is gone', () => {
    policy.listed('5');
    watchEnds(answered(GoneError));
    expect(policy.pageSize).toBe(500);
  });
});

describe('the delay', () => {
  test('doubles with each failure, to 30 s, jitter taking up to half of it', () => {
    expect(times(7, () => listFails(unanswered))).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    expect(policy.failures).toBe(7);
  });

  test('is none after a watch that lasted and ended in good order, and short after one that ended soon', () => {
    policy.listed('5');
    expect(watchEnds(undefined, 10_000)).toBe(0);
    expect(times(2, () => watchEnds(undefined, 9_999))).toEqual([500, 1_000]);
  });

  test('begins anew after progress', () => {
    policy.listed('5');
    times(3, () => watchEnds(unanswered));
    policy.reached('6');
    expect(watchEnds(unanswered)).toBe(500);
    expect(watchEnds(unanswered)).toBe(1_000);
  });

  test('is what the server asks for, when that is longer', () => {
    expect(listFails(answered(TooManyRequestsError, 17_000))).toBe(17_000);
    expect(listFails(answered(TooManyRequestsError, 1))).toBe(1_000);
  });

  test('begins anew with the first answer after an outage, whatever that says', () => {
    times(6, () => listFails(new TimeoutError('no answer', { ambiguous: false })));
    expect(listFails(answered(ServerError))).toBe(500);
    expect(listFails(answered(ServerError))).toBe(1_000);
  });

  test('does not begin anew when no answer was bad luck', () => {
    listFails(answered(ServerError));
    times(2, () => listFails(unanswered));
    expect(listFails(answered(ServerError))).toBe(4_000);
  });

  test('grows when places are forgotten again and again, so that lists do not become a storm', () => {
    const forgotten = (): number => {
      policy.listed('5');
      policy.reached('6');
      return watchEnds(answered(GoneError));
    };
    expect(times(4, forgotten)).toEqual([0, 1_000, 2_000, 4_000]);
  });
});
