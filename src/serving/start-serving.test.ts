import { Counter } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';
import { silentLogger } from '../observability/testing/silent-logger.ts';
import type { ReadinessCheck } from './readiness-check.ts';
import { startServing } from './start-serving.ts';
import type { Serving } from './start-serving.ts';

const running: Serving[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((serving) => serving.close()));
});

async function serve(checks: readonly ReadinessCheck[] = [], registry?: MetricRegistry, port = 0): Promise<Serving> {
  const serving = await startServing({
    port,
    portFlag: '--port',
    checks,
    registry: registry ?? createMetricRegistry({ processMetrics: false }),
    logger: silentLogger,
  });
  running.push(serving);
  return serving;
}

async function get(serving: Serving, path: string, method = 'GET'): Promise<{ status: number; text: string }> {
  const response = await fetch(serving.url + path, { method });
  return { status: response.status, text: await response.text() };
}

describe('health', () => {
  it('is alive as soon as it answers, ready only when every check holds', async () => {
    let synced = false;
    const serving = await serve([
      { name: 'ping', check: () => true },
      { name: 'caches-synced', check: () => synced || 'pods are still being listed' },
    ]);
    expect(serving.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await get(serving, '/livez')).toEqual({ status: 200, text: 'ok' });
    expect(await get(serving, '/healthz')).toEqual({ status: 200, text: 'ok' });
    const waiting = await get(serving, '/readyz');
    expect(waiting.status).toBe(503);
    expect(waiting.text).toBe(
      '[+]ping ok\n[-]caches-synced failed: pods are still being listed\nreadyz check failed\n',
    );
    synced = true;
    expect(await get(serving, '/readyz')).toEqual({ status: 200, text: 'ok' });
    expect((await get(serving, '/readyz?verbose')).text).toBe('[+]ping ok\n[+]caches-synced ok\nreadyz check passed\n');
  });

  it('takes a check that throws for one that does not hold', async () => {
    const serving = await serve([
      {
        name: 'lease',
        check: () => {
          throw new RangeError('no lease');
        },
      },
    ]);
    expect(await get(serving, '/readyz')).toMatchObject({
      status: 503,
      text: expect.stringContaining('[-]lease failed: RangeError: no lease') as string,
    });
  });
});

it("serves the registry's metrics", async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  new Counter({ name: 'attempts_total', help: 'Attempts.', registers: [registry] }).inc(3);
  const serving = await serve([], registry);
  expect((await get(serving, '/metrics')).text).toContain('attempts_total 3');
});

it('answers a metric that fails with 500 and goes on', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  new Counter({
    name: 'broken_total',
    help: 'Broken.',
    registers: [registry],
    collect: () => {
      throw new Error('cannot count');
    },
  });
  const serving = await serve([], registry);
  expect(await get(serving, '/metrics')).toEqual({ status: 500, text: 'Error: cannot count\n' });
  expect((await get(serving, '/livez')).status).toBe(200);
});

it('says what there is when asked for something else', async () => {
  const serving = await serve();
  expect(await get(serving, '/metricz')).toEqual({
    status: 404,
    text: 'no /metricz here: there are /healthz, /livez, /readyz and /metrics\n',
  });
  expect((await get(serving, '/metrics', 'POST')).status).toBe(405);
  expect(await get(serving, '/livez', 'HEAD')).toEqual({ status: 200, text: '' });
});

it('names the port and the flag when another process has the port', async () => {
  const first = await serve();
  const port = Number(new URL(first.url).port);
  await expect(serve([], undefined, port)).rejects.toMatchObject({
    name: 'PortUnavailableError',
    port,
    message: `cannot serve on 127.0.0.1, port ${port}: another process has it. Choose another port with --port (0 for any free one)`,
  });
});

it('closes at once though a client keeps its connection open', async () => {
  const serving = await serve();
  await get(serving, '/livez'); // fetch keeps the connection
  await serving.close();
  await serving.close();
  await expect(get(serving, '/livez')).rejects.toThrow();
});
