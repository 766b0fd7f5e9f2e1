import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { childPath, elementPath } from './field-path.ts';
import type { StructuralSchema } from './structural-schema.ts';

export interface PrunedValue {
  readonly value: JsonValue;
  /** Paths of dropped fields, which the schema does not have, in the object's order. */
  readonly unknownFields: readonly string[];
}

/** The schema of a value of any type. */
const open: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true, nullable: true };
/** The fields of every resource. The schema does not define their types. */
const resourceFields = { apiVersion: open, kind: open, metadata: open };

/**
 * Returns a custom resource without the fields that its schema does not have. A null counts as absent unless the field is nullable.
 * Keeps values of the wrong type for validation to report. Never changes its arguments.
 */
export function prune(resource: JsonObject, schema: JsonObject): PrunedValue {
  const { properties }: StructuralSchema = schema;
  const unknownFields: string[] = [];
  const whole = { ...schema, properties: { ...properties, ...resourceFields } };
  return { value: prunedValue(resource, whole, '', unknownFields), unknownFields };
}

function prunedValue(value: JsonValue, schema: StructuralSchema, path: string, unknownFields: string[]): JsonValue {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    return value.map((element, index) => prunedValue(element, items, elementPath(path, index), unknownFields));
  }
  if (!isObject(value)) return value;
  const result: [string, JsonValue][] = [];
  for (const [key, child] of Object.entries(value)) {
    const property = fieldSchema(key, schema);
    const at = childPath(path, key);
    if (property === undefined) unknownFields.push(at);
    else if (child !== null || property.nullable === true) {
      result.push([key, prunedValue(child, property, at, unknownFields)]);
    }
  }
  return Object.fromEntries(result);
}

/** Returns the schema of a field. Undefined if the schema of the object does not have the field. */
function fieldSchema(key: string, schema: StructuralSchema): StructuralSchema | undefined {
  const { properties = {}, additionalProperties } = schema;
  if (Object.hasOwn(properties, key)) return properties[key];
  if (typeof additionalProperties === 'object') return additionalProperties;
  return additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] === true ? open : undefined;
}
