import type { JsonObject, JsonValue } from '../json.ts';
import { duplicateValue } from './field-error.ts';
import type { FieldError } from './field-error.ts';
import { childPath, elementPath } from './field-path.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** The elements that stand twice in a list of type set, or whose keys stand twice in a list of type map. */
export function listTypeErrors(value: JsonValue, schema: StructuralSchema, path: string): FieldError[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const inner = items === undefined ? [] : value.map((one, at) => listTypeErrors(one, items, elementPath(path, at)));
    return [...duplicates(value, schema, path), ...inner.flat()];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const property = childSchema(key, schema);
    return property === undefined ? [] : listTypeErrors(child, property, childPath(path, key));
  });
}

function childSchema(key: string, schema: StructuralSchema): StructuralSchema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function duplicates(list: readonly JsonValue[], schema: StructuralSchema, path: string): FieldError[] {
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'set' && listType !== 'map') return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, element] of list.entries()) {
    const shown = listType === 'set' ? element : keysOf(element, keys, schema.items);
    const identity = canonical(shown);
    if (seen.has(identity)) errors.push(duplicateValue(elementPath(path, index), shown));
    seen.add(identity);
  }
  return errors;
}

/** An element's map keys; one that is absent has its default. */
function keysOf(element: JsonValue, keys: readonly string[], items: StructuralSchema | undefined): JsonObject {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) return {};
  const found: [string, JsonValue][] = [];
  for (const key of keys) {
    const own = Object.hasOwn(element, key) ? element[key] : undefined;
    const value = own ?? items?.properties?.[key]?.default;
    if (value !== undefined) found.push([key, value]);
  }
  return Object.fromEntries(found);
}

function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`).join(',')}}`;
}
