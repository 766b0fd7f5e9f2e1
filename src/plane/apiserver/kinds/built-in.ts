import { isDeepStrictEqual } from 'node:util';
import type { StatusCause } from '../http/api-error.ts';
import type { SelectableFields } from '../http/selectors.ts';
import type { JsonObject } from '../json.ts';
import { fillDefaults, valueAt } from './access.ts';
import { ageColumn, nameColumn } from './column.ts';
import type { Column } from './column.ts';
import { invalidValue, notSupported, required } from '../schema/field-error.ts';
import { apiVersionOf, metadataFields, statusSubresource } from './resource-type.ts';
import type { Behavior, ResourceType, ShapeConversion, SubresourceType } from './resource-type.ts';

/** The properties in which built-in kinds differ. Field paths are dotted, as in `spec.type`. */
export interface BuiltInKind {
  /** Default: the core group. */
  readonly group?: string;
  /** Default: v1. */
  readonly version?: string;
  readonly kind: string;
  /** Default: the kind in lower case plus "s". */
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Default: true. */
  readonly namespaced?: boolean;
  /** The client library's model, which defines the fields. Default: `V1` plus the kind. */
  readonly model?: string;
  /** Whether the kind has a status subresource. */
  readonly hasStatus?: boolean;
  readonly subresources?: readonly SubresourceType[];
  /** Default: the qualified resource name. */
  readonly storage?: string;
  /** Default: the kind's own apiVersion. */
  readonly storedApiVersion?: string;
  /** The columns between name and age. */
  readonly columns?: readonly Column[];
  /** The columns after the age. */
  readonly lastColumns?: readonly Column[];
  readonly selectableFields?: SelectableFields;
  /** Default values of fields. */
  readonly defaults?: JsonObject;
  /** Paths of fields that must be set. */
  readonly required?: readonly string[];
  /** field path -> supported values */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /** Paths of fields that an update may not change. */
  readonly immutable?: readonly string[];
  readonly conversion?: ShapeConversion;
  readonly behavior?: Behavior;
}

/** Returns the resource type of a built-in kind. Adds the properties that all kinds share. */
export function builtIn(kind: BuiltInKind): ResourceType {
  const { group = '', version = 'v1', plural = `${kind.kind.toLowerCase()}s` } = kind;
  const type = { group, version, kind: kind.kind };
  return {
    ...type,
    plural,
    singular: kind.kind.toLowerCase(),
    listKind: `${kind.kind}List`,
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    namespaced: kind.namespaced ?? true,
    subresources: [...(kind.subresources ?? []), ...(kind.hasStatus === true ? [statusSubresource(type)] : [])],
    storage: kind.storage ?? (group === '' ? plural : `${plural}.${group}`),
    storedApiVersion: kind.storedApiVersion ?? apiVersionOf(type),
    content: { type: 'model', model: kind.model ?? `V1${kind.kind}` },
    ...(kind.conversion && { conversion: kind.conversion }),
    columns: [nameColumn, ...(kind.columns ?? []), ageColumn, ...(kind.lastColumns ?? [])],
    selectableFields: { ...metadataFields, ...kind.selectableFields },
    behavior: behaviorOf(kind),
  };
}

function behaviorOf({ behavior = {}, defaults = {}, immutable = [], ...kind }: BuiltInKind): Behavior {
  return {
    ...behavior,
    applyDefaults: (object) => {
      fillDefaults(object, defaults);
      behavior.applyDefaults?.(object);
    },
    validate: (object, context) => [...validateFields(kind, object), ...(behavior.validate?.(object, context) ?? [])],
    validateUpdate: (object, previous, context) => [
      ...immutable
        .filter((path) => !isDeepStrictEqual(valueAt(object, path), valueAt(previous, path)))
        .map((path) => invalidValue(path, valueAt(object, path) ?? null, 'field is immutable')),
      ...(behavior.validateUpdate?.(object, previous, context) ?? []),
    ],
  };
}

function validateFields(
  { required: paths = [], values = {} }: Pick<BuiltInKind, 'required' | 'values'>,
  object: JsonObject,
): StatusCause[] {
  return [
    ...paths.filter((path) => valueAt(object, path) === undefined).map((path) => required(path)),
    ...Object.entries(values).flatMap(([path, supported]) => {
      const value = valueAt(object, path) ?? '';
      return supported.includes(value as string) ? [] : [notSupported(path, value, supported)];
    }),
  ];
}
