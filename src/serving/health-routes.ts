import type { Logger } from '../observability/logger.ts';
import type { HealthCheck } from './health-check.ts';
import type { Answer, Route } from './route.ts';

export interface HealthRoutesOptions {
  /** If one of them fails, the process should be restarted. */
  readonly live: readonly HealthCheck[];
  /** While one of them fails, the process should get no traffic. */
  readonly ready: readonly HealthCheck[];
  readonly logger: Logger;
}

const ping: HealthCheck = { name: 'ping', check: () => true };

/**
 * Serves /livez, /readyz and the older /healthz, which equals /livez, in the format of kube-apiserver and kube-scheduler. The
 * response is `ok` if every check passes, otherwise 500 and a line for each check. `?verbose` always shows the lines,
 * `?exclude=NAME` (repeatable) skips a check, and `/livez/NAME` runs a single one.
 */
export function healthRoutes({ live, ready, logger }: HealthRoutesOptions): readonly Route[] {
  return [
    healthRoute('healthz', [ping, ...live], logger),
    healthRoute('livez', [ping, ...live], logger),
    healthRoute('readyz', [ping, ...ready], logger),
  ];
}

function healthRoute(name: string, checks: readonly HealthCheck[], logger: Logger): Route {
  return {
    path: `/${name}`,
    hasParts: true,
    answer: (query, part) => {
      if (part === undefined) return answerAll(name, checks, query, logger);
      const check = checks.find((each) => each.name === part);
      return check === undefined ? unknownCheck(name, checks) : answerOne(check, logger);
    },
  };
}

function answerAll(name: string, checks: readonly HealthCheck[], query: URLSearchParams, logger: Logger): Answer {
  const excluded = new Set(query.getAll('exclude'));
  const results = checks.map((check) =>
    excluded.delete(check.name)
      ? { name: check.name, result: 'excluded' as const }
      : { name: check.name, result: outcome(check, logger) },
  );
  const isHealthy = results.every(({ result }) => result === 'ok' || result === 'excluded');
  if (isHealthy && !query.has('verbose')) return { status: 200, text: 'ok' };
  const lines = results.map(({ name: checked, result }) => {
    if (result === 'ok') return `[+]${checked} ok`;
    return result === 'excluded' ? `[+]${checked} excluded: ok` : `[-]${checked} failed: ${result}`;
  });
  if (excluded.size > 0) {
    const names = [...excluded].map((excludedName) => JSON.stringify(excludedName)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  return {
    status: isHealthy ? 200 : 500,
    text: [...lines, `${name} check ${isHealthy ? 'passed' : 'failed'}`, ''].join('\n'),
  };
}

function answerOne(check: HealthCheck, logger: Logger): Answer {
  const result = outcome(check, logger);
  return result === 'ok' ? { status: 200, text: 'ok' } : { status: 500, text: `${check.name} failed: ${result}\n` };
}

function unknownCheck(name: string, checks: readonly HealthCheck[]): Answer {
  return { status: 404, text: `no such check: /${name} has ${checks.map((check) => check.name).join(', ')}\n` };
}

/** Returns `ok`, or the reason why the check fails. */
function outcome(check: HealthCheck, logger: Logger): string {
  try {
    const result = check.check();
    return result === true ? 'ok' : result;
  } catch (error) {
    logger.error('a health check threw an error', { check: check.name, error });
    return 'the check threw an error; see the log';
  }
}
