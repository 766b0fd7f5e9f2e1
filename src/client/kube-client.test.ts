import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  answerJson,
  answerStatus,
  answerText,
  cutsAfter,
  MisbehavingServer,
  resetsConnection,
  saysNothing,
} from '../../test/planes/misbehaving-server.ts';
import type { Behaviour } from '../../test/planes/misbehaving-server.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import {
  AlreadyExistsError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  GoneError,
  InvalidError,
  isAmbiguous,
  MalformedAnswerError,
  NotFoundError,
  ServerError,
  TimeoutError,
  TooManyRequestsError,
  UnauthorizedError,
} from './api-errors.ts';
import type { ApiError } from './api-errors.ts';
import { BindPrecedence } from './bind-precedence.ts';
import { CallGate } from './call-gate.ts';
import type { CallGateOptions } from './call-gate.ts';
import { fixedEndpoint } from './endpoint.ts';
import { KubeClient } from './kube-client.ts';
import { RateLimiter } from './rate-limiter.ts';
import { HttpTransport } from './http/http-transport.ts';
import { AnswerTooLongError } from './transport.ts';

let server: MisbehavingServer;
let transport: HttpTransport;
let clock: VirtualClock;
let client: KubeClient;

beforeEach(async () => {
  server = await MisbehavingServer.start();
  transport = new HttpTransport({ endpoint: fixedEndpoint(server.url) });
  clock = new VirtualClock();
  client = new KubeClient({ transport, clock, timeoutMs: 5_000 });
});

afterEach(async () => {
  await transport.close();
  await server.close();
});

function gateOf(parts: Partial<CallGateOptions>): CallGate {
  return new CallGate({
    limiter: new RateLimiter({ clock, qps: 0, burst: 1 }),
    precedence: new BindPrecedence({ clock }),
    ...parts,
  });
}

function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: unknown) => error,
  );
}

describe('KubeClient', () => {
  test('sends JSON for create and returns the parsed object', async () => {
    server.otherwise(answerJson({ metadata: { name: 'a' } }, 201));
    expect(await client.create('/api/v1/nodes', { kind: 'Node' })).toEqual({ metadata: { name: 'a' } });
    expect(server.requests[0]).toMatchObject({ method: 'POST', body: '{"kind":"Node"}' });
    expect(server.requests[0]!.headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'application/json',
    });
  });

  test.each([
    ['json', 'application/json-patch+json'],
    ['merge', 'application/merge-patch+json'],
    ['strategic-merge', 'application/strategic-merge-patch+json'],
  ] as const)('sends a %s patch with content type %s', async (kind, contentType) => {
    server.otherwise(answerJson({}));
    await client.patch('/api/v1/nodes/a', kind, {});
    expect(server.requests[0]!.headers['content-type']).toBe(contentType);
  });

  test('sends DeleteOptions only if they are set', async () => {
    server.otherwise(answerJson({}));
    await client.delete('/api/v1/nodes/a');
    await client.delete('/api/v1/nodes/a', { preconditions: { uid: 'u' } });
    expect(server.requests.map((request) => request.body)).toEqual(['', '{"preconditions":{"uid":"u"}}']);
  });

  test('with discardAnswer ignores the body of a success but parses an error', async () => {
    server.next(answerText('no JSON', 201)).otherwise(answerStatus(403, 'Forbidden', 'not yours'));
    expect(await client.create('/events', {}, { discardAnswer: true })).toBeUndefined();
    await expect(client.create('/events', {}, { discardAnswer: true })).rejects.toThrow('not yours');
  });

  test('lists one page and returns the token of the next', async () => {
    server.next(answerJson({ metadata: { resourceVersion: '7', continue: 'more' }, items: [1, 2] }));
    server.next(answerJson({ metadata: { resourceVersion: '7', continue: '' }, items: [3] }));
    const first = await client.list('/api/v1/pods', { limit: 2, fieldSelector: 'status.phase!=Failed' });
    expect(first).toEqual({ items: [1, 2], resourceVersion: '7', continueToken: 'more' });
    const second = await client.list('/api/v1/pods', { limit: 2, continueToken: 'more' });
    expect(second).toEqual({ items: [3], resourceVersion: '7' });
    expect(server.requests[0]!.query.get('fieldSelector')).toBe('status.phase!=Failed');
    expect(server.requests[1]!.query.get('continue')).toBe('more');
  });
});

