import { UserError } from '../../base/user-error.ts';
import type { ApiError } from '../../client/api-errors.ts';

/** The API server has answered a request of the command with an error. */
export class RequestFailedError extends UserError {
  override readonly name = 'RequestFailedError';

  constructor(cause: ApiError) {
    super(`${cause.request}: ${cause.message}`, { cause });
  }
}
