import type { SelectableFields } from '../http/selectors.ts';
import { ageColumn, nameColumn } from './column.ts';
import type { Column } from './column.ts';
import { allVerbs, apiVersionOf, metadataFields } from './resource-type.ts';
import type { Behaviour, ResourceType, ShapeConversion, SubresourceType, Verb } from './resource-type.ts';

/** What differs between built-in kinds. */
export interface BuiltInKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  /** The client library's model: gives the fields. */
  readonly model: string;
  readonly subresources?: readonly SubresourceType[];
  /** Default: the qualified resource name. */
  readonly storage?: string;
  /** Default: the kind's own. */
  readonly storedApiVersion?: string;
  readonly columns?: readonly Column[];
  readonly selectableFields?: SelectableFields;
  readonly conversion?: ShapeConversion;
  readonly behaviour?: Behaviour;
  /** Default: all. */
  readonly verbs?: readonly Verb[];
}

/** Fills in what built-in kinds have in common. */
export function builtIn(kind: BuiltInKind): ResourceType {
  return {
    group: kind.group,
    version: kind.version,
    kind: kind.kind,
    plural: kind.plural,
    singular: kind.singular ?? kind.kind.toLowerCase(),
    listKind: `${kind.kind}List`,
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    namespaced: kind.namespaced,
    verbs: kind.verbs ?? allVerbs,
    subresources: kind.subresources ?? [],
    storage: kind.storage ?? (kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`),
    storedApiVersion: kind.storedApiVersion ?? apiVersionOf(kind),
    content: { type: 'model', model: kind.model },
    ...(kind.conversion && { conversion: kind.conversion }),
    columns: kind.columns ?? [nameColumn, ageColumn],
    selectableFields: { ...metadataFields, ...kind.selectableFields },
    behaviour: kind.behaviour ?? {},
  };
}
