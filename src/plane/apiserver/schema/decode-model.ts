import { toKubernetesTime } from '../../../api/kubernetes-time.ts';
import { formatQuantity, parseQuantity, QuantityError } from '../../../api/quantity.ts';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { emptyTextFields } from './api-fields.ts';
import { modelFields } from './built-in-types.ts';
import type { ValueType } from './built-in-types.ts';
import { invalidValue, maxProblems, wrongFormat, wrongType } from './field-error.ts';
import type { FieldError } from './field-error.ts';
import { childPath, elementPath, keyPath } from './field-path.ts';
import { isBase64, isInt32, isInt64, isMicroTime, readDateTime } from './formats.ts';

export interface DecodedModel {
  /** The object in its stored form. Meaningful only if there are no errors. */
  readonly object: JsonObject;
  /** Paths of fields that the kind does not have, such as `spec.containers[0].foo`, in the object's order. */
  readonly unknownFields: readonly string[];
  /** Errors of values that do not have their field's type, up to `maxProblems` + 1. A null counts as an absent field. */
  readonly errors: readonly FieldError[];
}

/**
 * Decodes a built-in object, or a part of one, into its stored form. That form has no unknown fields, no nulls, and no empty strings, lists
 * or maps for absent fields. Quantities are canonical, and times are in UTC and whole seconds. `model` is a model name of the client library,
 * such as "V1Pod". Does not check required fields or the meaning of values. Does not change the argument.
 */
export function decodeModel(value: JsonObject, model: string): DecodedModel {
  if (modelFields(model) === undefined) throw new Error(`${model} is not a model of the client library`);
  const decoding = new ModelDecoding();
  const object = decoding.value(value, { kind: 'model', name: model }, '') as JsonObject;
  return { object, unknownFields: decoding.unknownFields, errors: decoding.errors };
}

type ScalarType = Exclude<ValueType, { readonly kind: 'any' | 'model' | 'list' | 'map' }>;
type Decoded = JsonValue | undefined;

class ModelDecoding {
  readonly unknownFields: string[] = [];
  readonly errors: FieldError[] = [];

  /** Returns the stored form of a value. Undefined for null, for a value of the wrong type, and after too many errors. */
  value(value: JsonValue, type: ValueType, path: string): Decoded {
    if (value === null || this.errors.length > maxProblems) return undefined;
    switch (type.kind) {
      case 'any':
        return value;
      case 'model':
        return this.#fields(value, type.name, path);
      case 'list':
        if (!Array.isArray(value)) return this.#fail(wrongType(path, value, 'array'));
        return value
          .map((item, index) => this.value(item, type.element, elementPath(path, index)))
          .filter((item) => item !== undefined);
      case 'map': {
        if (!isObject(value)) return this.#fail(wrongType(path, value, 'object'));
        const entries = Object.entries(value)
          .map(([key, item]) => [key, this.value(item, type.element, keyPath(path, key))] as const)
          .filter((entry): entry is readonly [string, JsonValue] => entry[1] !== undefined);
        return Object.fromEntries(entries);
      }
      default:
        return this.#scalar(value, type, path);
    }
  }

  #fields(value: JsonValue, model: string, path: string): Decoded {
    const types = modelFields(model);
    if (types === undefined) return value;
    if (!isObject(value)) return this.#fail(wrongType(path, value, 'object'));
    const result: JsonObject = {};
    for (const [name, item] of Object.entries(value)) {
      const type = types.get(name);
      if (type === undefined) {
        this.unknownFields.push(childPath(path, name));
        continue;
      }
      const decoded = this.value(item, type, childPath(path, name));
      if (decoded !== undefined && (!isEmpty(decoded, type) || emptyTextFields.has(name))) result[name] = decoded;
    }
    // The API always writes a condition's times, null if unset.
    if (model.endsWith('Condition')) for (const [name, { kind }] of types) if (kind === 'time') result[name] ??= null;
    return result;
  }

  #scalar(value: JsonValue, type: ScalarType, path: string): Decoded {
    const is = (isValid: boolean, expected: string): Decoded =>
      isValid ? value : this.#fail(wrongType(path, value, expected));
    switch (type.kind) {
      case 'string':
      case 'boolean':
        return is(typeof value === type.kind, type.kind);
      case 'number':
        if (type.format === 'double') return is(typeof value === 'number', 'number');
        if (!isInteger(value)) return is(false, 'integer');
        return this.#formatted(value, (type.format === 'int32' ? isInt32 : isInt64)(value), path, type.format);
      case 'intOrString':
        if (typeof value === 'string') return value;
        if (!isInteger(value)) return is(false, 'integer,string');
        return this.#formatted(value, isInt32(value), path, 'int32');
      case 'quantity':
        return typeof value === 'string' || typeof value === 'number'
          ? this.#quantity(value, path)
          : is(false, 'string');
      case 'byte':
        return typeof value === 'string' ? this.#formatted(value, isBase64(value), path, 'byte') : is(false, 'string');
      case 'time':
        if (typeof value !== 'string') return is(false, 'string');
        return type.format === 'date-time' ? this.#dateTime(value, path) : this.#microTime(value, path);
    }
  }

  #formatted(value: JsonValue, isValid: boolean, path: string, format: string): Decoded {
    return isValid ? value : this.#fail(wrongFormat(path, value, format));
  }

  #quantity(value: string | number, path: string): Decoded {
    try {
      return formatQuantity(parseQuantity(value));
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
      return this.#fail(invalidValue(path, value, error.message));
    }
  }

  #dateTime(value: string, path: string): Decoded {
    const time = readDateTime(value);
    return time === undefined ? this.#fail(wrongFormat(path, value, 'date-time')) : toKubernetesTime(time);
  }

  #microTime(value: string, path: string): Decoded {
    if (isMicroTime(value)) return value;
    const rule = 'must be a time with six fractional digits, as in 2006-01-02T15:04:05.000000Z';
    return this.#fail(invalidValue(path, value, rule));
  }

  #fail(error: FieldError): undefined {
    this.errors.push(error);
  }
}

function isInteger(value: JsonValue): value is number {
  return Number.isInteger(value);
}

function isEmpty(value: JsonValue, type: ValueType): boolean {
  if (type.kind === 'model' || type.kind === 'any') return false;
  if (!isObject(value)) return value === '' || (Array.isArray(value) && value.length === 0);
  for (const _key in value) return false;
  return true;
}
