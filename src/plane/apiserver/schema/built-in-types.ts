import * as clientNode from '@kubernetes/client-node';
import { quantityFields } from './api-fields.ts';
import { podGroupModels } from './pod-group-models.ts';

/** The shape of a value in a built-in API object, as the client library's models describe it. */
export type ValueType =
  | { readonly kind: 'model'; readonly name: string }
  | { readonly kind: 'list'; readonly element: ValueType }
  | { readonly kind: 'map'; readonly element: ValueType }
  | { readonly kind: 'any' }
  | { readonly kind: 'string' | 'boolean' | 'intOrString' | 'quantity' | 'byte' }
  | { readonly kind: 'number'; readonly format: 'int32' | 'int64' | 'double' }
  | { readonly kind: 'time'; readonly format: 'date-time' | 'date-time-micro' };

interface Attribute {
  readonly baseName: string;
  readonly type: string;
  readonly format: string;
}

/** model name, such as "V1PodSpec" -> JSON field name -> type of its value */
const models: ReadonlyMap<string, ReadonlyMap<string, ValueType>> = readModels();

/**
 * Returns the fields of a client library model, such as "V1Pod": JSON field name -> type of its value. Undefined if the name is not
 * a model.
 */
export function modelFields(model: string): ReadonlyMap<string, ValueType> | undefined {
  return models.get(model);
}

function readModels(): ReadonlyMap<string, ReadonlyMap<string, ValueType>> {
  const found = new Map<string, ReadonlyMap<string, ValueType>>();
  for (const [name, exported] of Object.entries<unknown>(clientNode as Record<string, unknown>)) {
    if (!isModel(exported)) continue;
    const attributes = exported.getAttributeTypeMap();
    found.set(name, new Map(attributes.map((attribute) => [attribute.baseName, fieldType(attribute)])));
  }
  for (const [name, fields] of Object.entries(podGroupModels)) {
    found.set(name, new Map(Object.entries(fields).map(([field, type]) => [field, parseType(type, '')])));
  }
  return found;
}

function isModel(exported: unknown): exported is { getAttributeTypeMap(): readonly Attribute[] } {
  return typeof exported === 'function' && 'getAttributeTypeMap' in exported;
}

function fieldType({ baseName, type, format }: Attribute): ValueType {
  return parseType(type, quantityFields.has(baseName) ? 'quantity' : format);
}

/** Parses the models' notation: `Array<T>`, `{ [key: string]: T; }`, a scalar or a model name. `format` applies to the innermost type. */
function parseType(notation: string, format: string): ValueType {
  const list = /^Array<(.*)>$/.exec(notation);
  if (list) return { kind: 'list', element: parseType(list[1]!, format) };
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(notation);
  if (map) return { kind: 'map', element: parseType(map[1]!, format) };
  switch (notation) {
    case 'string':
      if (format === 'quantity') return { kind: 'quantity' };
      return format === 'byte' ? { kind: 'byte' } : { kind: 'string' };
    case 'number':
      return { kind: 'number', format: format === 'int32' || format === 'int64' ? format : 'double' };
    case 'int32':
      return { kind: 'number', format: 'int32' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'Date':
      return { kind: 'time', format: 'date-time' };
    case 'V1MicroTime':
      return { kind: 'time', format: 'date-time-micro' };
    case 'IntOrString':
      return { kind: 'intOrString' };
    case 'any':
      return { kind: 'any' };
    default:
      return { kind: 'model', name: notation };
  }
}
