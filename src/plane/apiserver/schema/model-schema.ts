import type { JsonObject } from '../json.ts';
import { modelFields } from './built-in-types.ts';
import type { ValueType } from './built-in-types.ts';

/** Returns the OpenAPI v3 schema of a model, with the schemas of its fields in it. The metadata of an object is open, as in CRDs. */
export function modelSchema(model: string): JsonObject {
  return schemaOf({ kind: 'model', name: model });
}

function schemaOf(type: ValueType): JsonObject {
  switch (type.kind) {
    case 'model': {
      const fields = type.name === 'V1ObjectMeta' ? undefined : modelFields(type.name);
      if (fields === undefined) return { type: 'object' };
      const properties = Object.fromEntries([...fields].map(([field, each]) => [field, schemaOf(each)]));
      return { type: 'object', ...(fields.size > 0 && { properties }) };
    }
    case 'list':
      return { type: 'array', items: schemaOf(type.element) };
    case 'map':
      return { type: 'object', additionalProperties: schemaOf(type.element) };
    case 'number':
      return { type: type.format === 'double' ? 'number' : 'integer', format: type.format };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'boolean':
      return { type: 'boolean' };
    case 'any':
      return { 'x-kubernetes-preserve-unknown-fields': true };
    case 'intOrString':
      return { 'x-kubernetes-int-or-string': true };
    case 'string':
    case 'quantity':
    case 'byte':
      return { type: 'string' };
  }
}
