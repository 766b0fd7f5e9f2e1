import { Buffer } from 'node:buffer';
import { parseDocument } from 'yaml';
import type { TransportRequest } from '../../client/transport.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { ApiError, badRequest, unsupportedMediaType } from './api-error.ts';
import { duplicateFields } from './duplicate-fields.ts';

/** A request's body is refused beyond this size, as kube-apiserver does. */
export const bodyLimitBytes = 3 * 1024 * 1024;

const protobufMagic = 'k8s\u0000';

export interface DecodedBody {
  readonly value: JsonValue;
  /** Paths of fields that the text holds more than once; the last one counts. */
  readonly duplicates: readonly string[];
}

/** The media type of the body, in lower case and without parameters; JSON when the client does not say. */
export function bodyMediaType(request: TransportRequest): string {
  const mediaType = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  return mediaType === '' ? 'application/json' : mediaType;
}

/** Reads a JSON or YAML body. Throws 400 for text that is neither, 413 and 415. */
export function decodeBody(request: TransportRequest): DecodedBody {
  const mediaType = bodyMediaType(request);
  switch (mediaType) {
    case 'application/json':
      return decodeJson(bodyText(request));
    case 'application/yaml':
    case 'text/yaml':
      return { value: decodeYaml(bodyText(request)), duplicates: [] };
    case 'application/vnd.kubernetes.protobuf':
      throw protobufRefused(request);
    default:
      throw unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
      );
  }
}

/** The body as text; empty when there is none. Throws 413 when it is too large. */
export function bodyText(request: TransportRequest): string {
  const { body } = request;
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

/** Parses JSON and finds duplicate fields on the way. */
export function decodeJson(text: string): DecodedBody {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw badRequest(`the request body is not valid JSON: ${(error as Error).message}`);
  }
  try {
    return { value, duplicates: duplicateFields(text) };
  } catch (error) {
    if (error instanceof RangeError) throw badRequest('the request body is nested too deeply');
    throw error;
  }
}

function decodeYaml(text: string): JsonValue {
  const document = parseDocument(text);
  const problem = document.errors[0];
  if (problem !== undefined) throw badRequest(`the request body is not valid YAML: ${problem.message}`);
  return document.toJS({ maxAliasCount: 100 }) as JsonValue;
}

/** The body as an object. Throws 400 when it is anything else. */
export function requireObject(value: JsonValue): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the request body must be a JSON object');
  }
  return value;
}

function protobufRefused(request: TransportRequest): ApiError {
  const kind = protobufKind(request);
  return unsupportedMediaType(
    `this API server reads JSON and YAML, not protobuf${kind === undefined ? '' : ` (the body is a ${kind})`}: ` +
      'with kubectl 1.32 or later, write the object with `kubectl create ... --dry-run=client -o yaml` and pipe it into `kubectl apply -f -`',
  );
}

/** The kind in the envelope of a protobuf body: magic, then field 1 (type meta) with field 2 (kind). */
function protobufKind(request: TransportRequest): string | undefined {
  const { body } = request;
  if (body === undefined || typeof body === 'string') return undefined;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.subarray(0, 4).toString('latin1') !== protobufMagic || bytes[4] !== 0x0a) return undefined;
  const meta = bytes.subarray(6, 6 + bytes[5]!);
  for (let at = 0; at + 1 < meta.length; at += 2 + meta[at + 1]!) {
    if (meta[at] === 0x12) return meta.subarray(at + 2, at + 2 + meta[at + 1]!).toString('utf8');
  }
  return undefined;
}
