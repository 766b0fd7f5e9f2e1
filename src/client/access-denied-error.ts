import { UserError } from '../base/user-error.ts';
import { ForbiddenError, UnauthorizedError } from './api-errors.ts';

/** The API server denied this user the request: 401 or 403. `cause` is the response. */
export class AccessDeniedError extends UserError {
  override readonly name = 'AccessDeniedError';

  constructor(cause: UnauthorizedError | ForbiddenError) {
    const remedy =
      cause instanceof UnauthorizedError
        ? 'The server does not recognize these credentials, or they have expired: renew them, or choose others with --kubeconfig and --context'
        : 'The server recognizes this user but denies the request: grant the user a role that allows it, or choose another user with --kubeconfig and --context';
    super(`${cause.message.replace(/\.$/, '')}. ${remedy}`, { cause });
  }
}

/** Prepares an error for users: adds a remedy to a 401 or 403 from the API server and returns any other error unchanged. */
export function explainRejection(error: unknown): unknown {
  return error instanceof UnauthorizedError || error instanceof ForbiddenError ? new AccessDeniedError(error) : error;
}
