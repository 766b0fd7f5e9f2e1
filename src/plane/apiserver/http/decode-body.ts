import { Buffer } from 'node:buffer';
import type { TransportRequest } from '../../../client/transport.ts';
import { ComplexityError, nestingLimit, refuseComplexity } from '../complexity.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { ApiError, badRequest, tooComplex, unsupportedMediaType } from './api-error.ts';

/** The server refuses a larger request body, as kube-apiserver does. */
export const bodyLimitBytes = 3 * 1024 * 1024;

/** The media type of the body, in lower case and without parameters; JSON when the client does not say. */
export function bodyMediaType(request: TransportRequest): string {
  const mediaType = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  return mediaType === '' ? 'application/json' : mediaType;
}

/** Reads a JSON body. Throws 400, 413 and 415. */
export function decodeBody(request: TransportRequest): JsonValue {
  const mediaType = bodyMediaType(request);
  if (mediaType === 'application/json') return decodeJson(bodyText(request));
  throw unsupportedMediaType(
    `the body of the request was in an unknown format (${mediaType}) - accepted media types include: application/json. ` +
      'kubectl sends JSON whatever a manifest is written in; other clients must set Content-Type: application/json and send JSON',
  );
}

/** The body as text; empty when there is none. Throws 413 when it is too large. */
export function bodyText({ body }: TransportRequest): string {
  if (body === undefined) return '';
  if (body.length > bodyLimitBytes) {
    throw new ApiError({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: `Request entity too large: limit is ${bodyLimitBytes}`,
    });
  }
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

/** Parses JSON. Throws 400, and 413 for a value that is too complex. */
export function decodeJson(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw badRequest(`the request body is not valid JSON: ${(error as Error).message}`);
  }
  try {
    refuseComplexity(value, nestingLimit);
  } catch (error) {
    throw error instanceof ComplexityError ? tooComplex('the request body', error) : error;
  }
  return value;
}

/** The body as an object. Throws 400 when it is anything else. */
export function requireObject(value: JsonValue): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the request body must be a JSON object');
  }
  return value;
}
