import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { deepEqual } from '../deep-equal.ts';
import { fieldForbidden, invalidValue } from './field-rules.ts';

/** The keys of a ConfigMap's or a Secret's data become names of files. */
export function invalidDataKeys(data: JsonObject, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const key of Object.keys(data)) {
    if (key.length > 253) causes.push(invalidValue(`${field}[${key}]`, key, 'must be no more than 253 characters'));
    if (key === '.' || key.startsWith('..')) {
      causes.push(invalidValue(`${field}[${key}]`, key, "must not be '.' and must not start with '..'"));
    } else if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
      const rule =
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
      causes.push(invalidValue(`${field}[${key}]`, key, rule));
    }
  }
  return causes;
}

/** What may not change once `immutable` is true. */
export function validateImmutableData(
  object: JsonObject,
  previous: JsonObject,
  fields: readonly string[],
): StatusCause[] {
  if (previous.immutable !== true) return [];
  return ['immutable', ...fields]
    .filter((field) => !deepEqual(object[field], previous[field]))
    .map((field) => fieldForbidden(field, 'field is immutable when `immutable` is set'));
}
