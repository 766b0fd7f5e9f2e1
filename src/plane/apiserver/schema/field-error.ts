import type { JsonValue } from '../json.ts';

/** Maximum number of problems of an object that a response names. Code whose problems are expensive stops when it has found more. */
export const maxProblems = 100;

/** Maximum number of characters of a value that an error shows. */
const maxDescribedLength = 512;

/** The reasons of causes in a Kubernetes Status of reason Invalid. */
export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden';

/**
 * One error of a value, as in the `details.causes` of a Status. `field` is a path such as
 * `spec.containers[0].image`. `message` is Kubernetes' wording without the leading path.
 */
export interface FieldError {
  readonly field: string;
  readonly reason: FieldErrorReason;
  readonly message: string;
}

export function required(field: string, detail = ''): FieldError {
  return {
    field,
    reason: 'FieldValueRequired',
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  };
}

export function invalidValue(field: string, value: JsonValue, detail: string): FieldError {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${describeValue(value)}: ${detail}` };
}

/** Returns the error for a value that does not have the type `expected`. Kubernetes reports the value's type instead of the value. */
export function wrongType(field: string, value: JsonValue, expected: string): FieldError {
  const found = JSON.stringify(typeName(value));
  const message = `Invalid value: ${found}: ${field} in body must be of type ${expected}: ${found}`;
  return { field, reason: 'FieldValueTypeInvalid', message };
}

/** Returns the error for a value of the right type that does not have the format `expected`, such as "date-time". */
export function wrongFormat(field: string, value: JsonValue, expected: string): FieldError {
  return invalidValue(field, value, `${field} in body must be of type ${expected}: ${describeValue(value)}`);
}

export function notSupported(field: string, value: JsonValue, supported: readonly JsonValue[]): FieldError {
  const list = supported.slice(0, maxProblems).map(describeValue).join(', ');
  const message = `Unsupported value: ${describeValue(value)}: supported values: ${list}`;
  return { field, reason: 'FieldValueNotSupported', message };
}

export function fieldForbidden(field: string, detail: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` };
}

export function duplicateValue(field: string, value: JsonValue): FieldError {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${describeValue(value)}` };
}

/** Returns a value as JSON, truncated if it is long. */
function describeValue(value: JsonValue): string {
  const text = jsonPrefix(value, maxDescribedLength + 1);
  return text.length <= maxDescribedLength ? text : `${text.slice(0, maxDescribedLength)}…`;
}

/** Returns a value as JSON, or at least the first `length` characters of it. Does not encode the rest, which can be as long as a body. */
function jsonPrefix(value: JsonValue, length: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, length));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const [key, child] of isList ? value.entries() : Object.entries(value)) {
    if (text.length >= length) return text;
    if (text.length > 1) text += ',';
    if (!isList) text += `${JSON.stringify(String(key).slice(0, length))}:`;
    text += jsonPrefix(child, length - text.length);
  }
  return text + (isList ? ']' : '}');
}

/** Returns the OpenAPI name of a value's type. */
function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
