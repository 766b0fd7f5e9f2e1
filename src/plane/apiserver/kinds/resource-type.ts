import type { SelectableFields } from '../http/selectors.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import type { Store } from '../store/store.ts';
import type { Column } from './column.ts';
import type { NameRule } from './validate-metadata.ts';

/** The server state that hooks may read. */
export interface KindContext {
  readonly store: Store;
  /** Returns the current time as an API timestamp, in whole seconds. */
  readonly now: () => string;
  /** Returns the current time in milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** The behavior of one kind, in addition to that of all kinds. Each hook is optional. */
export interface Behavior {
  /** The rule for names. Default: a DNS subdomain. */
  readonly nameRule?: NameRule;
  /** The changes that raise `metadata.generation`: of the spec, or of everything but metadata and status. Default: none. */
  readonly generation?: 'spec' | 'content';
  /** DELETE returns the deleted object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** A write of the status subresource may also change labels and annotations. */
  readonly statusKeepsMetadata?: boolean;
  /** A create request keeps its status, although the kind has a status subresource. */
  readonly createKeepsStatus?: boolean;
  /** An update must contain the resource version. */
  readonly updateNeedsVersion?: boolean;
  /** Fills in defaults in place on create, update and a write of the status. */
  readonly applyDefaults?: (object: JsonObject) => void;
  /** Admits a new object after its defaults, and changes it in place. Throws ApiError to reject it. */
  readonly admitCreate?: (object: JsonObject, context: KindContext) => void;
  /** Checks the object's content on create, update and a write of the status. */
  readonly validate?: (object: JsonObject, context: KindContext) => StatusCause[];
  /** Checks a change of the main resource, after `validate`. */
  readonly validateUpdate?: (object: JsonObject, previous: JsonObject, context: KindContext) => StatusCause[];
  /** Changes an updated object in place before validation. Must not change `previous`. */
  readonly prepareUpdate?: (object: JsonObject, previous: JsonObject) => void;
  /** Returns whether an object that is being deleted must stay, although its metadata has no finalizers. */
  readonly blocksRemoval?: (object: JsonObject) => boolean;
  /** Throws ApiError to reject a deletion. */
  readonly admitDelete?: (object: JsonObject) => void;
  /** Returns the seconds between DELETE and the removal of the object. Zero or undefined: at once, unless it has finalizers. */
  readonly gracePeriod?: (object: JsonObject, requested: number | undefined) => number | undefined;
  /** Changes an object in place when its deletion begins. */
  readonly markDeleted?: (object: JsonObject) => void;
}

/** Converts between the stored shape and a different served shape. */
export interface ShapeConversion {
  /** Takes ownership of the object and may change it. */
  readonly toStored: (object: JsonObject) => JsonObject;
  /** Must not change its argument. */
  readonly fromStored: (object: JsonObject) => JsonObject;
}

/** The source of an object's validation, defaults and pruning: a built-in kind's model, or a custom resource's schema. */
export type ContentSchema =
  | { readonly type: 'model'; readonly model: string }
  | {
      readonly type: 'structural';
      readonly schema: JsonObject;
      /** Returns the object's violations of the schema. */
      readonly validate: (object: JsonObject) => StatusCause[];
    };

/** One served version of one resource. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly subresources: readonly SubresourceType[];
  /** Name of the collection that stores the objects. Resources can share a collection. */
  readonly storage: string;
  /** The apiVersion of stored objects, regardless of the version that wrote them. */
  readonly storedApiVersion: string;
  readonly content: ContentSchema;
  /** Needed only if the served shape differs from the stored one by more than apiVersion. */
  readonly conversion?: ShapeConversion;
  readonly columns: readonly Column[];
  readonly selectableFields: SelectableFields;
  readonly behavior: Behavior;
}

export interface SubresourceType {
  readonly name: string;
  /** The kind of its body, such as `Binding`. For status: the resource's own kind. */
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
}

export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

export function statusSubresource(type: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): SubresourceType {
  return {
    name: 'status',
    kind: type.kind,
    group: type.group,
    version: type.version,
    verbs: ['get', 'patch', 'update'],
  };
}

export function hasStatusSubresource(type: ResourceType): boolean {
  return type.subresources.some((subresource) => subresource.name === 'status');
}

/** The fields that clients can select in every kind. */
export const metadataFields: SelectableFields = {
  'metadata.name': (object) => (object.metadata as JsonObject).name as string,
  'metadata.namespace': (object) => ((object.metadata as JsonObject).namespace as string | undefined) ?? '',
};
