import type { JsonObject, JsonValue } from '../json.ts';
import { FieldSet, fieldElement } from './field-set.ts';
import type { PathElement } from './field-set.ts';
import { elementsOf } from './list-elements.ts';
import { resolveOpen } from './owned-type.ts';
import type { ListType, MapType, OwnedType } from './owned-type.ts';

/** The fields that an object has: what someone owns who has written the whole of it. */
export function fieldsOf(object: JsonObject, type: OwnedType): FieldSet {
  const set = new FieldSet();
  collect(object, type, [], set);
  return set;
}

function collect(value: JsonValue, open: OwnedType, path: readonly PathElement[], set: FieldSet): void {
  const type = resolveOpen(open, value);
  switch (type.kind) {
    case 'scalar':
      set.insert(path);
      return;
    case 'list':
      if (type.structure.type === 'atomic') set.insert(path);
      else if (Array.isArray(value)) collectElements(value, type, path, set);
      return;
    case 'map':
      if (type.isAtomic) set.insert(path);
      else if (isObject(value)) collectFields(value, type, path, set);
      return;
  }
}

function collectElements(
  list: readonly JsonValue[],
  type: ListType,
  path: readonly PathElement[],
  set: FieldSet,
): void {
  for (const [element, values] of elementsOf(list, type)) {
    const place = [...path, element];
    if (values.length === 1) collect(values[0]!, type.element, place, set);
    set.insert(place);
  }
}

function collectFields(object: JsonObject, type: MapType, path: readonly PathElement[], set: FieldSet): void {
  for (const [name, value] of Object.entries(object)) {
    const declared = type.field(name);
    const place = [...path, fieldElement(name)];
    collect(value, declared ?? type.element ?? { kind: 'open' }, place, set);
    const isEmpty = value === null || (isObject(value) && Object.keys(value).length === 0);
    if (isEmpty || declared === undefined) set.insert(place);
  }
}

/**
 * The set and, before each path that goes on below a declared field, that field: owning `spec.replicas` keeps `spec`, while
 * owning a label does not keep all labels.
 */
export function withDeclaredFields(set: FieldSet, type: OwnedType | undefined): FieldSet {
  return set.map((element, below) => {
    const isField = element.startsWith('f:');
    const name = element.slice(2);
    const declared = isField && type?.kind === 'map' ? type.field(name) : undefined;
    const next = isField
      ? (declared ?? (type?.kind === 'map' ? type.element : undefined))
      : type?.kind === 'list'
        ? type.element
        : undefined;
    return { isMember: set.has(element) || declared !== undefined, below: withDeclaredFields(below, next) };
  });
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
