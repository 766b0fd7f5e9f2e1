import { expect, it } from 'vitest';
import { healthRoutes } from './health-routes.ts';
import type { ReadinessCheck } from './readiness-check.ts';
import type { Answer } from './route.ts';

function ask(target: string, ...checks: ReadinessCheck[]): Answer | Promise<Answer> | undefined {
  const [path, query] = target.split('?', 2);
  return healthRoutes(checks)
    .find((route) => route.path === path)
    ?.answer(new URLSearchParams(query));
}

it('is alive as soon as it answers, ready only when every check holds', () => {
  let synced = false;
  const checks: ReadinessCheck[] = [
    { name: 'ping', check: () => true },
    { name: 'caches-synced', check: () => synced || 'pods are still being listed' },
  ];
  expect(ask('/livez', ...checks)).toEqual({ status: 200, text: 'ok' });
  expect(ask('/healthz', ...checks)).toEqual({ status: 200, text: 'ok' });
  expect(ask('/readyz', ...checks)).toEqual({
    status: 503,
    text: '[+]ping ok\n[-]caches-synced failed: pods are still being listed\nreadyz check failed\n',
  });
  synced = true;
  expect(ask('/readyz', ...checks)).toEqual({ status: 200, text: 'ok' });
  expect(ask('/readyz?verbose', ...checks)).toEqual({
    status: 200,
    text: '[+]ping ok\n[+]caches-synced ok\nreadyz check passed\n',
  });
});

it('takes a check that throws for one that does not hold', () => {
  const check = (): never => {
    throw new RangeError('no lease');
  };
  expect(ask('/readyz', { name: 'lease', check })).toMatchObject({
    status: 503,
    text: expect.stringContaining('[-]lease failed: RangeError: no lease') as string,
  });
});
