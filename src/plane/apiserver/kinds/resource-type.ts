import type { SelectableFields } from '../http/selectors.ts';
import type { StatusCause } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import type { Store } from '../store/store.ts';
import type { Column } from './column.ts';
import type { NameRule } from './validate-metadata.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** What hooks may look at. */
export interface KindContext {
  readonly store: Store;
  /** The present moment as an API timestamp, in whole seconds. */
  readonly now: () => string;
  /** The same in milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** What a kind gives its objects beyond what holds for all: each hook is optional. */
export interface Behaviour {
  /** What names may look like. Default: a DNS subdomain. */
  readonly nameRule?: NameRule;
  /** Which changes raise `metadata.generation`: of the spec, or of all but metadata and status. Default: none. */
  readonly generation?: 'spec' | 'content';
  /** PUT creates an object that is not there. */
  readonly createOnUpdate?: boolean;
  /** DELETE answers the deleted object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** A write of the status subresource may change labels and annotations too. */
  readonly statusKeepsMetadata?: boolean;
  /** A create keeps the status that was sent, although there is a status subresource. */
  readonly createKeepsStatus?: boolean;
  /** Whether an object that replaces another must name its resource version. */
  readonly updateNeedsVersion?: boolean;
  /** Fills in defaults, in place, on create, on update and on a write of the status. */
  readonly applyDefaults?: (object: JsonObject) => void;
  /** Admission of a create, in place, after defaults; throws ApiError to reject. */
  readonly admitCreate?: (object: JsonObject, context: KindContext) => void;
  /** Checks the object's content, on create and on update. */
  readonly validate?: (object: JsonObject, context: KindContext) => StatusCause[];
  /** Checks a change of the main resource, after `validate`. */
  readonly validateUpdate?: (object: JsonObject, previous: JsonObject, context: KindContext) => StatusCause[];
  /** Changes an update in place before it is checked; `previous` must not be changed. */
  readonly prepareUpdate?: (object: JsonObject, previous: JsonObject) => void;
  /** Changes a write of the status subresource in place; the rest of the object is as it was. */
  readonly prepareStatusUpdate?: (object: JsonObject, previous: JsonObject) => void;
  /** Whether an object that is being deleted must stay although it has no finalizers. */
  readonly heldBy?: (object: JsonObject) => boolean;
  /** Rejects a deletion by throwing ApiError. */
  readonly admitDelete?: (object: JsonObject) => void;
  /** Seconds an object lives on after DELETE; undefined: it goes at once (finalizers permitting). */
  readonly gracePeriod?: (object: JsonObject, requested: number | undefined) => number | undefined;
  /** Changes, in place, an object that begins to be deleted. */
  readonly markDeleted?: (object: JsonObject) => void;
}

/** Translates between the stored shape and another one that is served. */
export interface ShapeConversion {
  /** Takes the caller's own object and may change it. */
  readonly toStored: (object: JsonObject) => JsonObject;
  /** Must not change its argument. */
  readonly fromStored: (object: JsonObject) => JsonObject;
}

/** The validation, defaulting and pruning of a custom resource, or of a built-in by its model. */
export type ContentSchema =
  | { readonly type: 'model'; readonly model: string }
  | {
      readonly type: 'structural';
      readonly schema: JsonObject;
      /** What of an object breaks the schema. */
      readonly validate: (object: JsonObject) => StatusCause[];
    };

/** One version of one resource as the API serves it. */
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
  readonly verbs: readonly Verb[];
  readonly subresources: readonly SubresourceType[];
  /** Name of the collection that keeps the objects; resources may share one. */
  readonly storage: string;
  /** The apiVersion that stored objects carry, whichever version they were written through. */
  readonly storedApiVersion: string;
  readonly content: ContentSchema;
  /** Needed only when the served shape differs from the stored one by more than apiVersion. */
  readonly conversion?: ShapeConversion;
  readonly columns: readonly Column[];
  readonly selectableFields: SelectableFields;
  readonly behaviour: Behaviour;
}

export interface SubresourceType {
  readonly name: string;
  /** The kind its body has: `Binding`; the resource's own for status. */
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly Verb[];
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

/** Fields that every kind can be selected by. */
export const metadataFields: SelectableFields = {
  'metadata.name': (object) => (object.metadata as JsonObject).name as string,
  'metadata.namespace': (object) => ((object.metadata as JsonObject).namespace as string | undefined) ?? '',
};
