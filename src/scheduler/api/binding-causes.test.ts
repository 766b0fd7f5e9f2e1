import { describe, expect, it } from 'vitest';
import { ApiError } from '../../client/api-errors.ts';
import type { SlowPodServer } from './testing/slow-pod-server.ts';
import type { CallBehavior } from './testing/slow-pod-server.ts';
import { TimedBinding } from './testing/timed-binding.ts';

interface Outcome {
  /** Each call with its time in milliseconds. */
  readonly calls: readonly string[];
  /** Name and status of the error; undefined if the pod was bound. */
  readonly failure: string | undefined;
  readonly ms: number;
}

const bound = { calls: ['POST 0'], failure: undefined, ms: 0 };

/** Binds the pod. The first calls behave as given; all others take effect and are bound at once. */
async function outcomeOf(
  posts: readonly CallBehavior[] | CallBehavior,
  prepare: (pod: SlowPodServer) => void = () => undefined,
): Promise<Outcome> {
  const timed = new TimedBinding();
  const { pod } = timed;
  prepare(pod);
  pod.behavior = (method, count) => (method !== 'POST' ? {} : 'length' in posts ? (posts[count - 1] ?? {}) : posts);
  const { error, at } = await timed.bind();
  const name = error instanceof Error ? error.name : undefined;
  return {
    calls: pod.sent.map((call) => `${call.method} ${call.at}`),
    failure: error instanceof ApiError ? `${name} ${error.status}` : name,
    ms: at,
  };
}

/** A fault that never ends. */
const always = (behavior: CallBehavior): CallBehavior => behavior;

describe('a failed Binding, by cause', () => {
  it('makes one call if it succeeds', async () => {
    expect(await outcomeOf([])).toEqual(bound);
  });

  it.each<[string, CallBehavior[] | CallBehavior, (pod: SlowPodServer) => void, Partial<Outcome>]>([
    ['409, bound to the same node: succeeds', [], (pod) => (pod.nodeName = 'a'), { calls: ['POST 0', 'GET 0'] }],
    [
      '409, bound to another node: fails',
      [],
      (pod) => (pod.nodeName = 'b'),
      { calls: ['POST 0', 'GET 0'], failure: 'BoundElsewhereError' },
    ],
    [
      '409, the pod was replaced: fails',
      [],
      (pod) => (pod.uid = 'another'),
      { calls: ['POST 0', 'GET 0'], failure: 'BoundElsewhereError' },
    ],
    [
      '409, the pod is being deleted: fails',
      [],
      (pod) => (pod.isLeaving = true),
      { calls: ['POST 0', 'GET 0'], failure: 'PodLeavingError' },
    ],
    ['404: fails', [], (pod) => (pod.uid = undefined), { calls: ['POST 0'], failure: 'NotFoundError 404' }],
  ])('%s', async (_cause, posts, prepare, expected) => {
    expect(await outcomeOf(posts, prepare)).toEqual({ ...bound, ...expected });
  });

  it.each<[string, CallBehavior[] | CallBehavior, Partial<Outcome>]>([
    ['409 without a cause: retried at once', [{ status: 409 }], { calls: ['POST 0', 'GET 0', 'POST 0'] }],
    ['422: fails', always({ status: 422 }), { calls: ['POST 0'], failure: 'InvalidError 422' }],
    ['403: fails', always({ status: 403 }), { calls: ['POST 0'], failure: 'ForbiddenError 403' }],
    ['401: fails', always({ status: 401 }), { calls: ['POST 0'], failure: 'UnauthorizedError 401' }],
    ['400: fails', always({ status: 400 }), { calls: ['POST 0'], failure: 'BadRequestError 400' }],
    ['429: retried after a backoff', [{ status: 429 }], { calls: ['POST 0', 'POST 100'], ms: 100 }],
    [
      '429 with Retry-After: retried after that time',
      [{ status: 429, retryAfter: '3' }],
      { calls: ['POST 0', 'POST 3100'], ms: 3_100 },
    ],
    [
      '429 forever: fails after five calls',
      always({ status: 429 }),
      {
        calls: ['POST 0', 'POST 100', 'POST 300', 'POST 700', 'POST 1500'],
        failure: 'TooManyRequestsError 429',
        ms: 1_500,
      },
    ],
    ['500: read back and retried at once', [{ status: 500 }], { calls: ['POST 0', 'GET 0', 'POST 0'] }],
    [
      '503 with Retry-After: read back after that time and retried',
      [{ status: 503, retryAfter: '2' }],
      { calls: ['POST 0', 'GET 2000', 'POST 2000'], ms: 2_000 },
    ],
    [
      '500 forever: fails after five calls',
      always({ status: 500 }),
      {
        calls: [0, 0, 100, 300, 700].flatMap((ms) => [`POST ${ms}`, `GET ${ms}`]),
        failure: 'ServerError 500',
        ms: 700,
      },
    ],
    [
      'connection lost before the request took effect: read back and retried at once',
      [{ loses: 'request', breaksMs: 5 }],
      { calls: ['POST 0', 'GET 5', 'POST 5'], ms: 5 },
    ],
    [
      'connection lost after the request took effect: read back, succeeds',
      [{ loses: 'response', breaksMs: 5 }],
      { calls: ['POST 0', 'GET 5'], ms: 5 },
    ],
    [
      'connection lost eight times: still retried, because the capacity must stay assumed',
      Array.from({ length: 8 }, () => ({ loses: 'request', breaksMs: 0 }) as const),
      { calls: expect.arrayContaining(['POST 12700']) as string[], ms: 12_700 },
    ],
    [
      'no response from a server without known durations: read back after a second and retried',
      [{ loses: 'request' }],
      { calls: ['POST 0', 'GET 1000', 'POST 1000'], ms: 1_000 },
    ],
  ])('%s', async (_cause, posts, expected) => {
    expect(await outcomeOf(posts)).toEqual({ ...bound, ...expected });
  });

  it('connection lost forever: fails once the last call can no longer take effect', async () => {
    const { calls, failure, ms } = await outcomeOf(always({ loses: 'request', breaksMs: 0 }));
    expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(10);
    expect(failure).toBe('ConnectionError');
    const last = Number(calls.findLast((call) => call.startsWith('POST'))!.split(' ')[1]);
    expect(ms).toBe(last + 10_000);
    expect(calls.at(-1)).toBe(`GET ${ms}`);
  });
});
