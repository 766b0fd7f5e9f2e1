import { ForbiddenError } from '../client/api-errors.ts';
import type { Logger } from '../observability/logger.ts';

/** The wording of API servers, with any authorizer. Quotas and terminating namespaces cause other rejections. */
const lacksPermission = / cannot (?:create|patch) /;

/**
 * Returns a handler for Events that could not be written. It warns once about a missing permission and logs other failures at
 * level debug, because Events are not essential.
 */
export function eventFailureLog(logger: Logger): (error: unknown) => void {
  let hasWarned = false;
  return (error) => {
    if (hasWarned || !(error instanceof ForbiddenError && lacksPermission.test(error.message))) {
      logger.debug('cannot write an Event', { error });
      return;
    }
    hasWarned = true;
    logger.warn('cannot write Events: missing RBAC permission', { error });
  };
}
