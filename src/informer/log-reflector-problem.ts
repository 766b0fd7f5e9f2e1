import { isAccessProblem } from '../client/api-access-log.ts';
import { ConnectionError } from '../client/api-errors.ts';
import { describeError } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { ReflectorProblem } from './reflector-problem.ts';

/**
 * Logs one line per problem, the same in every process. Of consecutive failures, the 1st, 2nd, 4th, 8th, … are warnings and the
 * others are debug lines, so that an outage does not fill the log. So are problems that have a line elsewhere.
 */
export function logReflectorProblem(logger: Logger, problem: ReflectorProblem): void {
  const { error, ...fields } = problem;
  const details = { ...fields, error: describeError(error) };
  switch (problem.kind) {
    case 'malformed':
      logger.warn('skipped a malformed object', details);
      return;
    case 'oversized':
      logger.warn('an object is too large for a watch event', details);
      return;
    case 'handler':
      logger.error('event handler failed', details);
      return;
    case 'list':
    case 'watch':
      if (Number.isInteger(Math.log2(problem.failures)) && !isReportedElsewhere(problem))
        logger.warn(`${problem.kind} failed; will retry`, details);
      else logger.debug(`${problem.kind} failed; will retry`, details);
  }
}

/**
 * Returns whether the problem needs no line here. ApiAccessLog reports an unreachable server and missing permissions for all reflectors. If
 * a watch lost its connection, the retry shows whether there is a problem.
 */
function isReportedElsewhere({ kind, error, ...problem }: ReflectorProblem): boolean {
  if (isAccessProblem(error)) return true;
  return kind === 'watch' && error instanceof ConnectionError && 'failures' in problem && problem.failures === 1;
}