describe('the rate limit', () => {
  test('applies to all calls except the lease, and does not count towards their deadline', async () => {
    const limiter = new RateLimiter({ clock, qps: 0.1, burst: 1 });
    const limited = new KubeClient({ transport, clock, gate: gateOf({ limiter }), timeoutMs: 1_000 });
    server.otherwise(answerJson({}));
    await limited.get('/first');
    const second = limited.get('/second');
    await limited.get('/lease', { lane: 'lease' });
    expect(server.requests.map(({ path }) => path)).toEqual(['/first', '/lease']);
    clock.advance(10_000);
    await second;
    expect(server.requests.map(({ path }) => path)).toEqual(['/first', '/lease', '/second']);
  });
});

describe('binds', () => {
  test('take precedence over Events, whose deadline does not start while they are held', async () => {
    const first = new KubeClient({ transport, clock, gate: gateOf({}), timeoutMs: 1_000 });
    server.next(saysNothing);
    server.otherwise(answerJson({}));
    const bind = failure(first.create('/bind', {}, { lane: 'bind', timeoutMs: 1_500 }));
    await expect.poll(() => server.requests.length).toBe(1);
    const event = first.create('/event', {}, { lane: 'event' });
    await first.create('/old-event', {}, { lane: 'event', heldSince: clock.monotonic() - 5_000 });
    await first.get('/read');
    clock.advance(1_500);
    expect(await bind).toBeInstanceOf(TimeoutError);
    clock.advance(100);
    await event;
    expect(server.requests.map(({ path }) => path)).toEqual(['/bind', '/old-event', '/read', '/event']);
  });

  test('that were never sent hold no other call', async () => {
    const precedence = new BindPrecedence({ clock });
    const first = new KubeClient({ transport, clock, gate: gateOf({ precedence }) });
    server.otherwise(answerJson({}));
    const signal = AbortSignal.abort(new Error('leadership lost'));
    await expect(first.create('/bind', {}, { lane: 'bind', signal })).rejects.toThrow('leadership lost');
    await first.create('/verdict', {}, { lane: 'verdict' });
    expect(precedence.held).toBe(0);
  });
});

