import { UserError } from '../../base/user-error.ts';
import { ApiError } from '../../client/api-errors.ts';
import type { MalformedAnswerError } from '../../client/api-errors.ts';

/** The API server has answered a request of the command with an error, or with something that is no answer of an API server. */
export class RequestFailedError extends UserError {
  override readonly name = 'RequestFailedError';

  constructor(cause: ApiError | MalformedAnswerError) {
    const { message } = cause;
    super(cause instanceof ApiError ? message : `${message}; check that the kubeconfig names an API server`, { cause });
  }
}
