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

/** Parses JSON. Throws 400 or 413. */
export function decodeJson(text: string): JsonValue {
  rejectManyValues(text);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw badRequest(`the request body is not valid JSON: ${(error as Error).message}`);
  }
  rejectLarge(value);
  return value;
}

/** Maximum number of values in an object: its fields, list elements and their contents. All work on an object grows with this number. */
const maxValues = 50_000;
/** Maximum number of characters in the keys and strings of an object. Near the limit of etcd, which stores objects of up to 1.5 MiB. */
const maxCharacters = 1.5 * 1024 * 1024;
/** Maximum nesting of an object. Functions that walk objects are recursive, and this depth fits on the stack. */
const maxLevels = 256;

const [quote, backslash, comma, bracket, brace] = ['"', '\\', ',', '[', '{'].map((each) => each.charCodeAt(0));

/** Throws 413 for JSON with many more values than an object may have. Counts separators, before the parser makes values of them. */
function rejectManyValues(json: string): void {
  let separators = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString) at += code === backslash ? 1 : 0;
    else if (code === comma || code === bracket || code === brace) separators++;
  }
  // A value has at most two: the one before it, and its own bracket.
  if (separators > 2 * maxValues) throw tooManyValues();
}

function tooManyValues(): ApiError {
  return requestTooLarge(`an object may have at most ${maxValues} values`);
}

/** Throws 400 for a value that is nested too deeply, and 413 for one with too many values or characters. Stops at the limit. */
export function rejectLarge(value: JsonValue): void {
  let values = 0;
  let characters = 0;
  const visit = (current: JsonValue, levelsLeft: number): void => {
    if (++values > maxValues) throw tooManyValues();
    if (typeof current === 'string') characters += current.length;
    if (characters > maxCharacters) throw requestTooLarge(`an object may have at most ${maxCharacters} characters`);
    if (typeof current !== 'object' || current === null) return;
    if (levelsLeft === 0) throw badRequest(`the object is nested more than ${maxLevels} levels deep`);
    if (Array.isArray(current)) {
      for (const element of current) visit(element, levelsLeft - 1);
      return;
    }
    for (const key in current) {
      characters += key.length;
      visit(current[key]!, levelsLeft - 1);
    }
  };
  visit(value, maxLevels);
}

/** Returns the body as an object. Throws 400 if it is anything else. */
export function requireObject(value: JsonValue): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the request body must be a JSON object');
  }
  return value;
}
