import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';

/**
 * Converts a structural schema to an equivalent JSON Schema (draft 7), without pruning and defaults. Elements of a map list must be
 * unique only if the schema has `x-kubernetes-list-map-keys`.
 */
export function toJsonSchema(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema), (_key, value: JsonValue) =>
    isObject(value) ? convert(value) : value,
  ) as JsonObject;
}

/** Converts one node after its children. Also gets objects that are not schemas, but these lack the keywords that it converts. */
function convert(node: JsonObject): JsonObject {
  const result = { ...node };
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof node[exclusive] !== 'boolean') continue;
    delete result[exclusive];
    if (node[exclusive] !== true || node[bound] === undefined) continue;
    result[exclusive] = node[bound];
    delete result[bound];
  }
  if (node['x-kubernetes-int-or-string'] === true) result.type = ['integer', 'string'];
  if (node.nullable === true && result.type !== undefined) {
    delete result.nullable;
    result.type = [result.type, 'null'].flat();
    if (Array.isArray(node.enum)) result.enum = [...node.enum, null];
  }
  return result;
}
