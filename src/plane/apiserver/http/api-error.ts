import type { JsonObject } from '../json.ts';
import { maxProblems } from '../schema/field-error.ts';

/** One cause of an error, with its field if it has one. */
export interface StatusCause {
  /** The field path, such as `spec.containers[0].image`. */
  readonly field?: string;
  readonly reason: string;
  readonly message: string;
}

/** The resource, or the kind, that an error is about. */
export interface ResourceReference {
  readonly group: string;
  readonly plural: string;
}

/** An error response. Its body is the Status object that Kubernetes clients parse. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly details: JsonObject | undefined;
  readonly headers: Readonly<Record<string, string>>;

  /** Header names are in lower case. */
  constructor(
    code: number,
    reason: string,
    message: string,
    details?: JsonObject,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.headers = headers;
  }

  toStatus(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      ...(this.details && { details: this.details }),
      code: this.code,
    };
  }
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message);
}

/** Returns a name such as `podgroups.scheduling.x-k8s.io`. The core group has no suffix. */
function qualifiedResource(resource: ResourceReference): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

function qualifiedObject(resource: ResourceReference, name: string): string {
  return `${qualifiedResource(resource)} ${JSON.stringify(name)}`;
}

function resourceDetails(resource: ResourceReference, name: string): JsonObject {
  return {
    ...(name !== '' && { name }),
    ...(resource.group !== '' && { group: resource.group }),
    kind: resource.plural,
  };
}

export function forbidden(resource: ResourceReference, name: string, why: string): ApiError {
  const subject = name === '' ? qualifiedResource(resource) : qualifiedObject(resource, name);
  return new ApiError(403, 'Forbidden', `${subject} is forbidden: ${why}`, resourceDetails(resource, name));
}

export function notFound(resource: ResourceReference, name: string): ApiError {
  const message = `${qualifiedObject(resource, name)} not found`;
  return new ApiError(404, 'NotFound', message, resourceDetails(resource, name));
}

/** Returns the error for a path without a served resource. `why` is set for a resource that another cluster may serve. */
export function unknownPath(why = ''): ApiError {
  return new ApiError(404, 'NotFound', `the server could not find the requested resource${why}`, {});
}

/** Returns the error for a resource that another cluster may serve, but this server does not. */
export function notServed(plural: string, apiVersion: string): ApiError {
  return unknownPath(`: the embedded control plane does not serve ${plural} of ${apiVersion}; use a cluster that does`);
}

export function methodNotAllowed(message?: string): ApiError {
  if (message !== undefined) return new ApiError(405, 'MethodNotAllowed', message);
  return new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

export function notAcceptable(supported: readonly string[]): ApiError {
  return new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${supported.join(', ')}`);
}

export function alreadyExists(resource: ResourceReference, name: string, isBeingDeleted = false): ApiError {
  const what = `${qualifiedObject(resource, name)} already exists`;
  const message = isBeingDeleted ? `object is being deleted: ${what}` : what;
  return new ApiError(409, 'AlreadyExists', message, resourceDetails(resource, name));
}

export function conflict(resource: ResourceReference, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualifiedObject(resource, name)}: ${why}`;
  return new ApiError(409, 'Conflict', message, resourceDetails(resource, name));
}

/** Returns the error for a write whose resource version is not the stored one. */
export function modifiedMeanwhile(resource: ResourceReference, name: string): ApiError {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(resource, name, why);
}

export function expired(message: string): ApiError {
  return new ApiError(410, 'Expired', message);
}

export function requestTooLarge(why: string): ApiError {
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`);
}

export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, 'UnsupportedMediaType', message);
}

/** Returns a line for each of the first problems, and one that says that there are more. */
export function problemLines<T>(problems: readonly T[], line: (problem: T) => string): string[] {
  const lines = problems.slice(0, maxProblems).map(line);
  return problems.length > maxProblems ? [...lines, 'and more'] : lines;
}

/** Returns the error for an invalid object, with one cause per field. The message qualifies the kind: `PodGroup.scheduling.x-k8s.io`. */
export function invalid(kind: string, group: string, name: string, causes: readonly StatusCause[]): ApiError {
  const lines = problemLines(causes, ({ field, message }) => `${field ?? '<nil>'}: ${message}`);
  const qualifiedKind = group === '' ? kind : `${kind}.${group}`;
  const problem = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return new ApiError(422, 'Invalid', `${qualifiedKind} ${JSON.stringify(name)} is invalid: ${problem}`, {
    ...(name !== '' && { name }),
    ...(group !== '' && { group }),
    kind,
    causes: causes.slice(0, maxProblems).map((cause): JsonObject => ({ ...cause })),
  });
}

export function internalError(message: string): ApiError {
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`);
}

export function notImplemented(message: string): ApiError {
  return new ApiError(501, 'NotImplemented', message);
}

/** Returns the error for a resource version that this server has not reached. */
export function resourceVersionTooLarge(requested: number, current: number): ApiError {
  const details = {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  };
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
  return new ApiError(504, 'Timeout', message, details, { 'retry-after': '1' });
}
