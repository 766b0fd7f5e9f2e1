import { describeError } from '../observability/logger.ts';
import type { ReadinessCheck } from './readiness-check.ts';
import type { Answer, Route } from './route.ts';

/**
 * /healthz and /livez (the process answers), and /readyz: every check holds, else 503 with the reasons; `?verbose` lists all
 * checks in any case.
 */
export function healthRoutes(checks: readonly ReadinessCheck[]): readonly Route[] {
  const alive = (): Answer => ({ status: 200, text: 'ok' });
  return [
    { path: '/healthz', answer: alive },
    { path: '/livez', answer: alive },
    { path: '/readyz', answer: (query) => readiness(checks, query.has('verbose')) },
  ];
}

function readiness(checks: readonly ReadinessCheck[], verbose: boolean): Answer {
  const results = checks.map((check) => ({ name: check.name, result: outcome(check) }));
  const ready = results.every(({ result }) => result === true);
  if (ready && !verbose) return { status: 200, text: 'ok' };
  const lines = results.map(({ name, result }) => (result === true ? `[+]${name} ok` : `[-]${name} failed: ${result}`));
  return {
    status: ready ? 200 : 503,
    text: [...lines, ready ? 'readyz check passed' : 'readyz check failed', ''].join('\n'),
  };
}

function outcome(check: ReadinessCheck): true | string {
  try {
    return check.check();
  } catch (error) {
    return describeError(error);
  }
}
