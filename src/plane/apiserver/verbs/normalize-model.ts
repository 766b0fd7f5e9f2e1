import { toKubernetesTime } from '../../../api/kubernetes-time.ts';
import { formatQuantity, parseQuantity } from '../../../api/quantity.ts';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { emptyTextFields } from '../schema/api-fields.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';
import { readDateTime } from '../schema/formats.ts';

/**
 * Returns a built-in object, or a part of one, in its stored form. Drops fields that the model lacks, nulls, and the empty
 * strings, lists and maps of absent fields. Writes quantities in canonical form, and times in UTC and whole seconds. The caller has
 * checked the types. Does not change the argument; the result shares no mutable values with it.
 */
export function normalizeModel(value: JsonObject, model: string): JsonObject {
  return normalize(value, { kind: 'model', name: model }) as JsonObject;
}

function normalize(value: JsonValue, type: ValueType): JsonValue {
  switch (type.kind) {
    case 'model':
      return isObject(value) ? normalizeFields(value, type.name) : value;
    case 'list':
      if (!Array.isArray(value)) return value;
      return value.filter((item) => item !== null).map((item) => normalize(item, type.element));
    case 'map': {
      if (!isObject(value)) return value;
      const entries = Object.entries(value).filter(([, item]) => item !== null);
      return Object.fromEntries(entries.map(([key, item]) => [key, normalize(item, type.element)]));
    }
    case 'time':
      return type.format === 'date-time' && typeof value === 'string' ? wholeSeconds(value) : value;
    case 'quantity':
      return formatQuantity(parseQuantity(value));
    default:
      return value;
  }
}

function normalizeFields(value: JsonObject, model: string): JsonObject {
  const types = modelFields(model);
  if (types === undefined) return value;
  const result: JsonObject = {};
  for (const [name, item] of Object.entries(value)) {
    const type = types.get(name);
    if (type === undefined || item === null) continue;
    const normal = normalize(item, type);
    if (!isEmpty(normal, type) || emptyTextFields.has(name)) result[name] = normal;
  }
  // The API always writes a condition's times, null if unset.
  if (model.endsWith('Condition')) for (const [name, { kind }] of types) if (kind === 'time') result[name] ??= null;
  return result;
}

function isEmpty(value: JsonValue, type: ValueType): boolean {
  if (type.kind === 'model' || type.kind === 'any') return false;
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

function wholeSeconds(time: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time)) return time;
  return toKubernetesTime(readDateTime(time)!);
}
