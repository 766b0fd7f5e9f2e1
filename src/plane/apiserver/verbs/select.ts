import { parseFieldSelector, parseLabelSelector } from '../http/selectors.ts';
import type { ObjectPredicate } from '../http/selectors.ts';
import type { JsonObject } from '../json.ts';
import type { ResourceType } from '../kinds/resource-type.ts';
import type { Collection } from '../store/collection.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { ListOptions } from './request-options.ts';

/** The objects of a collection that a list or a watch selects. */
export interface Selection {
  readonly namespace: string | undefined;
  /** Undefined: all objects of the namespace. */
  readonly matches: ObjectPredicate | undefined;
  /** field label -> required value, for index lookups */
  readonly equals: ReadonlyMap<string, string>;
}

/** Reads the selectors of a request. Throws 400. */
export function readSelection(type: ResourceType, namespace: string | undefined, options: ListOptions): Selection {
  const labels = parseLabelSelector(options.labelSelector);
  const fields = parseFieldSelector(options.fieldSelector, type.selectableFields);
  const predicates = [labels, fields?.matches].filter((each) => each !== undefined);
  return {
    namespace,
    matches: predicates.length === 0 ? undefined : (object) => predicates.every((each) => each(object)),
    equals: fields?.equals ?? new Map(),
  };
}

/** Returns the current objects of a selection, sorted. Uses an index or the name if the field selector allows it. */
export function selectObjects(collection: Collection, selection: Selection): StoredObject[] {
  const isSelected = selects(selection);
  return candidates(collection, selection).filter(({ object }) => isSelected(object));
}

/** Returns a predicate that tests whether an object belongs to the selection. */
export function selects(selection: Selection): ObjectPredicate {
  const { namespace, matches } = selection;
  if (namespace === undefined) return matches ?? (() => true);
  return (object) =>
    (object.metadata as JsonObject).namespace === namespace && (matches === undefined || matches(object));
}

function candidates(collection: Collection, selection: Selection): StoredObject[] {
  const name = selection.equals.get('metadata.name');
  if (name !== undefined && selection.namespace !== undefined) {
    const stored = collection.get(selection.namespace, name);
    return stored === undefined ? [] : [stored];
  }
  for (const [field, value] of selection.equals) {
    const found = collection.listByIndex(field, value);
    if (found !== undefined) return found;
  }
  return collection.list(selection.namespace);
}
