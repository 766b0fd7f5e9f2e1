import { UserError } from '../base/user-error.ts';

/** One reason why a request was rejected, as the server's Status names it. */
export interface StatusCause {
  /** FieldValueInvalid, FieldValueRequired, … */
  readonly reason?: string;
  readonly message?: string;
  /** Path of the field: `spec.minMember`. */
  readonly field?: string;
}

/** What an error answer of an API server says, whatever its kind. */
export interface ApiErrorDetails {
  /** HTTP status code; for an ERROR on a watch, the code inside the Status. */
  readonly status: number;
  /** The Status's reason (`NotFound`, `AlreadyExists`, …); empty when the answer carried none. */
  readonly reason: string;
  /** `GET /api/v1/nodes/a`: what was asked. */
  readonly request: string;
  readonly causes: readonly StatusCause[];
  /** How long the server asks to stay away, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** The API server answered, and the answer is an error. One subclass per cause; `name` is stable. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly reason: string;
  readonly request: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ApiErrorDetails) {
    super(message);
    this.status = details.status;
    this.reason = details.reason;
    this.request = details.request;
    this.causes = details.causes;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** 400, and every 4xx that has no class of its own: sending the same again is useless. */
export class BadRequestError extends ApiError {
  override readonly name = 'BadRequestError';
}

/** 401: the credentials are missing, expired or unknown. The transport has already asked for new ones. */
export class UnauthorizedError extends ApiError {
  override readonly name = 'UnauthorizedError';
}

/** 403: known, but not allowed (RBAC, admission, quota). */
export class ForbiddenError extends ApiError {
  override readonly name = 'ForbiddenError';
}

/** 404: the object, its namespace or its kind does not exist. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/** 409 with another reason than AlreadyExists: a resourceVersion or uid no longer holds, or a pod is bound already. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/** 409 AlreadyExists: an object of this name is there. */
export class AlreadyExistsError extends ApiError {
  override readonly name = 'AlreadyExistsError';
}

/** 410: the resourceVersion or continue token is too old. List again. */
export class GoneError extends ApiError {
  override readonly name = 'GoneError';
}

/** 422: the object does not validate; `causes` names the fields. */
export class InvalidError extends ApiError {
  override readonly name = 'InvalidError';
}

/** 429: the server sheds load (or a disruption budget forbids an eviction). Nothing was carried out. */
export class TooManyRequestsError extends ApiError {
  override readonly name = 'TooManyRequestsError';
}

/** 5xx: whether a write was carried out is not known, unless the server asks to come again. */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

/** An answer with a good status whose body is not what it should be (truncated or no JSON). */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError';
}

/** No answer: the connection could not be made or was lost. `cause` is what the transport said. */
export class ConnectionError extends UserError {
  override readonly name = 'ConnectionError';
  /** True when the server may have carried the request out: read back before anything else. Never for a GET. */
  readonly ambiguous: boolean;

  constructor(message: string, options: { readonly ambiguous: boolean; readonly cause: unknown }) {
    super(message, { cause: options.cause });
    this.ambiguous = options.ambiguous;
  }
}

/** No answer within the call's deadline. */
export class TimeoutError extends UserError {
  override readonly name = 'TimeoutError';
  /** True when the server may have carried the request out. Never for a GET. */
  readonly ambiguous: boolean;

  constructor(message: string, options: { readonly ambiguous: boolean }) {
    super(message);
    this.ambiguous = options.ambiguous;
  }
}

/** A write was not sent, or was cut: this process does not hold the Lease, or not any more. */
export class NotLeadingError extends Error {
  override readonly name = 'NotLeadingError';
}

/** A write was not sent: whoever asked for it does not want it any more. */
export class WithdrawnError extends Error {
  override readonly name = 'WithdrawnError';
}

/** A write was cut because nobody needs its answer any more: what it was to do is done, or cannot be done by now. */
export class SettledError extends Error {
  override readonly name = 'SettledError';
}

/** Whether after this error it is unknown if the server carried the request out. */
export function isAmbiguous(error: unknown): boolean {
  return (error instanceof ConnectionError || error instanceof TimeoutError) && error.ambiguous;
}
