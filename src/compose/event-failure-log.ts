import { ForbiddenError } from '../client/api-errors.ts';
import type { Logger } from '../observability/logger.ts';

/** As API servers word it, whoever authorizes; quotas and namespaces that end are rejections of other kinds. */
const lacksRight = / cannot (?:create|patch) /;

/**
 * Told of Events that could not be written. That the process lacks the right is a warning, once; the rest is for who looks closely,
 * for Events are a courtesy.
 */
export function eventFailureLog(logger: Logger): (error: unknown) => void {
  let hasWarned = false;
  return (error) => {
    if (hasWarned || !(error instanceof ForbiddenError && lacksRight.test(error.message))) {
      logger.debug('could not write an event', { error });
      return;
    }
    hasWarned = true;
    logger.warn('Events may not be written, and nobody sees them: give the right that the error names', { error });
  };
}
