import type { JsonValue } from '../json.ts';

/** The causes that Kubernetes gives in a Status of reason Invalid. */
export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany';

/**
 * One thing that is wrong with a value, as in a Status' `details.causes`. `field` is a path such as
 * `spec.containers[0].image`; `message` is Kubernetes' wording without the path before it.
 */
export interface FieldError {
  readonly field: string;
  readonly reason: FieldErrorReason;
  readonly message: string;
}

export function requiredField(field: string, detail = ''): FieldError {
  return { field, reason: 'FieldValueRequired', message: withDetail('Required value', detail) };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: withDetail('Forbidden', detail) };
}

export function invalidField(field: string, value: JsonValue, detail: string): FieldError {
  const message = withDetail(`Invalid value: ${describeValue(value)}`, detail);
  return { field, reason: 'FieldValueInvalid', message };
}

/** The value is not of the type (or format) `expected`. Kubernetes reports the value's type in place of the value. */
export function wrongType(field: string, value: JsonValue, expected: string): FieldError {
  const found = JSON.stringify(typeName(value));
  const message = `Invalid value: ${found}: ${field} in body must be of type ${expected}: ${found}`;
  return { field, reason: 'FieldValueTypeInvalid', message };
}

/** The value is of the right type and not of the form `expected`, such as "date-time". */
export function wrongFormat(field: string, value: JsonValue, expected: string): FieldError {
  const shown = describeValue(value);
  const message = `Invalid value: ${shown}: ${field} in body must be of type ${expected}: ${shown}`;
  return { field, reason: 'FieldValueInvalid', message };
}

export function unsupportedValue(field: string, value: JsonValue, supported: readonly JsonValue[]): FieldError {
  const values = supported.map((one) => JSON.stringify(typeof one === 'string' ? one : JSON.stringify(one)));
  const detail = `supported values: ${values.join(', ')}`;
  const message = withDetail(`Unsupported value: ${describeValue(value)}`, detail);
  return { field, reason: 'FieldValueNotSupported', message };
}

export function duplicateValue(field: string, value: JsonValue): FieldError {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(value)}` };
}

export function tooLong(field: string, limit: number): FieldError {
  return { field, reason: 'FieldValueTooLong', message: `Too long: may not be more than ${limit} bytes` };
}

export function tooMany(field: string, actual: number, limit: number): FieldError {
  return { field, reason: 'FieldValueTooMany', message: `Too many: ${actual}: must have at most ${limit} items` };
}

/** A value as Kubernetes prints it in field errors: scalars plainly, lists and objects in Go's notation. */
function describeValue(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null) return '"null"';
  return typeof value === 'object' ? goNotation(value) : String(value);
}

/** The name that OpenAPI has for the type of a value. */
export function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function goNotation(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goNotation).join(', ')}}`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `map[string]interface {}{${keys.map((key) => `${JSON.stringify(key)}:${goNotation(value[key]!)}`).join(', ')}}`;
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}
