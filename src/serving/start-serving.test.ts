import { afterEach, expect, it } from 'vitest';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { healthRoutes } from './health-routes.ts';
import { metricsRoute } from './metrics-route.ts';
import type { Route } from './route.ts';
import { startServing } from './start-serving.ts';
import type { Serving } from './start-serving.ts';

const running: Serving[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((serving) => serving.close()));
});

async function serve(routes: readonly Route[], port = 0): Promise<Serving> {
  const serving = await startServing({ port, portFlag: '--port', routes, logger: silentLogger });
  running.push(serving);
  return serving;
}

async function get(serving: Serving, path: string, method = 'GET'): Promise<{ status: number; text: string }> {
  const response = await fetch(serving.url + path, { method });
  return { status: response.status, text: await response.text() };
}

it('answers each path from its route, with the query', async () => {
  const serving = await serve([
    { path: '/a', answer: () => ({ status: 200, text: 'a' }) },
    { path: '/b', answer: (query) => ({ status: 503, type: 'text/csv', text: query.get('columns') ?? '' }) },
  ]);
  expect(serving.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await get(serving, '/a')).toEqual({ status: 200, text: 'a' });
  expect(await get(serving, '/b?columns=x,y')).toEqual({ status: 503, text: 'x,y' });
  expect((await fetch(`${serving.url}/b`)).headers.get('content-type')).toBe('text/csv');
  expect((await fetch(`${serving.url}/a`)).headers.get('content-type')).toBe('text/plain; charset=utf-8');
});

it('serves the health and the metrics of a process', async () => {
  const registry = createMetricRegistry({ processMetrics: true });
  const serving = await serve([...healthRoutes([{ name: 'ping', check: () => true }]), metricsRoute(registry)]);
  expect(await get(serving, '/livez')).toEqual({ status: 200, text: 'ok' });
  expect((await get(serving, '/readyz?verbose')).text).toBe('[+]ping ok\nreadyz check passed\n');
  expect((await get(serving, '/metrics')).text).toContain('process_cpu_seconds_total');
  expect(await get(serving, '/metricz')).toEqual({
    status: 404,
    text: 'no /metricz here: there are /healthz, /livez, /readyz and /metrics\n',
  });
});

it('answers a route that fails with 500 and goes on', async () => {
  const serving = await serve([
    { path: '/broken', answer: () => Promise.reject(new Error('cannot count')) },
    {
      path: '/defective',
      answer: () => {
        throw new RangeError('too many');
      },
    },
    { path: '/fine', answer: () => ({ status: 200, text: 'fine' }) },
  ]);
  expect(await get(serving, '/broken')).toEqual({ status: 500, text: 'Error: cannot count\n' });
  expect(await get(serving, '/defective')).toEqual({ status: 500, text: 'RangeError: too many\n' });
  expect((await get(serving, '/fine')).status).toBe(200);
});

it('says what there is when asked for something else', async () => {
  const answer = (): { status: number; text: string } => ({ status: 200, text: 'yes' });
  const serving = await serve(['/a', '/b', '/debug/c'].map((path) => ({ path, answer })));
  expect(await get(serving, '/d')).toEqual({ status: 404, text: 'no /d here: there are /a, /b and /debug/c\n' });
  expect(await get(serving, '/a/')).toMatchObject({ status: 404 });
  expect((await get(serving, '/a', 'POST')).status).toBe(405);
  expect(await get(serving, '/a', 'HEAD')).toEqual({ status: 200, text: '' });
});

it('names the port and the flag when another process has the port', async () => {
  const first = await serve([]);
  const port = Number(new URL(first.url).port);
  await expect(serve([], port)).rejects.toMatchObject({
    name: 'PortUnavailableError',
    port,
    message: `cannot serve on 127.0.0.1, port ${port}: another process has it. Choose another port with --port (0 for any free one)`,
  });
});

it('closes at once though a client keeps its connection open', async () => {
  const serving = await serve(healthRoutes([]));
  await get(serving, '/livez'); // fetch keeps the connection
  await serving.close();
  await serving.close();
  await expect(get(serving, '/livez')).rejects.toThrow();
});
