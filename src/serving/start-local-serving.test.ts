import { connect } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { deferred } from '../base/deferred.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { healthRoutes } from './health-routes.ts';
import { metricsRoute } from './metrics-route.ts';
import { RequestHandler } from './request-handler.ts';
import type { Route } from './route.ts';
import { startLocalServing } from './start-local-serving.ts';
import type { Serving } from './start-local-serving.ts';

const running: Serving[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(running.splice(0).map((serving) => serving.close()));
});

async function serve(routes: readonly Route[], port = 0): Promise<Serving> {
  const handler = new RequestHandler({ routes, logger: silentLogger });
  const serving = await startLocalServing({ port, portFlag: '--port', handler });
  running.push(serving);
  return serving;
}

async function get(serving: Serving, path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(serving.url + path, init);
  return { status: response.status, text: await response.text() };
}

/** Sends raw text. Resolves with everything that the server sent until it closed the connection. */
function send(serving: Serving, text: string): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(new URL(serving.url).port), '127.0.0.1', () => socket.write(text));
    socket.on('data', (data) => (received += data.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
  });
}

const health = healthRoutes({ live: [], ready: [], logger: silentLogger });
const echo = (path: string): Route => ({
  path,
  hasParts: true,
  answer: (query, part = '') => ({ status: 203, type: 'text/csv', text: `${part}${query.get('columns') ?? ''}` }),
});

it('serves each path from its route, with the query and the part below the path', async () => {
  const serving = await serve([echo('/b'), ...health]);
  expect(serving.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await get(serving, '/b?columns=x,y')).toEqual({ status: 203, text: 'x,y' });
  expect(await get(serving, '/b/c')).toEqual({ status: 203, text: 'c' });
  expect((await fetch(`${serving.url}/b`)).headers.get('content-type')).toBe('text/csv');
  expect((await fetch(`${serving.url}/livez`)).headers.get('content-type')).toBe('text/plain; charset=utf-8');
});

it('serves the health and metrics of a process', async () => {
  const serving = await serve([...health, metricsRoute(createMetricRegistry({ processMetrics: true }))]);
  expect(await get(serving, '/livez')).toEqual({ status: 200, text: 'ok' });
  expect((await get(serving, '/metrics')).text).toContain('process_cpu_seconds_total');
  expect(await get(serving, '/metricz')).toEqual({
    status: 404,
    text: 'unknown path: this server has /healthz, /livez, /readyz and /metrics\n',
  });
});

it('responds with 500 if a route fails, hides the error, and continues', async () => {
  const serving = await serve([
    { path: '/broken', answer: () => Promise.reject(new Error('cannot count')) },
    {
      path: '/defective',
      answer: () => {
        throw new RangeError('too many');
      },
    },
    ...health,
  ]);
  for (const path of ['/broken', '/defective']) {
    expect(await get(serving, path)).toEqual({ status: 500, text: 'internal error: see the log\n' });
  }
  expect((await get(serving, '/livez')).status).toBe(200);
});

it('serves two costly requests at a time, and asks the third client to retry', async () => {
  const finish: (() => void)[] = [];
  const slow = (): Promise<{ status: number; text: string }> =>
    new Promise((resolve) => finish.push(() => resolve({ status: 200, text: 'done' })));
  const serving = await serve([{ path: '/slow', isCostly: true, answer: slow }, ...health]);
  const first = [get(serving, '/slow'), get(serving, '/slow')];
  await expect.poll(() => finish.length).toBe(2);
  const third = await fetch(`${serving.url}/slow`);
  expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1']);
  expect((await get(serving, '/livez')).status).toBe(200);
  for (const end of finish) end();
  expect(await Promise.all(first)).toEqual(Array.from({ length: 2 }, () => ({ status: 200, text: 'done' })));
});

it.each([
  ['POST /livez HTTP/1.1\r\nHost: a\r\n\r\n', 405],
  ['GET livez HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', 405],
  ['GET /livez HTTP/1.1\r\n\r\n', 400],
  [`GET /livez?${'a'.repeat(3_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
  [`GET /livez HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ['GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n', 413],
  ['GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody', 200],
  ['GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
  ['\0\0\0\r\n\r\n', 400],
])('responds to %j with %i', async (request, status) => {
  const serving = await serve(health);
  const received = send(serving, `${request}GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  expect(await received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

it('closes a connection that pipelines requests or sends an endless body', async () => {
  let answered = 0;
  const never = { path: '/never', answer: () => (answered++, new Promise<never>(() => undefined)) };
  const serving = await serve([never, ...health]);
  expect(await send(serving, 'GET /never HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000))).toBe('');
  const head = 'GET /never HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  expect(await send(serving, head + `1000\r\n${'x'.repeat(4_096)}\r\n`.repeat(10))).toBe('');
  expect(answered).toBe(2);
});

it('names the port and the flag if the port is in use', async () => {
  const first = await serve([]);
  const port = Number(new URL(first.url).port);
  await expect(serve([], port)).rejects.toMatchObject({
    name: 'PortUnavailableError',
    port,
    message: `cannot serve on 127.0.0.1, port ${port}: the port is in use. Choose another port with --port`,
  });
});

it('closes after half a second, despite unanswered requests', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const requested = deferred();
  const never = { path: '/never', answer: () => (requested.resolve(), new Promise<never>(() => undefined)) };
  const serving = await serve([never, ...health]);
  await get(serving, '/livez'); // fetch keeps the connection
  const received = send(serving, 'GET /never HTTP/1.1\r\nHost: a\r\n\r\n');
  await requested.promise;
  const closed = [serving.close(), serving.close()];
  vi.advanceTimersByTime(500);
  await Promise.all(closed);
  expect(await received).toBe('');
  await expect(get(serving, '/livez')).rejects.toThrow();
});
