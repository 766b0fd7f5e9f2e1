import {
  AlreadyExistsError,
  ConflictError,
  ConnectionError,
  MalformedAnswerError,
  NotFoundError,
  ServerError,
  TimeoutError,
  TooManyRequestsError,
  isAmbiguous,
} from '../../client/api-errors.ts';

/**
 * What a Binding that failed says about the pod:
 * - `gone`: there is no such pod; it cannot be bound any more;
 * - `busy`: nothing was carried out, and the same may be sent again later (429; no connection was made);
 * - `conflict`: it is on a node, being deleted, or another pod by now (409): only a look tells;
 * - `unclear`: the server has ended its work on it, and does not say whether it was carried out (5xx, an answer that cannot be read);
 * - `lost`: nothing says so much as that: it may be carried out until its deadline has passed (connection lost, no answer in time, a 5xx
 *   that another than the API server wrote, or that it wrote because its own work took too long);
 * - `rejected`: not carried out, and the same would be rejected again (400, 401, 403, 422, withdrawn, …).
 */
export type BindFailure = 'gone' | 'busy' | 'conflict' | 'unclear' | 'lost' | 'rejected';

const gatewayTimeout = 504;

export function bindFailureOf(error: unknown): BindFailure {
  // A 404 of somebody on the way says nothing about the pod.
  if (error instanceof NotFoundError) return error.reason === 'NotFound' ? 'gone' : 'rejected';
  if (error instanceof TooManyRequestsError) return 'busy';
  if (error instanceof ConflictError || error instanceof AlreadyExistsError) return 'conflict';
  if (error instanceof ServerError) return error.reason === '' || error.status === gatewayTimeout ? 'lost' : 'unclear';
  if (error instanceof MalformedAnswerError) return 'unclear';
  if (error instanceof ConnectionError || error instanceof TimeoutError) return isAmbiguous(error) ? 'lost' : 'busy';
  return 'rejected';
}
