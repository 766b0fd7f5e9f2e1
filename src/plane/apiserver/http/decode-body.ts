import { Buffer } from 'node:buffer';
import { CORE_SCHEMA, YAMLException, load } from 'js-yaml';
import type { TransportRequest } from '../../../client/transport.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { ProtobufError, UnknownFieldError, decodeProtobuf } from '../protobuf/index.ts';
import { ApiError, badRequest, tooComplex, unsupportedMediaType } from './api-error.ts';
import { duplicateFields } from './duplicate-fields.ts';
import {
  ComplexityError,
  nestedTooDeeply,
  nestingLimit,
  refuseComplexity,
  tooManyValues,
  valuesLimit,
} from '../complexity.ts';

/** A request's body is refused beyond this size, as kube-apiserver does. */
export const bodyLimitBytes = 3 * 1024 * 1024;

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

/** Reads a JSON, YAML or protobuf body. Throws 400 for what is none of them, 413 and 415. */
export function decodeBody(request: TransportRequest): DecodedBody {
  const mediaType = bodyMediaType(request);
  switch (mediaType) {
    case 'application/json':
      return decodeJson(bodyText(request));
    case 'application/yaml':
    case 'text/yaml':
      return { value: decodeYaml(bodyText(request)), duplicates: [] };
    case 'application/vnd.kubernetes.protobuf':
      return { value: readProtobuf(request), duplicates: [] };
    default:
      throw unsupportedMediaType(
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      );
  }
}

/** The body as text; empty when there is none. Throws 413 when it is too large. */
export function bodyText(request: TransportRequest): string {
  const { body } = request;
  if (typeof body !== 'string') return bodyBytes(request).toString('utf8');
  checkLength(body);
  return body;
}

function bodyBytes({ body }: TransportRequest): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  checkLength(body);
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

function checkLength(body: string | Uint8Array): void {
  if (body.length > bodyLimitBytes) {
    throw new ApiError({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: `Request entity too large: limit is ${bodyLimitBytes}`,
    });
  }
}

/** Parses JSON and finds duplicate fields on the way. Throws 400, and 413 for what is more complex than is allowed. */
export function decodeJson(text: string): DecodedBody {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw badRequest(`the request body is not valid JSON: ${(error as Error).message}`);
  }
  // The text may nest deeper than the value that is left of it, where a field is there twice.
  return { value, duplicates: accepted(() => duplicateFields(text)) };
}

/** Throws 413 when `read` finds the body too complex. */
function accepted<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ComplexityError ? tooComplex('the request body', error) : error;
  }
}

/** Aliases are rarely more than a few in what people write. */
const aliasLimit = 100;

/** Reads YAML 1.2 in time linear in its length. Throws 400. */
function decodeYaml(text: string): JsonValue {
  if (text.trim() === '') return null;
  let value: JsonValue;
  try {
    value = load(text, { schema: CORE_SCHEMA, maxDepth: nestingLimit, maxAliases: aliasLimit }) as JsonValue;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw badRequest(`the request body is not valid YAML: ${error.message}`);
  }
  accepted(() => refuseWhatJsonHasNot(value));
  return value;
}

/** YAML has numbers that are none, and lets one value stand in many places, which may come to more than a body of JSON holds. */
function refuseWhatJsonHasNot(whole: JsonValue): void {
  let [size, values] = [0, 0];
  const refuse = (problem: string): never => {
    throw badRequest(`the request body is not valid YAML for an object: ${problem}`);
  };
  const count = (characters: number): void => {
    size += characters;
    if (size > bodyLimitBytes) refuse(`with all aliases written out it is larger than ${bodyLimitBytes} bytes`);
  };
  const check = (value: JsonValue, outer: number): void => {
    if (++values > valuesLimit) throw tooManyValues();
    count(typeof value === 'string' ? value.length + 2 : 2);
    if (typeof value === 'number' && !Number.isFinite(value)) refuse(`${value} is not a number that JSON has`);
    if (typeof value !== 'object' || value === null) return;
    if (outer >= nestingLimit) throw nestedTooDeeply(nestingLimit);
    for (const [key, child] of Object.entries(value)) {
      count(Array.isArray(value) ? 0 : key.length);
      check(child, outer + 1);
    }
  };
  check(whole, 0);
}

/** The body as an object. Throws 400 when it is anything else. */
export function requireObject(value: JsonValue): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the request body must be a JSON object');
  }
  return value;
}

/** Throws 400 for what is no such body, and 415 for what is right and not known here, so that nothing is lost in silence. */
function readProtobuf(request: TransportRequest): JsonObject {
  try {
    const value = decodeProtobuf(bodyBytes(request));
    accepted(() => refuseComplexity(value, nestingLimit));
    return value;
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(`the request body is not valid protobuf: ${error.message}`);
    if (!(error instanceof UnknownFieldError)) throw error;
    throw unsupportedMediaType(
      `this API server cannot read this protobuf body: ${error.message}; write the object as JSON or YAML, such as with ` +
        '`kubectl create ... --dry-run=client -o yaml | kubectl apply -f -`',
    );
  }
}
