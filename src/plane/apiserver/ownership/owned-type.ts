import type { JsonObject, JsonValue } from '../json.ts';
import { apiModel } from '../schema/api-fields.ts';
import type { Structure } from '../schema/api-fields.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { zeroOf } from '../schema/zero-of.ts';

/**
 * How a value is owned: as one (scalars, and what is atomic), or by its parts.
 * - `map`: an object. `field` gives the type of a field that the type declares, `element` that of any other key; where that is
 *   undefined, other keys are an error.
 * - `list`: elements are told apart by their value (`set`) or by some of their fields (`map`).
 * - `open`: whatever the value turns out to be, objects by their keys and lists as one.
 */
export type OwnedType =
  | { readonly kind: 'scalar' }
  | { readonly kind: 'open' }
  | ListType
  | {
      readonly kind: 'map';
      readonly isAtomic: boolean;
      readonly field: (name: string) => OwnedType | undefined;
      readonly element: OwnedType | undefined;
      /** Fields that a server writes even when nobody has set them -> what it then writes. */
      readonly written: () => Readonly<Record<string, JsonValue>>;
    };

export interface ListType {
  readonly kind: 'list';
  readonly structure: Structure;
  /** The value that stands for a key that an element does not have. */
  readonly keyDefault: (key: string) => JsonValue | undefined;
  readonly element: OwnedType;
}

export type MapType = Extract<OwnedType, { kind: 'map' }>;

const scalar: OwnedType = { kind: 'scalar' };
const open: OwnedType = { kind: 'open' };
const nothingWritten = (): Readonly<Record<string, JsonValue>> => ({});
const noDefault = (): undefined => undefined;

/** The concrete type of an open one, by a value; of several values the first that there is. */
export function resolveOpen(
  type: OwnedType,
  ...values: readonly (JsonValue | undefined)[]
): Exclude<OwnedType, { kind: 'open' }> {
  if (type.kind !== 'open') return type;
  const value = values.find((each) => each !== undefined && each !== null);
  if (Array.isArray(value))
    return { kind: 'list', structure: { type: 'atomic' }, keyDefault: noDefault, element: open };
  if (value === undefined || typeof value === 'object') {
    return { kind: 'map', isAtomic: false, field: noDefault, element: open, written: nothingWritten };
  }
  return { kind: 'scalar' };
}

/** model -> its type */
const models = new Map<string, OwnedType>();

/** The type of a built-in model of the client library. */
export function modelType(model: string): OwnedType {
  let type = models.get(model);
  if (type === undefined) models.set(model, (type = makeModelType(model)));
  return type;
}

function makeModelType(model: string): OwnedType {
  const fields = modelFields(model);
  if (fields === undefined) return open;
  const known = apiModel(model);
  /** field -> its type, as far as it was asked for */
  const types = new Map<string, OwnedType>();
  return {
    kind: 'map',
    isAtomic: known?.isAtomic === true,
    field: (name) => {
      const value = fields.get(name);
      if (value === undefined) return undefined;
      let type = types.get(name);
      if (type === undefined) types.set(name, (type = valueType(value, known?.fields.get(name)?.structure)));
      return type;
    },
    element: undefined,
    written: () => {
      const written: Record<string, JsonValue> = {};
      for (const [name, value] of fields) {
        if (known?.fields.get(name)?.isAlwaysWritten === true) written[name] = emptyOf(value);
      }
      return written;
    },
  };
}

function emptyOf(type: ValueType): JsonValue {
  return type.kind === 'model' ? {} : (zeroOf(type) ?? null);
}

function valueType(value: ValueType, structure: Structure | undefined): OwnedType {
  switch (value.kind) {
    case 'model': {
      const type = modelType(value.name);
      return structure?.type === 'atomic' && type.kind === 'map' ? { ...type, isAtomic: true } : type;
    }
    case 'list':
      return {
        kind: 'list',
        structure: structure ?? { type: 'atomic' },
        keyDefault: (key) =>
          value.element.kind === 'model' ? apiModel(value.element.name)?.fields.get(key)?.keyDefault : undefined,
        element: valueType(value.element, undefined),
      };
    case 'map':
      return {
        kind: 'map',
        isAtomic: structure?.type === 'atomic',
        field: noDefault,
        element: valueType(value.element, undefined),
        written: nothingWritten,
      };
    case 'any':
      return open;
    default:
      return scalar;
  }
}

/** The type of a custom resource, by the schema of its definition. */
export function structuralType(schema: JsonObject): OwnedType {
  const type = schemaType(schema, false);
  return type.kind === 'map' ? withResourceFields(type) : type;
}

function withResourceFields(type: MapType): OwnedType {
  const metadata = modelType('V1ObjectMeta');
  return {
    ...type,
    field: (name) => {
      if (name === 'metadata') return metadata;
      return name === 'apiVersion' || name === 'kind' ? scalar : type.field(name);
    },
  };
}

function schemaType(schema: StructuralSchema, opened: boolean): OwnedType {
  const isOpen = opened || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type) {
    case undefined:
      return open;
    case 'array':
      return {
        kind: 'list',
        structure: listStructure(schema),
        keyDefault: (key) => schema.items?.properties?.[key]?.default,
        element: schema.items === undefined ? open : schemaType(schema.items, isOpen),
      };
    case 'object': {
      const type = objectType(schema, isOpen);
      return schema['x-kubernetes-embedded-resource'] === true ? withResourceFields(type) : type;
    }
    default:
      return scalar;
  }
}

function listStructure(schema: StructuralSchema): Structure {
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return { type: 'map', keys: schema['x-kubernetes-list-map-keys'] ?? [] };
    case 'set':
      return { type: 'set' };
    default:
      return { type: 'atomic' };
  }
}

function objectType(schema: StructuralSchema, isOpen: boolean): MapType {
  const { properties, additionalProperties } = schema;
  /** property -> its type, as far as it was asked for */
  const types = new Map<string, OwnedType>();
  const free = isOpen || properties === undefined || Object.keys(properties).length === 0;
  return {
    kind: 'map',
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    field: (name) => {
      if (properties === undefined || !Object.hasOwn(properties, name)) return undefined;
      let type = types.get(name);
      if (type === undefined) types.set(name, (type = schemaType(properties[name]!, isOpen)));
      return type;
    },
    element:
      typeof additionalProperties === 'object'
        ? schemaType(additionalProperties, isOpen)
        : additionalProperties === true || free
          ? open
          : undefined,
    written: nothingWritten,
  };
}
