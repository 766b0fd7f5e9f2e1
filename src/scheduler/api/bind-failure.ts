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
 * What a failed Binding means for the pod:
 * - `gone`: the pod no longer exists and cannot be bound;
 * - `busy`: the request had no effect and may be sent again later (429, or no connection was made);
 * - `conflict`: the pod is bound, being deleted or replaced (409); only a read tells which;
 * - `unclear`: the server has finished the request but does not say whether it took effect (5xx, an unreadable response);
 * - `lost`: the request may still take effect until its deadline (connection lost, timeout, a 5xx from a proxy or an API server timeout);
 * - `rejected`: the request had no effect and would be rejected again (400, 401, 403, 422, withdrawn, …).
 */
export type BindFailure = 'gone' | 'busy' | 'conflict' | 'unclear' | 'lost' | 'rejected';

const gatewayTimeout = 504;

export function bindFailureOf(error: unknown): BindFailure {
  // A 404 from a proxy says nothing about the pod.
  if (error instanceof NotFoundError) return error.reason === 'NotFound' ? 'gone' : 'rejected';
  if (error instanceof TooManyRequestsError) return 'busy';
  if (error instanceof ConflictError || error instanceof AlreadyExistsError) return 'conflict';
  if (error instanceof ServerError) return error.reason === '' || error.status === gatewayTimeout ? 'lost' : 'unclear';
  if (error instanceof MalformedAnswerError) return 'unclear';
  if (error instanceof ConnectionError || error instanceof TimeoutError) return isAmbiguous(error) ? 'lost' : 'busy';
  return 'rejected';
}
