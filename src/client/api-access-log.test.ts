import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { ApiAccessLog, isAccessProblem } from './api-access-log.ts';
import { ConnectionError, ForbiddenError, ServerError, UnauthorizedError, UnreachableError } from './api-errors.ts';

const server = 'https://10.0.0.1:6443';

let clock: VirtualClock;
let log: ApiAccessLog;
let lines: object[];

beforeEach(() => {
  clock = new VirtualClock();
  lines = [];
  const keep = (level: string) => (message: string, fields?: object) => void lines.push({ level, message, ...fields });
  const logger = { ...silentLogger, info: keep('info'), warn: keep('warn'), error: keep('error') };
  log = new ApiAccessLog({ server, clock, logger });
});

function forbidden(message: string, request = 'GET /api/v1/nodes'): ForbiddenError {
  return new ForbiddenError(message, { status: 403, reason: 'Forbidden', request, causes: [] });
}

const denied = (what: string): ForbiddenError => forbidden(`x is forbidden: User "system:serviceaccount:a:b" ${what}`);
const nodes = denied('cannot list resource "nodes" in API group "" at the cluster scope');
const csinodes = denied('cannot list resource "csinodes" in API group "storage.k8s.io" at the cluster scope');
const bindings = denied('cannot create resource "pods/binding" in API group "" in the namespace "team": no role');
const others = denied('cannot create resource "pods/binding" in API group "" in the namespace "other"');
const groups = denied(
  'cannot patch resource "podgroups/status" in API group "scheduling.x-k8s.io" at the cluster scope',
);
const refused = new UnreachableError('connect ECONNREFUSED', { cause: undefined });

describe('a missing permission', () => {
  it('is named once, with verb, resource and namespace', () => {
    for (let round = 0; round < 3; round++)
      for (const error of [nodes, csinodes, bindings, others, groups]) log.failed(error);
    const user = 'system:serviceaccount:a:b';
    const message = 'API server rejects access: grant this user the missing permission';
    expect(lines).toEqual([
      { level: 'error', message, verb: 'list', resource: 'nodes', user, server },
      { level: 'error', message, verb: 'list', resource: 'csinodes.storage.k8s.io', user, server },
      { level: 'error', message, verb: 'create', resource: 'pods/binding', namespace: 'team', user, server },
      { level: 'error', message, verb: 'patch', resource: 'podgroups.scheduling.x-k8s.io/status', user, server },
    ]);
  });

  it('is repeated once a minute together with the others, while requests that need it fail', () => {
    for (const error of [nodes, csinodes]) log.failed(error);
    lines = [];
    for (let seconds = 0; seconds < 120; seconds += 10) {
      clock.advance(10_000);
      log.failed(nodes);
    }
    const message = 'API server still rejects access';
    expect(lines).toEqual([
      { level: 'warn', message, rejected: 'list nodes, list csinodes.storage.k8s.io', server },
      { level: 'warn', message, rejected: 'list nodes', server },
    ]);
  });

  it('is forgotten ten minutes after the last rejection', () => {
    log.failed(nodes);
    clock.advance(11 * 60_000);
    expect(clock.untilNextTimer()).toBeUndefined();
    lines = [];
    log.failed(nodes);
    expect(lines).toMatchObject([{ level: 'error', verb: 'list', resource: 'nodes' }]);
  });
});

describe('an unreachable server', () => {
  it('has one line for all calls, one a minute, and one when it responds again', () => {
    for (let call = 0; call < 12; call++) log.failed(refused);
    clock.advance(90_000);
    log.failed(refused);
    log.answered();
    log.answered();
    expect(lines).toEqual([
      { level: 'error', message: 'cannot reach the API server, retrying', server, error: 'connect ECONNREFUSED' },
      { level: 'warn', message: 'API server is still unreachable', server, forMs: 60_000 },
      { level: 'info', message: 'API server responds again', server, afterMs: 90_000 },
    ]);
    clock.advance(60_000);
    expect(clock.untilNextTimer()).toBeUndefined();
  });

  it('has no more than one error a minute if it comes and goes', () => {
    for (let seconds = 0; seconds < 100; seconds++) {
      log.failed(refused);
      log.answered();
      clock.advance(1_000);
    }
    expect(lines.filter((line) => 'level' in line && line.level === 'error')).toHaveLength(2);
  });

  it('responds again with any answer, errors included', () => {
    log.failed(refused);
    log.failed(new ServerError('starting', { status: 503, reason: '', request: 'GET /', causes: [] }));
    expect(lines.at(-1)).toMatchObject({ message: 'API server responds again' });
  });
});

it('reports rejected credentials once, with a remedy', () => {
  const error = new UnauthorizedError('GET /api/v1/pods returned 401 Unauthorized: Unauthorized', {
    ...{ status: 401, reason: 'Unauthorized', request: 'GET /api/v1/pods', causes: [] },
  });
  log.failed(error);
  log.failed(error);
  expect(lines).toEqual([
    {
      level: 'error',
      message: 'API server rejects access, retrying',
      server,
      error: expect.stringContaining('renew them') as string,
    },
  ]);
});

it('leaves other failures to their callers', () => {
  const quota = forbidden('pods "a" is forbidden: exceeded quota: q', 'POST /api/v1/namespaces/a/pods');
  const reset = new ConnectionError('read ECONNRESET', { ambiguous: false, cause: undefined });
  for (const error of [quota, reset]) {
    log.failed(error);
    expect(isAccessProblem(error)).toBe(false);
  }
  expect(lines).toEqual([]);
  for (const error of [nodes, refused]) expect(isAccessProblem(error)).toBe(true);
});

it('logs nothing after it is stopped', () => {
  log.failed(refused);
  log.stop();
  clock.advance(120_000);
  expect(lines).toHaveLength(1);
});
