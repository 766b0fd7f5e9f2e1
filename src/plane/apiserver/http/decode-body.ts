import { Buffer } from 'node:buffer';
import { ProtobufError } from '../../../base/wire-reader.ts';
import type { TransportRequest } from '../../../client/transport.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { badRequest, requestTooLarge, unsupportedMediaType } from './api-error.ts';
import type { ApiError } from './api-error.ts';
import { UnknownFieldError, decodeProtobuf } from './decode-protobuf.ts';

/** Maximum size of a request body, as in kube-apiserver. */
export const bodyLimitBytes = 3 * 1024 * 1024;

/** Returns the media type of the body, in lower case and without parameters. Default: JSON. */
export function bodyMediaType(request: TransportRequest): string {
  const mediaType = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  return mediaType === '' ? 'application/json' : mediaType;
}

const protobuf = 'application/vnd.kubernetes.protobuf';

/** Reads a JSON body, or a protobuf body from `kubectl create`. Throws 400, 413 or 415. */
export function decodeBody(request: TransportRequest): JsonValue {
  const mediaType = bodyMediaType(request);
  if (mediaType === 'application/json') return decodeJson(bodyText(request));
  if (mediaType === protobuf) return readProtobuf(request);
  throw unsupportedMediaType(
    `the body of the request was in an unknown format (${mediaType}) - accepted media types include: application/json. ` +
      'Write the object as JSON, or apply a manifest with kubectl apply, which sends JSON',
  );
}

function readProtobuf({ body }: TransportRequest): JsonValue {
  checkLength(body);
  try {
    return decodeProtobuf(typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array()));
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(`the request body is not valid protobuf: ${error.message}`);
    if (!(error instanceof UnknownFieldError)) throw error;
    throw unsupportedMediaType(
      `this API server cannot read this protobuf body: ${error.message}; send JSON, as with ` +
        '`kubectl create ... --dry-run=client -o yaml | kubectl apply -f -`',
    );
  }
}

/** Returns the body as text, empty if there is none. Throws 413 if it is too large. */
export function bodyText({ body }: TransportRequest): string {
  if (body === undefined) return '';
  checkLength(body);
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

function checkLength(body: string | Uint8Array | undefined): void {
  if (body !== undefined && body.length > bodyLimitBytes) throw bodyTooLarge();
}

export function bodyTooLarge(): ApiError {
  return requestTooLarge(`limit is ${bodyLimitBytes}`);
}

/** Parses JSON. Throws 400. */
export function decodeJson(text: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw badRequest(`the request body is not valid JSON: ${(error as Error).message}`);
  }
  rejectNesting(value);
  return value;
}

/** Maximum nesting of an object. Functions that walk objects are recursive, and this depth fits on the stack. */
const nestingLimit = 256;

/** Throws 400 for a value that is nested too deeply. */
export function rejectNesting(value: JsonValue, levelsLeft = nestingLimit): void {
  if (typeof value !== 'object' || value === null) return;
  if (levelsLeft === 0) throw badRequest(`the object is nested more than ${nestingLimit} levels deep`);
  for (const child of Object.values(value)) rejectNesting(child, levelsLeft - 1);
}

/** Returns the body as an object. Throws 400 if it is anything else. */
export function requireObject(value: JsonValue): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the request body must be a JSON object');
  }
  return value;
}
