import type { JsonObject } from '../json.ts';

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

interface ApiErrorInit {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: JsonObject;
  /** Header names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error response. Its body is the Status object that Kubernetes clients parse. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly details: JsonObject | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(init: ApiErrorInit) {
    super(init.message);
    this.code = init.code;
    this.reason = init.reason;
    this.details = init.details;
    this.headers = init.headers ?? {};
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
  return new ApiError({ code: 400, reason: 'BadRequest', message });
}

/** Returns a name such as `podgroups.scheduling.x-k8s.io`. The core group has no suffix. */
function qualifiedResource(resource: ResourceReference): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

function resourceDetails(resource: ResourceReference, name: string): JsonObject {
  return {
    ...(name !== '' && { name }),
    ...(resource.group !== '' && { group: resource.group }),
    kind: resource.plural,
  };
}

export function forbidden(resource: ResourceReference, name: string, why: string, causes?: StatusCause[]): ApiError {
  const subject = name === '' ? qualifiedResource(resource) : `${qualifiedResource(resource)} ${JSON.stringify(name)}`;
  return new ApiError({
    code: 403,
    reason: 'Forbidden',
    message: `${subject} is forbidden: ${why}`,
    details: {
      ...resourceDetails(resource, name),
      ...(causes && { causes: causes.map((cause): JsonObject => ({ ...cause })) }),
    },
  });
}

export function notFound(resource: ResourceReference, name: string): ApiError {
  return new ApiError({
    code: 404,
    reason: 'NotFound',
    message: `${qualifiedResource(resource)} ${JSON.stringify(name)} not found`,
    details: resourceDetails(resource, name),
  });
}

/** Returns the error for a path without a served resource. */
export function unknownPath(): ApiError {
  return new ApiError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

/** Returns the error for a resource that another cluster may serve, but this server does not. */
export function notServed(plural: string, apiVersion: string): ApiError {
  return new ApiError({
    code: 404,
    reason: 'NotFound',
    message: `the server could not find the requested resource: the embedded control plane does not serve ${plural} of ${apiVersion}; use a cluster that does`,
    details: {},
  });
}

export function methodNotAllowed(): ApiError {
  return new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

export function notAcceptable(supported: readonly string[]): ApiError {
  return new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message: `only the following media types are accepted: ${supported.join(', ')}`,
  });
}

export function alreadyExists(resource: ResourceReference, name: string, isBeingDeleted = false): ApiError {
  const what = `${qualifiedResource(resource)} ${JSON.stringify(name)} already exists`;
  return new ApiError({
    code: 409,
    reason: 'AlreadyExists',
    message: isBeingDeleted ? `object is being deleted: ${what}` : what,
    details: resourceDetails(resource, name),
  });
}

export function conflict(resource: ResourceReference, name: string, why: string): ApiError {
  return new ApiError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualifiedResource(resource)} ${JSON.stringify(name)}: ${why}`,
    details: resourceDetails(resource, name),
  });
}

/** Returns the error for a write whose resource version is not the stored one. */
export function modifiedMeanwhile(resource: ResourceReference, name: string): ApiError {
  return conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

export function expired(message: string): ApiError {
  return new ApiError({ code: 410, reason: 'Expired', message });
}

export function unsupportedMediaType(message: string): ApiError {
  return new ApiError({ code: 415, reason: 'UnsupportedMediaType', message });
}

/** Returns the error for an invalid object, with one cause per field. The message qualifies the kind: `PodGroup.scheduling.x-k8s.io`. */
export function invalid(kind: string, group: string, name: string, causes: readonly StatusCause[]): ApiError {
  const lines = causes.map((cause) => `${cause.field ?? '<nil>'}: ${cause.message}`);
  const qualifiedKind = group === '' ? kind : `${kind}.${group}`;
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: `${qualifiedKind} ${JSON.stringify(name)} is invalid: ${lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`}`,
    details: {
      ...(name !== '' && { name }),
      ...(group !== '' && { group }),
      kind,
      causes: causes.map((cause): JsonObject => ({ ...cause })),
    },
  });
}

export function internalError(message: string): ApiError {
  return new ApiError({ code: 500, reason: 'InternalError', message: `Internal error occurred: ${message}` });
}

export function notImplemented(message: string): ApiError {
  return new ApiError({ code: 501, reason: 'NotImplemented', message });
}

/** Returns the error for a resource version that this server has not reached. */
export function resourceVersionTooLarge(requested: number, current: number): ApiError {
  return new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${requested}, current: ${current}`,
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
    headers: { 'retry-after': '1' },
  });
}
