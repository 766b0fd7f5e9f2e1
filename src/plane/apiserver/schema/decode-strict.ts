import { parseQuantity, QuantityError } from '../../../api/quantity.ts';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { modelFields } from './built-in-types.ts';
import type { ValueType } from './built-in-types.ts';
import { invalidValue, wrongFormat, wrongType } from './field-error.ts';
import type { FieldError } from './field-error.ts';
import { childPath, elementPath, keyPath } from './field-path.ts';
import { isBase64, isDateTime, isInt32, isInt64, isMicroTime } from './formats.ts';

export interface StrictDecoding {
  /** Paths of fields that the kind does not have, such as `spec.containers[0].foo`, in the object's order. */
  readonly unknownFields: string[];
  /** Errors of values that do not have their field's type. A null counts as an absent field. */
  readonly errors: FieldError[];
}

/**
 * Checks the field types of a built-in object. `kind` is a model name of the client library, such as "V1Pod". Does not check
 * required fields or the meaning of values.
 */
export function decodeStrict(value: JsonObject, kind: string): StrictDecoding {
  if (modelFields(kind) === undefined) throw new Error(`${kind} is not a model of the client library`);
  const found: StrictDecoding = { unknownFields: [], errors: [] };
  check(value, { kind: 'model', name: kind }, '', found);
  return found;
}

function check(value: JsonValue, type: ValueType, path: string, found: StrictDecoding): void {
  if (value === null) return;
  switch (type.kind) {
    case 'any':
      return;
    case 'model':
      checkModel(value, type.name, path, found);
      return;
    case 'list':
      if (!Array.isArray(value)) found.errors.push(wrongType(path, value, 'array'));
      else value.forEach((element, index) => check(element, type.element, elementPath(path, index), found));
      return;
    case 'map':
      if (!isObject(value)) found.errors.push(wrongType(path, value, 'object'));
      else for (const [key, child] of Object.entries(value)) check(child, type.element, keyPath(path, key), found);
      return;
    default: {
      const error = scalarError(value, type, path);
      if (error !== undefined) found.errors.push(error);
    }
  }
}

function checkModel(value: JsonValue, model: string, path: string, found: StrictDecoding): void {
  const fields = modelFields(model);
  if (fields === undefined) return;
  if (!isObject(value)) {
    found.errors.push(wrongType(path, value, 'object'));
    return;
  }
  for (const [name, child] of Object.entries(value)) {
    const type = fields.get(name);
    if (type === undefined) {
      found.unknownFields.push(childPath(path, name));
    } else check(child, type, childPath(path, name), found);
  }
}

type ScalarType = Exclude<ValueType, { readonly kind: 'any' | 'model' | 'list' | 'map' }>;

function scalarError(value: JsonValue, type: ScalarType, path: string): FieldError | undefined {
  switch (type.kind) {
    case 'string':
    case 'boolean':
      return typeof value === type.kind ? undefined : wrongType(path, value, type.kind);
    case 'number':
      if (typeof value !== 'number') return wrongType(path, value, type.format === 'double' ? 'number' : 'integer');
      if (type.format === 'double') return undefined;
      if (!Number.isInteger(value)) return wrongType(path, value, 'integer');
      return (type.format === 'int32' ? isInt32 : isInt64)(value) ? undefined : wrongFormat(path, value, type.format);
    case 'intOrString':
      if (typeof value === 'string') return undefined;
      if (typeof value !== 'number' || !Number.isInteger(value)) return wrongType(path, value, 'integer,string');
      return isInt32(value) ? undefined : wrongFormat(path, value, 'int32');
    case 'quantity':
      if (typeof value !== 'string' && typeof value !== 'number') return wrongType(path, value, 'string');
      return quantityError(value, path);
    case 'byte':
      if (typeof value !== 'string') return wrongType(path, value, 'string');
      return isBase64(value) ? undefined : wrongFormat(path, value, 'byte');
    case 'time':
      if (typeof value !== 'string') return wrongType(path, value, 'string');
      if (type.format === 'date-time') return isDateTime(value) ? undefined : wrongFormat(path, value, 'date-time');
      if (isMicroTime(value)) return undefined;
      return invalidValue(path, value, 'must be a time with six fractional digits, as in 2006-01-02T15:04:05.000000Z');
  }
}

function quantityError(value: string | number, path: string): FieldError | undefined {
  try {
    parseQuantity(value);
    return undefined;
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return invalidValue(path, value, error.message);
  }
}
