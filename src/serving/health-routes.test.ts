import { expect, it } from 'vitest';
import { silentLogger } from '../observability/silent-logger.ts';
import type { HealthCheck } from './health-check.ts';
import { healthRoutes } from './health-routes.ts';
import type { Answer } from './route.ts';
import { ShutdownCheck } from './shutdown-check.ts';

interface Checks {
  readonly live?: readonly HealthCheck[];
  readonly ready?: readonly HealthCheck[];
}

function ask(target: string, { live = [], ready = [] }: Checks = {}): Answer | Promise<Answer> {
  const { pathname, searchParams } = new URL(target, 'http://x');
  const [, path, part] = pathname.split('/');
  const route = healthRoutes({ live, ready, logger: silentLogger }).find((found) => found.path === `/${path}`);
  return route!.answer(searchParams, part);
}

const holds = (name: string): HealthCheck => ({ name, check: () => true });
const fails = (name: string): HealthCheck => ({ name, check: () => `${name} is bad` });

it("responds with ok while every check passes, otherwise with the failing checks in Kubernetes' format", () => {
  const ready = [holds('caches-synced'), fails('disk')];
  expect(ask('/readyz', { ready: [holds('caches-synced')] })).toEqual({ status: 200, text: 'ok' });
  expect(ask('/readyz', { ready })).toEqual({
    status: 500,
    text: '[+]ping ok\n[+]caches-synced ok\n[-]disk failed: disk is bad\nreadyz check failed\n',
  });
  expect(ask('/livez', { ready })).toEqual({ status: 200, text: 'ok' });
});

it('shows every check with ?verbose', () => {
  expect(ask('/livez?verbose', { live: [holds('scheduling-loop')] })).toEqual({
    status: 200,
    text: '[+]ping ok\n[+]scheduling-loop ok\nlivez check passed\n',
  });
});

it('skips excluded checks, and warns about unknown ones', () => {
  const ready = [fails('a'), fails('b'), holds('c')];
  expect(ask('/readyz?exclude=a&exclude=b', { ready })).toEqual({ status: 200, text: 'ok' });
  expect(ask('/readyz?verbose&exclude=a&exclude=<b>', { ready })).toEqual({
    status: 500,
    text:
      '[+]ping ok\n[+]a excluded: ok\n[-]b failed: b is bad\n[+]c ok\n' +
      'warn: some health checks cannot be excluded: no matches for "<b>"\nreadyz check failed\n',
  });
});

it('serves a single check', () => {
  const ready = [fails('a'), holds('b')];
  expect(ask('/readyz/b', { ready })).toEqual({ status: 200, text: 'ok' });
  expect(ask('/readyz/a', { ready })).toEqual({ status: 500, text: 'a failed: a is bad\n' });
  expect(ask('/readyz/d', { ready })).toEqual({ status: 404, text: 'no such check: /readyz has ping, a, b\n' });
});

it('counts a check that throws as failed, and does not show the error', () => {
  const check = (): never => {
    throw new RangeError('the password is 1234');
  };
  expect(ask('/healthz', { live: [{ name: 'lease', check }] })).toEqual({
    status: 500,
    text: '[+]ping ok\n[-]lease failed: the check threw an error; see the log\nhealthz check failed\n',
  });
});

it('is no longer ready once the process starts to shut down', () => {
  const shutdown = new ShutdownCheck();
  expect(ask('/readyz', { ready: [shutdown] })).toMatchObject({ status: 200 });
  shutdown.begin();
  expect(ask('/readyz', { ready: [shutdown] })).toMatchObject({ status: 500 });
});