describe('an error', () => {
  test.each([
    [400, 'BadRequest', BadRequestError],
    [415, 'UnsupportedMediaType', BadRequestError],
    [401, 'Unauthorized', UnauthorizedError],
    [403, 'Forbidden', ForbiddenError],
    [404, 'NotFound', NotFoundError],
    [409, 'Conflict', ConflictError],
    [409, 'AlreadyExists', AlreadyExistsError],
    [410, 'Expired', GoneError],
    [422, 'Invalid', InvalidError],
    [429, 'TooManyRequests', TooManyRequestsError],
    [500, 'InternalError', ServerError],
    [504, 'Timeout', ServerError],
  ] as const)('with status %i %s has its own class', async (code, reason, ErrorClass) => {
    server.otherwise(answerStatus(code, reason, 'the reason why'));
    const error = await failure(client.get('/api/v1/nodes/a'));
    expect(error).toBeInstanceOf(ErrorClass);
    expect(error).toMatchObject({ status: code, reason, name: ErrorClass.name });
    expect((error as Error).message).toBe(`GET /api/v1/nodes/a returned ${code} ${reason}: the reason why`);
  });

  test('has the fields of a validation error', async () => {
    const causes = [{ reason: 'FieldValueInvalid', message: 'must be positive', field: 'spec.minMember' }];
    server.otherwise(answerStatus(422, 'Invalid', 'invalid', { details: { causes } }));
    expect(await failure(client.create('/p', {}))).toMatchObject({ causes });
  });

  test.each([
    ['seconds in the header', { headers: { 'retry-after': '3' } }, 3_000],
    ['a date in the header', { headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' } }, 10_000],
    ['seconds in the Status', { details: { retryAfterSeconds: 2 } }, 2_000],
    ['nothing', {}, undefined],
  ] as const)('has the Retry-After of %s', async (_, extra, expected) => {
    server.otherwise(answerStatus(429, 'TooManyRequests', 'slow down', extra));
    expect(((await failure(client.get('/p'))) as ApiError).retryAfterMs).toBe(expected);
  });

  test('quotes the error page of a proxy', async () => {
    server.otherwise(answerText('<h1>Bad Gateway</h1>', 502));
    const error = await failure(client.get('/p'));
    expect(error).toBeInstanceOf(ServerError);
    expect((error as Error).message).toContain('<h1>Bad Gateway</h1>');
  });

  test('is MalformedAnswerError for a success with truncated JSON', async () => {
    server.otherwise(answerText('{"metadata":{"na'));
    expect(await failure(client.get('/p'))).toBeInstanceOf(MalformedAnswerError);
  });

  test('is MalformedAnswerError for a list without items', async () => {
    server.otherwise(answerJson({ kind: 'Status' }));
    expect(await failure(client.list('/p'))).toBeInstanceOf(MalformedAnswerError);
  });
});

describe('ambiguity', () => {
  test('applies to a reset during a POST, but not during a GET', async () => {
    server.otherwise(resetsConnection);
    const post = await failure(client.create('/p', {}));
    const get = await failure(client.get('/p'));
    expect(post).toBeInstanceOf(ConnectionError);
    expect(isAmbiguous(post)).toBe(true);
    expect((post as Error).cause).toBeInstanceOf(Error);
    expect((post as Error).message).toContain('the server may have carried it out');
    expect(get).toBeInstanceOf(ConnectionError);
    expect(isAmbiguous(get)).toBe(false);
  });

  test('applies to a truncated response', async () => {
    server.otherwise(cutsAfter('{"half":'));
    expect(isAmbiguous(await failure(client.create('/p', {})))).toBe(true);
  });

  test('does not apply to a connection that was never made', async () => {
    await server.close();
    const error = await failure(client.create('/p', {}));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(isAmbiguous(error)).toBe(false);
    expect((error as Error).message).toContain('ECONNREFUSED');
    server = await MisbehavingServer.start();
  });
});

describe('a call', () => {
  test.each([
    ['nothing', saysNothing],
    [
      'half an answer',
      ((response) => void response.writeHead(200).write('{"a":')) satisfies Parameters<typeof server.next>[0],
    ],
  ])('that gets %s times out at its deadline, ambiguously for a POST', async (_, behaviour) => {
    server.otherwise(behaviour);
    const call = failure(client.create('/p', {}, { timeoutMs: 1_000 }));
    await expect.poll(() => server.requests.length).toBe(1);
    clock.advance(1_000);
    const error = await call;
    expect(error).toBeInstanceOf(TimeoutError);
    expect(isAmbiguous(error)).toBe(true);
    expect((error as Error).message).toBe('POST /p got no response within 1000 ms');
  });

  test("ends with the reason of the caller's signal", async () => {
    server.otherwise(saysNothing);
    const controller = new AbortController();
    const call = failure(client.get('/p', { signal: controller.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(new Error('leadership lost'));
    expect(await call).toEqual(new Error('leadership lost'));
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  test('sends nothing if its signal has already aborted', async () => {
    const signal = AbortSignal.abort(new Error('leadership lost'));
    await expect(client.create('/p', {}, { signal })).rejects.toThrow('leadership lost');
    expect(server.requests).toHaveLength(0);
  });
});

describe('with an unusual response, the client', () => {
  const endless =
    (status: number, onClose: () => void): Behaviour =>
    (response) => {
      response.writeHead(status, { 'content-type': 'text/html' });
      const write = (): void => {
        while (response.writable && response.write('x'.repeat(65_536)));
      };
      response.on('drain', write).on('close', onClose);
      write();
    };

  test.each([
    ['a call', () => client.get('/api/v1/nodes/a')],
    ['a watch', () => client.watch('/api/v1/nodes', new URLSearchParams(), new AbortController().signal)],
  ])('cuts off an endless error body of %s and closes the connection', async (_, call) => {
    const closed = Promise.withResolvers<void>();
    server.otherwise(endless(503, closed.resolve));
    const error = (await failure(call())) as ServerError;
    expect(error).toBeInstanceOf(ServerError);
    expect(error.message.length).toBeLessThan(500);
    await closed.promise;
  });

  test.each([
    ['an error', 500, 20_000],
    ['a good answer', 200, 17_000_000],
  ])('does not leak the connection of %s that is too long', async (_, status, length) => {
    server.next(answerText('x'.repeat(length), status)).otherwise(answerJson({ metadata: {} }));
    await failure(client.get('/a'));
    for (let i = 0; i < 3; i++) expect(await client.get('/b')).toEqual({ metadata: {} });
    expect(server.connections).toBe(2);
  });

  test('stops reading at the size limit of an object', async () => {
    const closed = Promise.withResolvers<void>();
    server.otherwise(endless(200, closed.resolve));
    const error = await failure(client.get('/api/v1/nodes/a'));
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toContain('the response is longer than 16777216 bytes');
    await closed.promise;
  });

  test('reads a longer page of a list, but not an endless one', async () => {
    const text = JSON.stringify({ metadata: {}, items: ['x'.repeat(20_000_000)] });
    server.next(answerText(text)).otherwise(endless(200, () => undefined));
    expect((await client.list('/api/v1/nodes', { limit: 500 })).items).toHaveLength(1);
    const error = await failure(client.list('/api/v1/nodes', { limit: 500 }));
    expect((error as Error).cause).toBeInstanceOf(AnswerTooLongError);
  });

  test('treats status 408 as a lost connection, not as a bad request', async () => {
    server.otherwise(answerText('', 408));
    const [read, write] = [await failure(client.get('/a')), await failure(client.create('/a', {}))];
    expect([read, write].map((error) => [(error as Error).name, isAmbiguous(error)])).toEqual([
      ['ConnectionError', false],
      ['ConnectionError', true],
    ]);
  });

  test.each([['864000'], ['1e999'], ['Infinity'], ['Fri, 31 Dec 9999 23:59:59 GMT']])(
    'limits Retry-After: %s to one minute',
    async (value) => {
      server.otherwise(answerStatus(429, 'TooManyRequests', 'no', { headers: { 'retry-after': value } }));
      expect(((await failure(client.get('/a'))) as TooManyRequestsError).retryAfterMs).toBe(60_000);
    },
  );

  test('limits retryAfterSeconds of a Status to one minute', async () => {
    server.otherwise(answerStatus(503, 'ServiceUnavailable', 'no', { details: { retryAfterSeconds: 1e9 } }));
    expect(((await failure(client.get('/a'))) as ServerError).retryAfterMs).toBe(60_000);
  });
});

describe('calls that wait for a connection', () => {
  test('start their deadline when they are sent', async () => {
    await transport.close();
    transport = new HttpTransport({ endpoint: fixedEndpoint(server.url), callConnections: 1 });
    client = new KubeClient({ transport, clock, timeoutMs: 5_000 });
    server.next(saysNothing, saysNothing).otherwise(answerJson({ metadata: {} }));
    const ends: string[] = [];
    const calls = ['a', 'b', 'c'].map((name) =>
      client.create(`/${name}`, {}).then(
        () => ends.push(`${name} answered`),
        (error: unknown) => ends.push(`${name} ${isAmbiguous(error) ? 'in doubt' : 'not sent'}`),
      ),
    );
    await expect.poll(() => server.requests.length).toBe(1);
    clock.advance(5_000);
    await calls[0];
    await expect.poll(() => server.requests.length).toBe(2);
    expect(ends).toEqual(['a in doubt']);
    clock.advance(5_000);
    await Promise.all(calls);
    expect(ends).toEqual(['a in doubt', 'b in doubt', 'c answered']);
    expect(server.requests.map(({ path }) => path)).toEqual(['/a', '/b', '/c']);
  });

  test('are not sent after the caller aborts them', async () => {
    await transport.close();
    transport = new HttpTransport({ endpoint: fixedEndpoint(server.url), callConnections: 1 });
    client = new KubeClient({ transport, clock, timeoutMs: 5_000 });
    server.otherwise(saysNothing);
    const first = failure(client.create('/a', {}));
    const controller = new AbortController();
    const second = failure(client.create('/b', {}, { signal: controller.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(new Error('not wanted'));
    expect(await second).toMatchObject({ message: 'not wanted' });
    clock.advance(5_000);
    await first;
    expect(server.requests).toHaveLength(1);
  });
});
