import { describe, expect, it } from 'vitest';
import { ApiError } from '../../client/api-errors.ts';
import type { PodBehindALine } from './testing/pod-behind-a-line.ts';
import type { Journey } from './testing/pod-behind-a-line.ts';
import { TimedBinding } from './testing/timed-binding.ts';

interface Course {
  /** Each call with the milliseconds after which it was sent. */
  readonly calls: readonly string[];
  /** The name of the error, with its status; undefined: it was bound. */
  readonly failure: string | undefined;
  readonly ms: number;
}

const answered = { calls: ['POST 0'], failure: undefined, ms: 0 };

/** Binds the pod; the first calls fare as said, all others are carried out and answered at once. */
async function courseOf(
  posts: readonly Journey[] | Journey,
  happensBefore: (pod: PodBehindALine) => void = () => undefined,
): Promise<Course> {
  const timed = new TimedBinding();
  const { pod } = timed;
  happensBefore(pod);
  pod.journey = (method, count) => (method !== 'POST' ? {} : 'length' in posts ? (posts[count - 1] ?? {}) : posts);
  const { error, at } = await timed.bind();
  const name = error instanceof Error ? error.name : undefined;
  return {
    calls: pod.sent.map((call) => `${call.method} ${call.at}`),
    failure: error instanceof ApiError ? `${name} ${error.status}` : name,
    ms: at,
  };
}

/** A fault that never ends. */
const always = (journey: Journey): Journey => journey;

describe('what follows from a Binding that fails, by its cause', () => {
  it('nothing, when it does not', async () => {
    expect(await courseOf([])).toEqual(answered);
  });

  it.each<[string, Journey[] | Journey, (pod: PodBehindALine) => void, Partial<Course>]>([
    ['409, it is on that node: done', [], (pod) => (pod.nodeName = 'a'), { calls: ['POST 0', 'GET 0'] }],
    [
      '409, it is on another: failed',
      [],
      (pod) => (pod.nodeName = 'b'),
      { calls: ['POST 0', 'GET 0'], failure: 'BoundElsewhereError' },
    ],
    [
      '409, another pod has its name: failed',
      [],
      (pod) => (pod.uid = 'another'),
      { calls: ['POST 0', 'GET 0'], failure: 'BoundElsewhereError' },
    ],
    [
      '409, it is being deleted: failed',
      [],
      (pod) => (pod.isLeaving = true),
      { calls: ['POST 0', 'GET 0'], failure: 'PodLeavingError' },
    ],
    ['404: failed', [], (pod) => (pod.uid = undefined), { calls: ['POST 0'], failure: 'NotFoundError 404' }],
  ])('%s', async (_cause, posts, happensBefore, expected) => {
    expect(await courseOf(posts, happensBefore)).toEqual({ ...answered, ...expected });
  });

  it.each<[string, Journey[] | Journey, Partial<Course>]>([
    ['409 that nothing explains: sent again at once', [{ status: 409 }], { calls: ['POST 0', 'GET 0', 'POST 0'] }],
    ['422: failed', always({ status: 422 }), { calls: ['POST 0'], failure: 'InvalidError 422' }],
    ['403: failed', always({ status: 403 }), { calls: ['POST 0'], failure: 'ForbiddenError 403' }],
    ['401: failed', always({ status: 401 }), { calls: ['POST 0'], failure: 'UnauthorizedError 401' }],
    ['400: failed', always({ status: 400 }), { calls: ['POST 0'], failure: 'BadRequestError 400' }],
    ['429: sent again after a moment', [{ status: 429 }], { calls: ['POST 0', 'POST 100'], ms: 100 }],
    [
      '429 with Retry-After: sent again when that is over',
      [{ status: 429, retryAfter: '3' }],
      { calls: ['POST 0', 'POST 3100'], ms: 3_100 },
    ],
    [
      '429 for ever: failed, the fifth time',
      always({ status: 429 }),
      {
        calls: ['POST 0', 'POST 100', 'POST 300', 'POST 700', 'POST 1500'],
        failure: 'TooManyRequestsError 429',
        ms: 1_500,
      },
    ],
    ['500: read back and sent again at once', [{ status: 500 }], { calls: ['POST 0', 'GET 0', 'POST 0'] }],
    [
      '503 with Retry-After: read back when that is over, and sent again',
      [{ status: 503, retryAfter: '2' }],
      { calls: ['POST 0', 'GET 2000', 'POST 2000'], ms: 2_000 },
    ],
    [
      '500 for ever: failed, the fifth time',
      always({ status: 500 }),
      {
        calls: [0, 0, 100, 300, 700].flatMap((ms) => [`POST ${ms}`, `GET ${ms}`]),
        failure: 'ServerError 500',
        ms: 700,
      },
    ],
    [
      'connection lost, not carried out: read back and sent again at once',
      [{ loses: 'request', breaksMs: 5 }],
      { calls: ['POST 0', 'GET 5', 'POST 5'], ms: 5 },
    ],
    [
      'connection lost, carried out: read back, done',
      [{ loses: 'answer', breaksMs: 5 }],
      { calls: ['POST 0', 'GET 5'], ms: 5 },
    ],
    [
      'connection lost eight times: still sent again, because its room cannot be given away yet',
      Array.from({ length: 8 }, () => ({ loses: 'request', breaksMs: 0 }) as const),
      { calls: expect.arrayContaining(['POST 12700']) as string[], ms: 12_700 },
    ],
    [
      'no answer in time, on a server that nothing is known of: looked at after a second, and sent again',
      [{ loses: 'request' }],
      { calls: ['POST 0', 'GET 1000', 'POST 1000'], ms: 1_000 },
    ],
  ])('%s', async (_cause, posts, expected) => {
    expect(await courseOf(posts)).toEqual({ ...answered, ...expected });
  });

  it('connection lost for ever: failed, when the last one cannot be carried out any more', async () => {
    const { calls, failure, ms } = await courseOf(always({ loses: 'request', breaksMs: 0 }));
    expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(10);
    expect(failure).toBe('ConnectionError');
    const last = Number(calls.findLast((call) => call.startsWith('POST'))!.split(' ')[1]);
    expect(ms).toBe(last + 10_000);
    expect(calls.at(-1)).toBe(`GET ${ms}`);
  });
});
