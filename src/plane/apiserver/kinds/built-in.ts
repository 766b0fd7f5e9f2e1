import { deepEqual } from '../deep-equal.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { SelectableFields } from '../http/selectors.ts';
import type { JsonObject } from '../json.ts';
import { fillDefaults, valueAt } from './access.ts';
import { ageColumn, nameColumn } from './column.ts';
import type { Column } from './column.ts';
import { invalidValue, notSupported, required } from '../schema/field-error.ts';
import { allVerbs, apiVersionOf, metadataFields, statusSubresource } from './resource-type.ts';
import type { Behaviour, ResourceType, ShapeConversion, SubresourceType, Verb } from './resource-type.ts';

/** What differs between built-in kinds. Paths of fields are dotted, as in `spec.type`. */
export interface BuiltInKind {
  /** Default: the core group. */
  readonly group?: string;
  readonly kind: string;
  /** Default: the kind in lower case with an s. */
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Default: true. */
  readonly namespaced?: boolean;
  /** The client library's model: gives the fields. Default: `V1` and the kind. */
  readonly model?: string;
  /** Whether there is a status subresource. */
  readonly hasStatus?: boolean;
  readonly subresources?: readonly SubresourceType[];
  /** Default: the qualified resource name. */
  readonly storage?: string;
  /** Default: the kind's own. */
  readonly storedApiVersion?: string;
  /** The columns between name and age. */
  readonly columns?: readonly Column[];
  /** The columns after the age. */
  readonly lastColumns?: readonly Column[];
  readonly selectableFields?: SelectableFields;
  /** Values of fields that an object lacks. */
  readonly defaults?: JsonObject;
  /** Paths of fields that must be set. */
  readonly required?: readonly string[];
  /** Path of a field -> the values that it may have. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /** Paths of fields that an update may not change. */
  readonly immutable?: readonly string[];
  readonly conversion?: ShapeConversion;
  readonly behaviour?: Behaviour;
  /** Default: all. */
  readonly verbs?: readonly Verb[];
}

/** Fills in what built-in kinds have in common. All of them are of version v1. */
export function builtIn(kind: BuiltInKind): ResourceType {
  const { group = '', plural = `${kind.kind.toLowerCase()}s` } = kind;
  const type = { group, version: 'v1', kind: kind.kind };
  return {
    ...type,
    plural,
    singular: kind.kind.toLowerCase(),
    listKind: `${kind.kind}List`,
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    namespaced: kind.namespaced ?? true,
    verbs: kind.verbs ?? allVerbs,
    subresources: [...(kind.subresources ?? []), ...(kind.hasStatus === true ? [statusSubresource(type)] : [])],
    storage: kind.storage ?? (group === '' ? plural : `${plural}.${group}`),
    storedApiVersion: kind.storedApiVersion ?? apiVersionOf(type),
    content: { type: 'model', model: kind.model ?? `V1${kind.kind}` },
    ...(kind.conversion && { conversion: kind.conversion }),
    columns: [nameColumn, ...(kind.columns ?? []), ageColumn, ...(kind.lastColumns ?? [])],
    selectableFields: { ...metadataFields, ...kind.selectableFields },
    behaviour: behaviourOf(kind),
  };
}

function behaviourOf({ behaviour = {}, defaults = {}, immutable = [], ...kind }: BuiltInKind): Behaviour {
  return {
    ...behaviour,
    applyDefaults: (object) => {
      fillDefaults(object, defaults);
      behaviour.applyDefaults?.(object);
    },
    validate: (object, context) => [...validateFields(kind, object), ...(behaviour.validate?.(object, context) ?? [])],
    validateUpdate: (object, previous, context) => [
      ...immutable
        .filter((path) => !deepEqual(valueAt(object, path), valueAt(previous, path)))
        .map((path) => invalidValue(path, valueAt(object, path) ?? null, 'field is immutable')),
      ...(behaviour.validateUpdate?.(object, previous, context) ?? []),
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
