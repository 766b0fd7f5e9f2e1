import { expect, it } from 'vitest';
import { ConnectionError, ForbiddenError, UnreachableError } from '../client/api-errors.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { logReflectorProblem } from './log-reflector-problem.ts';

it('warns about the 1st, 2nd, 4th, 8th, … consecutive failure', () => {
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (_message: string, fields?: object) => void warnings.push(fields) };
  for (let failures = 1; failures <= 20; failures++) {
    logReflectorProblem(logger, {
      kind: 'watch',
      path: '/api/v1/pods',
      failures,
      delayMs: 1000,
      error: new Error('gone'),
    });
  }
  expect(warnings.map((fields) => (fields as { failures: number }).failures)).toEqual([1, 2, 4, 8, 16]);
});

it('leaves it to ApiAccessLog to report an unreachable server and a missing permission', () => {
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void lines.push(message) };
  const problem = { kind: 'list', path: '/api/v1/nodes', failures: 1, delayMs: 1000 } as const;
  const missing = 'User "a" cannot list resource "nodes" in API group "" at the cluster scope';
  const details = { status: 403, reason: 'Forbidden', request: 'GET /api/v1/nodes', causes: [] };
  logReflectorProblem(logger, { ...problem, error: new ForbiddenError(missing, details) });
  logReflectorProblem(logger, { ...problem, error: new UnreachableError('refused', { cause: undefined }) });
  expect(lines).toEqual([]);
});

it('warns about a lost watch only if the retry fails too', () => {
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (_message: string, fields?: object) => void warnings.push(fields) };
  const error = new ConnectionError('read ECONNRESET', { ambiguous: false, cause: undefined });
  for (const failures of [1, 2]) {
    logReflectorProblem(logger, { kind: 'watch', path: '/api/v1/nodes', failures, delayMs: 1000, error });
  }
  expect(warnings).toMatchObject([{ failures: 2 }]);
});

it('always logs malformed objects and failing handlers', () => {
  const lines: string[] = [];
  const logger = {
    ...silentLogger,
    warn: (message: string) => void lines.push(message),
    error: (message: string) => void lines.push(message),
  };
  const error = new Error('no uid');
  logReflectorProblem(logger, { kind: 'malformed', path: '/api/v1/pods', where: 'default/a', error });
  logReflectorProblem(logger, { kind: 'handler', path: '/api/v1/pods', where: 'default/a', error });
  expect(lines).toEqual(['skipped a malformed object', 'event handler failed']);
});
