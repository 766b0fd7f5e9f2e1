import type { JsonObject, JsonValue } from '../json.ts';
import { childPath, elementPath } from './field-path.ts';
import { StepLimit } from './step-limit.ts';
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
 * arguments. Throws StepLimitError.
 */
export function pruneAndDefault(value: JsonValue, schema: JsonObject): PrunedValue {
  const { properties }: StructuralSchema = schema;
  const resource = { ...schema, properties: { ...properties, ...resourceFields } };
  const pruning = new Pruning();
  return { value: pruning.value(value, resource, ''), unknownFields: pruning.unknownFields };
}

class Pruning {
  unknownFields: string[] = [];
  readonly #steps = new StepLimit();
  /** schema -> its properties that have a default */
  readonly #defaults = new Map<StructuralSchema, readonly [string, StructuralSchema][]>();

  value(value: JsonValue, schema: StructuralSchema, path: string): JsonValue {
    this.#steps.count(1);
    if (Array.isArray(value)) {
      const { items } = schema;
      if (items === undefined) return value;
      return value.map((element, index) => this.value(element, items, elementPath(path, index)));
    }
    if (typeof value !== 'object' || value === null) return value;
    const result: [string, JsonValue][] = [];
    for (const [key, child] of Object.entries(value)) {
      const pruned = this.#field(key, child, schema, path);
      if (pruned !== undefined) result.push([key, pruned]);
    }
    for (const [key, property] of this.#defaultsOf(schema)) {
      this.#steps.count(1);
      if (Object.hasOwn(value, key) && !isAbsentNull(value[key]!, property)) continue;
      result.push([key, this.#default(property, childPath(path, key))]);
    }
    return Object.fromEntries(result);
  }

  /** Returns the pruned value of a field. Undefined if the field is unknown, or a null that counts as absent. */
  #field(key: string, child: JsonValue, schema: StructuralSchema, path: string): JsonValue | undefined {
    const property = fieldSchema(key, schema);
    if (property !== undefined) {
      return isAbsentNull(child, property) ? undefined : this.value(child, property, childPath(path, key));
    }
    const isOpen = schema.additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
    if (isOpen) return child;
    this.unknownFields.push(childPath(path, key));
    return undefined;
  }

  #defaultsOf(schema: StructuralSchema): readonly [string, StructuralSchema][] {
    let found = this.#defaults.get(schema);
    if (found === undefined) {
      found = Object.entries(schema.properties ?? {}).filter(([, property]) => property.default !== undefined);
      this.#defaults.set(schema, found);
    }
    return found;
  }

  /** Returns a default with its own nested defaults. Does not report unknown fields in it. */
  #default(property: StructuralSchema, path: string): JsonValue {
    const { unknownFields } = this;
    this.unknownFields = [];
    const value = this.value(property.default!, property, path);
    this.unknownFields = unknownFields;
    return value;
  }
}

function fieldSchema(key: string, schema: StructuralSchema): StructuralSchema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function isAbsentNull(value: JsonValue, property: StructuralSchema): boolean {
  return value === null && property.nullable !== true;
}
