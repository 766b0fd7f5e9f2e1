import { toKubernetesTime } from '../../api/kubernetes-time.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { isObject } from '../kinds/access.ts';
import { apiModel } from '../schema/api-fields.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';

/**
 * A built-in object, or a part of one, as a server stores it after decoding: without fields that the model does not have and
 * without nulls, and zeros, that stand for absent fields, and with times in UTC and whole seconds. Its types have been checked. Never
 * changes its argument and shares nothing with it that could be changed.
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
    default:
      return value;
  }
}

function normalizeFields(value: JsonObject, model: string): JsonObject {
  const fields = modelFields(model);
  if (fields === undefined) return value;
  const result: JsonObject = {};
  for (const [name, item] of Object.entries(value)) {
    const type = fields.get(name);
    if (type === undefined || item === null) continue;
    const normal = normalize(item, type);
    if (isUnset(normal, type, model, name)) continue;
    result[name] = normal;
  }
  for (const [name, zero] of writtenZeros(model)) result[name] ??= zero;
  return result;
}

/** A zero where the API cannot tell it from an absent field: no labels, a false that is not a choice. */
function isUnset(value: JsonValue, type: ValueType, model: string, name: string): boolean {
  const field = apiModel(model)?.fields.get(name);
  if (field === undefined || field.isPointer || field.isAlwaysWritten) return false;
  switch (type.kind) {
    case 'list':
    case 'map':
      return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    case 'string':
    case 'byte':
      return value === '';
    case 'number':
      return value === 0;
    case 'boolean':
      return value === false;
    default:
      return false;
  }
}

function wholeSeconds(time: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time)) return time;
  return toKubernetesTime(Date.parse(time));
}

/** model -> what `writtenZeros` found */
const zerosOfModels = new Map<string, readonly (readonly [name: string, zero: JsonValue])[]>();

/** The scalars that the API writes always, even where nobody has given them, with the zeros that it then writes. */
function writtenZeros(model: string): readonly (readonly [name: string, zero: JsonValue])[] {
  let zeros = zerosOfModels.get(model);
  if (zeros === undefined) zerosOfModels.set(model, (zeros = findWrittenZeros(model)));
  return zeros;
}

function findWrittenZeros(model: string): readonly (readonly [name: string, zero: JsonValue])[] {
  return [...(modelFields(model) ?? [])].flatMap(([name, type]): [string, JsonValue][] => {
    if (apiModel(model)?.fields.get(name)?.isAlwaysWritten !== true) return [];
    if (type.kind === 'string') return [[name, '']];
    if (type.kind === 'number') return [[name, 0]];
    return type.kind === 'boolean' ? [[name, false]] : [];
  });
}
