import { expect, it } from 'vitest';
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
