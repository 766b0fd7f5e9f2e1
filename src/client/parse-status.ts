import {
  AlreadyExistsError,
  BadRequestError,
  ConflictError,
  ForbiddenError,
  GoneError,
  InvalidError,
  NotFoundError,
  ServerError,
  TooManyRequestsError,
  UnauthorizedError,
} from './api-errors.ts';
import type { ApiError, ApiErrorDetails, StatusCause } from './api-errors.ts';

const maxQuotedLength = 300;
/** Maximum Retry-After, in milliseconds: one response must not block the client for days. */
const maxRetryAfterMs = 60_000;

/**
 * Converts an error response to a typed error. No other code does that. `body` is the raw text: a Status from the API server,
 * anything from a proxy. `now` (wall clock, ms) resolves a Retry-After that is a date.
 */
export function errorFromResponse(
  request: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
  now: number,
): ApiError {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined;
  }
  const fromHeader = parseRetryAfter(headers['retry-after'], now);
  const fallback = body.trim().slice(0, maxQuotedLength) || 'no message';
  return build(request, status, parsed, fallback, fromHeader);
}

/** Converts the Status of an ERROR event on a watch to a typed error. */
export function errorFromStatus(request: string, status: unknown): ApiError {
  const code = isRecord(status) && typeof status.code === 'number' ? status.code : 500;
  return build(request, code, status, 'no message', undefined);
}

/** Parses Retry-After (seconds or an HTTP date) to milliseconds. Returns undefined if it is absent or invalid. */
function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (value.trim() !== '' && !Number.isNaN(seconds)) return bounded(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : bounded(date - now);
}

function bounded(ms: number): number {
  return Math.min(Math.max(0, ms), maxRetryAfterMs);
}

function build(
  request: string,
  code: number,
  status: unknown,
  fallback: string,
  retryAfterHeaderMs: number | undefined,
): ApiError {
  const fields = isRecord(status) && status.kind === 'Status' ? status : {};
  const reason = typeof fields.reason === 'string' ? fields.reason : '';
  const text = typeof fields.message === 'string' && fields.message !== '' ? fields.message : fallback;
  const details = isRecord(fields.details) ? fields.details : {};
  const retryAfterMs =
    retryAfterHeaderMs ??
    (typeof details.retryAfterSeconds === 'number' ? bounded(details.retryAfterSeconds * 1000) : undefined);
  const all: ApiErrorDetails = {
    status: code,
    reason,
    request,
    causes: Array.isArray(details.causes) ? details.causes.filter(isRecord).map(toCause) : [],
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  const message = `${request} returned ${code}${reason === '' ? '' : ` ${reason}`}: ${text}`;
  switch (code) {
    case 401:
      return new UnauthorizedError(message, all);
    case 403:
      return new ForbiddenError(message, all);
    case 404:
      return new NotFoundError(message, all);
    case 409:
      return reason === 'AlreadyExists' ? new AlreadyExistsError(message, all) : new ConflictError(message, all);
    case 410:
      return new GoneError(message, all);
    case 422:
      return new InvalidError(message, all);
    case 429:
      return new TooManyRequestsError(message, all);
    default:
      return code >= 500 ? new ServerError(message, all) : new BadRequestError(message, all);
  }
}

function toCause(cause: Record<string, unknown>): StatusCause {
  return {
    ...(typeof cause.reason === 'string' ? { reason: cause.reason } : {}),
    ...(typeof cause.message === 'string' ? { message: cause.message } : {}),
    ...(typeof cause.field === 'string' ? { field: cause.field } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
