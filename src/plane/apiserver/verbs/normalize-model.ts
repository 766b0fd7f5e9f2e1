import { toKubernetesTime } from '../../../api/kubernetes-time.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { isObject } from '../kinds/access.ts';
import { apiModel } from '../schema/api-fields.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';
import { readDateTime } from '../schema/formats.ts';
import { zeroOf } from '../schema/zero-of.ts';

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
  const rules = rulesOf(model);
  if (rules === undefined) return value;
  const result: JsonObject = {};
  for (const [name, item] of Object.entries(value)) {
    const field = rules.fields.get(name);
    if (field === undefined || item === null) continue;
    const normal = normalize(item, field.type);
    if (field.zeroIsAbsent && isZero(normal, field.type)) continue;
    result[name] = normal;
  }
  for (const [name, zero] of rules.writtenZeros) result[name] ??= zero;
  return result;
}

/** What normalising has to know of a model. */
interface ModelRules {
  /** JSON name -> type, and whether the API cannot tell a zero from an absent field: no labels, a false that is not a choice */
  readonly fields: ReadonlyMap<string, { readonly type: ValueType; readonly zeroIsAbsent: boolean }>;
  /** The scalars that the API writes always, even where nobody has given them, with the zeros that it then writes. */
  readonly writtenZeros: readonly (readonly [name: string, zero: JsonValue])[];
}

/** model -> its rules, once they were asked for */
const knownRules = new Map<string, ModelRules>();

/** Undefined for what is not a model. */
function rulesOf(model: string): ModelRules | undefined {
  const known = knownRules.get(model);
  if (known !== undefined) return known;
  const types = modelFields(model);
  if (types === undefined) return undefined;
  const fields = new Map<string, { type: ValueType; zeroIsAbsent: boolean }>();
  const writtenZeros: [string, JsonValue][] = [];
  for (const [name, type] of types) {
    const field = apiModel(model)?.fields.get(name);
    fields.set(name, { type, zeroIsAbsent: field !== undefined && !field.isPointer && !field.isAlwaysWritten });
    const zero = field?.isAlwaysWritten === true ? zeroOf(type) : undefined;
    if (zero !== undefined) writtenZeros.push([name, zero]);
  }
  const rules = { fields, writtenZeros };
  knownRules.set(model, rules);
  return rules;
}

function isZero(value: JsonValue, type: ValueType): boolean {
  if (type.kind === 'list' || type.kind === 'map') {
    return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  }
  return value === zeroOf(type);
}

function wholeSeconds(time: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time)) return time;
  return toKubernetesTime(readDateTime(time)!);
}
