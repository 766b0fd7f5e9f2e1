import { fieldSchema, isListSchema, isObject, isObjectSchema } from './argument-schema.ts';
import type { ArgumentSchema } from './argument-schema.ts';

/** Returns a copy, as deep as the schema, without null fields and with defaults for absent fields. */
export function withDefaults(schema: ArgumentSchema, value: unknown): unknown {
  if (isListSchema(schema) && Array.isArray(value)) return value.map((element) => withDefaults(schema.items, element));
  if (!isObjectSchema(schema) || !isObject(value)) return value;
  // Built from entries, so that a field called __proto__ stays a field.
  const fields = new Map<string, unknown>();
  for (const [name, field] of Object.entries(value)) {
    if (field === null || field === undefined) continue;
    const inner = fieldSchema(schema, name);
    fields.set(name, inner === undefined ? field : withDefaults(inner, field));
  }
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    if ('default' in inner && !fields.has(name)) fields.set(name, withDefaults(inner, inner.default));
  }
  return Object.fromEntries(fields);
}
