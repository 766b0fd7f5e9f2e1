import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';

/** What an embedded resource must have beside its own schema. */
const embeddedResource: JsonObject = {
  required: ['apiVersion', 'kind'],
  properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } },
};

/**
 * The JSON Schema (draft 7) with the meaning of a structural schema. It leaves out pruning and defaults. A list of type map
 * is judged by its keys only where it has one.
 */
export function toJsonSchema(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema), (_key, value: JsonValue) =>
    isObject(value) ? convert(value) : value,
  ) as JsonObject;
}

/** One node, whose children have been converted. Objects that are no schemas have none of these keywords with these values. */
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
  if (node['x-kubernetes-embedded-resource'] === true)
    result.allOf = [...((node.allOf as JsonValue[]) ?? []), embeddedResource];
  if (node['x-kubernetes-list-type'] === 'set') result.uniqueItems = true;
  return result;
}
