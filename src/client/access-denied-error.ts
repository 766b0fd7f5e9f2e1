import { UserError } from '../base/user-error.ts';
import { ForbiddenError, UnauthorizedError } from './api-errors.ts';

/** The API server answers, but not to this user: 401 or 403. `cause` is its answer. */
export class AccessDeniedError extends UserError {
  override readonly name = 'AccessDeniedError';

  constructor(cause: UnauthorizedError | ForbiddenError) {
    const remedy =
      cause instanceof UnauthorizedError
        ? 'The server does not know these credentials, or they have expired: renew them, or choose others with --kubeconfig and --context'
        : 'The server knows this user, who may not do that: give the user a role that allows it, or choose another user with --kubeconfig and --context';
    super(`${cause.message.replace(/\.$/, '')}. ${remedy}`, { cause });
  }
}

/** For where an error reaches a person: a rejection by the API server with what can be done about it, any other error as it is. */
export function explainRejection(error: unknown): unknown {
  return error instanceof UnauthorizedError || error instanceof ForbiddenError ? new AccessDeniedError(error) : error;
}
