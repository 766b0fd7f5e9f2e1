import type { JsonObject, JsonValue } from '../json.ts';
import { childPath, elementPath } from './field-path.ts';
import type { StructuralSchema } from './structural-schema.ts';

export interface PrunedValue {
  readonly value: JsonValue;
  /** Paths of dropped fields, which the schema does not have, in the object's order. */
  readonly unknownFields: string[];
}

/** The fields of every resource. The schema does not define their types. */
const open: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true };
const resourceFields = { apiVersion: open, kind: open, metadata: open };

/**
 * Returns a custom resource without the fields that its schema does not have, and with the schema's defaults for absent fields. A null
 * counts as absent unless the field is nullable. Keeps values of the wrong type for validation to report. Never changes its
 * arguments.
 */
export function pruneAndDefault(value: JsonValue, schema: JsonObject): PrunedValue {
  const unknownFields: string[] = [];
  const { properties }: StructuralSchema = schema;
  const resource = { ...schema, properties: { ...properties, ...resourceFields } };
  return { value: walk(value, resource, '', unknownFields), unknownFields };
}

function walk(value: JsonValue, schema: StructuralSchema, path: string, unknownFields: string[]): JsonValue {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    return value.map((element, index) => walk(element, items, elementPath(path, index), unknownFields));
  }
  if (typeof value !== 'object' || value === null) return value;
  const result: [string, JsonValue][] = [];
  for (const [key, child] of Object.entries(value)) {
    const pruned = walkField(key, child, schema, path, unknownFields);
    if (pruned !== undefined) result.push([key, pruned]);
  }
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined || (Object.hasOwn(value, key) && !isAbsentNull(value[key]!, property))) continue;
    // Add nested defaults to the default. Do not report unknown fields in it.
    result.push([key, walk(property.default, property, childPath(path, key), [])]);
  }
  return Object.fromEntries(result);
}

/** Returns the pruned value of a field. Undefined if the field is unknown, or a null that counts as absent. */
function walkField(
  key: string,
  child: JsonValue,
  schema: StructuralSchema,
  path: string,
  unknownFields: string[],
): JsonValue | undefined {
  const property = fieldSchema(key, schema);
  if (property !== undefined) {
    return isAbsentNull(child, property) ? undefined : walk(child, property, childPath(path, key), unknownFields);
  }
  const isOpen = schema.additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isOpen) return child;
  unknownFields.push(childPath(path, key));
  return undefined;
}

function fieldSchema(key: string, schema: StructuralSchema): StructuralSchema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function isAbsentNull(value: JsonValue, property: StructuralSchema): boolean {
  return value === null && property.nullable !== true;
}
