import { describeError } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import type { ReflectorProblem } from './reflector-problem.ts';

/**
 * One log line a problem, the same from every process. Of failures in a row the 1st, 2nd, 4th, 8th … are warnings and the
 * others are for debugging, so that an outage does not fill the log.
 */
export function logReflectorProblem(logger: Logger, problem: ReflectorProblem): void {
  const { error, ...fields } = problem;
  const details = { ...fields, error: describeError(error) };
  switch (problem.kind) {
    case 'malformed':
      logger.warn('skipped a malformed object', details);
      return;
    case 'oversized':
      logger.warn('an object is too large to be watched', details);
      return;
    case 'handler':
      logger.error('handling a watch change failed', details);
      return;
    case 'list':
    case 'watch':
      if (Number.isInteger(Math.log2(problem.failures)))
        logger.warn(`${problem.kind} failed, it will be tried again`, details);
      else logger.debug(`${problem.kind} failed, it will be tried again`, details);
  }
}
