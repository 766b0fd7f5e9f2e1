import { UserError } from '../base/user-error.ts';

/** One reason why the server rejected a request, from the details of its Status. */
export interface StatusCause {
  /** FieldValueInvalid, FieldValueRequired, … */
  readonly reason?: string;
  readonly message?: string;
  /** Path of the field: `spec.minMember`. */
  readonly field?: string;
}

/** The content of an error response from an API server. */
export interface ApiErrorDetails {
  /** HTTP status code; for an ERROR event on a watch, the code inside the Status. */
  readonly status: number;
  /** The Status's reason (`NotFound`, `AlreadyExists`, …); empty if the response has none. */
  readonly reason: string;
  /** Method and path of the request: `GET /api/v1/nodes/a`. */
  readonly request: string;
  readonly causes: readonly StatusCause[];
  /** How long the server asks the client to wait before a retry, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** The API server responded with an error. One subclass per cause; `name` is stable. */
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

/** 400, and every 4xx without a class of its own: sending the same request again cannot succeed. */
export class BadRequestError extends ApiError {
  override readonly name = 'BadRequestError';
}

/** 401: the credentials are missing, expired or unknown. The transport has already requested new ones. */
export class UnauthorizedError extends ApiError {
  override readonly name = 'UnauthorizedError';
}

/** 403: the user is authenticated but not allowed to do this (RBAC, admission, quota). */
export class ForbiddenError extends ApiError {
  override readonly name = 'ForbiddenError';
}

/** 404: the object, its namespace or its kind does not exist. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/** 409 with a reason other than AlreadyExists: a stale resourceVersion or uid, or a pod that is already bound. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/** 409 AlreadyExists: an object with this name exists. */
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

/** 429: the server sheds load, or a disruption budget forbids an eviction. The server did not carry out the request. */
export class TooManyRequestsError extends ApiError {
  override readonly name = 'TooManyRequestsError';
}

/** 5xx: the server may have carried out a write, unless it asks for a retry (Retry-After). */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

/** A success response whose body is unusable (truncated or not JSON). */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError';
}

/** No response: the connection failed or was lost. `cause` is the transport's error. */
export class ConnectionError extends UserError {
  override readonly name: string = 'ConnectionError';
  /** True if the server may have carried out the request: read the object back first. Never for a GET. */
  readonly ambiguous: boolean;

  constructor(message: string, options: { readonly ambiguous: boolean; readonly cause: unknown }) {
    super(message, { cause: options.cause });
    this.ambiguous = options.ambiguous;
  }
}

/** The request was not sent: there is no connection to the server, or there are no credentials for it. */
export class UnreachableError extends ConnectionError {
  override readonly name = 'UnreachableError';

  constructor(message: string, options: { readonly cause: unknown }) {
    super(message, { ambiguous: false, cause: options.cause });
  }
}

/** No response within the call's deadline. */
export class TimeoutError extends UserError {
  override readonly name = 'TimeoutError';
  /** True if the server may have carried out the request. Never for a GET. */
  readonly ambiguous: boolean;

  constructor(message: string, options: { readonly ambiguous: boolean }) {
    super(message);
    this.ambiguous = options.ambiguous;
  }
}

/** A write was not sent, or was cut off, because this process does not hold the Lease. */
export class NotLeadingError extends Error {
  override readonly name = 'NotLeadingError';
}

/** A write was not sent because its caller withdrew it. */
export class WithdrawnError extends Error {
  override readonly name = 'WithdrawnError';
}

/** A write was cut off because its response no longer matters: its purpose is already achieved or out of reach. */
export class SettledError extends Error {
  override readonly name = 'SettledError';
}

/** Several requests for the same write failed, and the server may have carried out one of them. `cause` is the last error. */
export class UnclearOutcomeError extends Error {
  override readonly name = 'UnclearOutcomeError';
  declare readonly cause: Error;

  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Returns whether the server reported the outcome of the call. A 5xx may not say whether the call took effect. */
export function isPlainAnswer(error: unknown): boolean {
  return error instanceof ApiError && !(error instanceof ServerError);
}

/** Returns whether the server may have carried out a write despite this error, as far as it matters to a process that still leads. */
export function isUnclear(error: unknown): boolean {
  if (error instanceof ApiError) return error instanceof ServerError && error.retryAfterMs === undefined;
  if (error instanceof ConnectionError || error instanceof TimeoutError) return error.ambiguous;
  return !(error instanceof WithdrawnError || error instanceof NotLeadingError);
}

/** Returns whether the server may have carried out the request despite this error. */
export function isAmbiguous(error: unknown): boolean {
  return (error instanceof ConnectionError || error instanceof TimeoutError) && error.ambiguous;
}
