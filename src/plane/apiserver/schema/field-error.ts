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

/** A value as Kubernetes prints it in field errors: scalars plainly, lists and objects in Go's notation. Of a large one the beginning. */
function describeValue(value: JsonValue): string {
  if (typeof value === 'string') {
    return value.length <= describedLimit
      ? JSON.stringify(value)
      : `${JSON.stringify(value.slice(0, describedLimit))}…`;
  }
  if (value === null) return '"null"';
  if (typeof value !== 'object') return String(value);
  const notation = new GoNotation();
  notation.write(value);
  return notation.text;
}

/** The name that OpenAPI has for the type of a value. */
export function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** Writes values as Go's `%#v` does, until it is long enough. */
class GoNotation {
  text = '';

  write(value: JsonValue): void {
    if (this.text.length > describedLimit) return;
    if (value === null) this.text += 'interface {}(nil)';
    else if (typeof value !== 'object') this.text += JSON.stringify(value);
    else if (Array.isArray(value)) {
      this.text += '[]interface {}{';
      this.#each(value, (element) => this.write(element));
    } else {
      this.text += 'map[string]interface {}{';
      this.#each(Object.keys(value).sort(), (key) => {
        this.text += `${JSON.stringify(key)}:`;
        this.write(value[key]!);
      });
    }
  }

  #each<T>(items: readonly T[], write: (item: T) => void): void {
    for (const [index, item] of items.entries()) {
      if (this.text.length > describedLimit) break;
      if (index > 0) this.text += ', ';
      write(item);
    }
    this.text += '}';
  }
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}
