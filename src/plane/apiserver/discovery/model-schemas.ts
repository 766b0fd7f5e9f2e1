import type { JsonObject } from '../json.ts';
import { patchField } from '../patch/patch-strategies.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';

/**
 * Returns the name of a model's schema: `io.k8s.V1.PodSpec` for `V1PodSpec`. `kubectl explain` then shows the type's own name.
 */
export function schemaName(model: string): string {
  const [, owner = '', version, name] = /^(.*?)(V\d+(?:(?:alpha|beta)\d+)?)(.+)$/.exec(model) ?? [];
  if (version === undefined || name === undefined) return `io.k8s.${model}`;
  return ['io.k8s', owner, version, name].filter((part) => part !== '').join('.');
}

export function schemaReference(model: string): JsonObject {
  return { $ref: `#/components/schemas/${schemaName(model)}` };
}

/** Adds the schemas of a model, and of all models that it refers to, to `schemas`. */
export function addModelSchemas(schemas: JsonObject, model: string): void {
  const name = schemaName(model);
  const fields = modelFields(model);
  if (fields === undefined || Object.hasOwn(schemas, name)) return;
  const properties: JsonObject = {};
  const schema: JsonObject = { type: 'object', properties };
  schemas[name] = schema;
  for (const [field, type] of fields) {
    const property = valueSchema(schemas, type);
    const { mergeList, mergeKey } = patchField({ kind: 'model', name: model }, field);
    if (mergeList) property['x-kubernetes-patch-strategy'] = 'merge';
    if (mergeKey !== undefined) property['x-kubernetes-patch-merge-key'] = mergeKey;
    properties[field] = property;
  }
}

function valueSchema(schemas: JsonObject, type: ValueType): JsonObject {
  switch (type.kind) {
    case 'model':
      addModelSchemas(schemas, type.name);
      // Extensions beside a $ref are ignored, so wrap it in allOf.
      return modelFields(type.name) === undefined
        ? { type: 'object' }
        : { allOf: [schemaReference(type.name)], default: {} };
    case 'list':
      return { type: 'array', items: valueSchema(schemas, type.element) };
    case 'map':
      return { type: 'object', additionalProperties: valueSchema(schemas, type.element) };
    case 'string':
    case 'quantity':
      return { type: 'string' };
    case 'boolean':
      return { type: 'boolean' };
    case 'any':
      // `kubectl explain` fails on an empty schema.
      return { 'x-kubernetes-preserve-unknown-fields': true };
    case 'intOrString':
      return { type: 'string', format: 'int-or-string' };
    case 'byte':
      return { type: 'string', format: 'byte' };
    case 'number':
      return type.format === 'double' ? { type: 'number', format: 'double' } : { type: 'integer', format: type.format };
    case 'time':
      return { type: 'string', format: 'date-time' };
  }
}
