import type { JsonValue } from '../json.ts';

/** Characters of a value that an error shows at most. */
const describedLimit = 512;

/** The causes that Kubernetes gives in a Status of reason Invalid. */
export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden';

/**
 * One problem of a value, as in a Status' `details.causes`. `field` is a path such as
 * `spec.containers[0].image`; `message` is Kubernetes' wording without the path before it.
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

/** The value is not of the type `expected`. Kubernetes reports the value's type in place of the value. */
export function wrongType(field: string, value: JsonValue, expected: string): FieldError {
  const found = JSON.stringify(typeName(value));
  const message = `Invalid value: ${found}: ${field} in body must be of type ${expected}: ${found}`;
  return { field, reason: 'FieldValueTypeInvalid', message };
}

/** The value is of the right type and not of the form `expected`, such as "date-time". */
export function wrongFormat(field: string, value: JsonValue, expected: string): FieldError {
  return invalidValue(field, value, `${field} in body must be of type ${expected}: ${describeValue(value)}`);
}

export function notSupported(field: string, value: JsonValue, supported: readonly JsonValue[]): FieldError {
  const list = supported.map((each) => JSON.stringify(each)).join(', ');
  const message = `Unsupported value: ${describeValue(value)}: supported values: ${list}`;
  return { field, reason: 'FieldValueNotSupported', message };
}

export function fieldForbidden(field: string, detail: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` };
}

export function duplicateValue(field: string, value: JsonValue): FieldError {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${describeValue(value)}` };
}

/** A value as JSON; the beginning of a large one. */
function describeValue(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length <= describedLimit ? text : `${text.slice(0, describedLimit)}…`;
}

/** The name that OpenAPI has for the type of a value. */
function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
