import type { JsonObject, JsonValue } from '../json.ts';
import { numberFormats, stringFormats } from './formats.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** Keywords that mean in JSON Schema what they mean in a structural schema. */
const sharedKeywords = [
  'required',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

/** What an embedded resource must have beside its own schema. */
const embeddedResource: JsonObject = {
  required: ['apiVersion', 'kind'],
  properties: {
    apiVersion: { type: 'string', minLength: 1 },
    kind: { type: 'string', minLength: 1 },
    metadata: { type: 'object' },
  },
};

/**
 * The JSON Schema (draft 7) that says of values what a structural schema says. Pruning, defaults and list types are not in
 * it. Formats that are not known are left out, as Kubernetes does not check them either.
 */
export function toJsonSchema(schema: StructuralSchema): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const keyword of sharedKeywords) {
    const value = schema[keyword];
    if (value !== undefined) result[keyword] = value as JsonValue;
  }
  const types = schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : [schema.type];
  const type = types.filter((one) => one !== undefined);
  if (type.length > 0) result.type = schema.nullable === true ? [...type, 'null'] : type;
  if (schema.enum !== undefined) result.enum = schema.nullable === true ? [...schema.enum, null] : [...schema.enum];
  if (schema.format !== undefined && isKnownFormat(schema.format)) result.format = schema.format;
  addBounds(schema, result);
  addChildren(schema, result);
  addBranches(schema, result);
  return result;
}

function addBounds(schema: StructuralSchema, result: Record<string, JsonValue>): void {
  const { minimum, maximum } = schema;
  if (minimum !== undefined) result[schema.exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum'] = minimum;
  if (maximum !== undefined) result[schema.exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum'] = maximum;
}

function addChildren(schema: StructuralSchema, result: Record<string, JsonValue>): void {
  if (schema.properties !== undefined) {
    const entries = Object.entries(schema.properties);
    result.properties = Object.fromEntries(entries.map(([name, property]) => [name, toJsonSchema(property)]));
  }
  if (schema.items !== undefined) result.items = toJsonSchema(schema.items);
  if (typeof schema.additionalProperties === 'object') {
    result.additionalProperties = toJsonSchema(schema.additionalProperties);
  }
}

function addBranches(schema: StructuralSchema, result: Record<string, JsonValue>): void {
  const allOf = (schema.allOf ?? []).map(toJsonSchema);
  if (schema['x-kubernetes-embedded-resource'] === true) allOf.push(embeddedResource);
  if (allOf.length > 0) result.allOf = allOf;
  if (schema.anyOf !== undefined) result.anyOf = schema.anyOf.map(toJsonSchema);
  if (schema.oneOf !== undefined) result.oneOf = schema.oneOf.map(toJsonSchema);
  if (schema.not !== undefined) result.not = toJsonSchema(schema.not);
}

function isKnownFormat(format: string): boolean {
  return stringFormats.has(format) || numberFormats.has(format);
}
