import { deepEqual } from '../deep-equal.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { FieldSet, fieldElement } from './field-set.ts';
import type { PathElement } from './field-set.ts';
import { elementsOf } from './list-elements.ts';
import { resolveOpen } from './owned-type.ts';
import type { ListType, MapType, OwnedType } from './owned-type.ts';

/** Where two objects differ. No path is in more than one of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** What has to be done to `before` to make it `after`, by their common type. */
export function compareObjects(before: JsonObject, after: JsonObject, type: OwnedType): Comparison {
  const found = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() };
  compare(before, after, type, [], found);
  return found;
}

function compare(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  open: OwnedType,
  path: readonly PathElement[],
  found: Comparison,
): void {
  const type = resolveOpen(open, after, before);
  const isLeaf = type.kind === 'scalar' || isOwnedAsOne(type) || (isEmpty(before) && isEmpty(after));
  if (!isLeaf) {
    if (type.kind === 'list') compareLists(listOf(before), listOf(after), type, path, found);
    else compareMaps(objectOf(before), objectOf(after), type, path, found);
  }
  if (before === undefined) found.added.insert(path);
  else if (after === undefined) found.removed.insert(path);
  else if (isLeaf && !deepEqual(before, after)) found.modified.insert(path);
}

function isOwnedAsOne(type: ListType | MapType): boolean {
  return type.kind === 'list' ? type.structure.type === 'atomic' : type.isAtomic;
}

function compareLists(
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  type: ListType,
  path: readonly PathElement[],
  found: Comparison,
): void {
  const [olds, news] = [elementsOf(before, type), elementsOf(after, type)];
  for (const element of new Set([...olds.keys(), ...news.keys()])) {
    const place = [...path, element];
    const [old, now] = [olds.get(element) ?? [], news.get(element) ?? []];
    if (old.length <= 1 && now.length <= 1) {
      compare(old[0], now[0], type.element, place, found);
    } else if (old.length > 1 && now.length > 1) {
      // Elements that nothing tells apart are owned together.
      if (!deepEqual(old, now)) found.modified.insert(place);
    } else if (old.length > 1) {
      if (now.length > 0) compare(undefined, now[0], type.element, place, found);
      found.removed.insert(place);
    } else {
      if (old.length > 0) compare(old[0], undefined, type.element, place, found);
      found.added.insert(place);
    }
  }
}

function compareMaps(
  before: JsonObject,
  after: JsonObject,
  type: MapType,
  path: readonly PathElement[],
  found: Comparison,
): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const own = (object: JsonObject): JsonValue | undefined => (Object.hasOwn(object, name) ? object[name] : undefined);
    compare(
      own(before),
      own(after),
      type.field(name) ?? type.element ?? { kind: 'open' },
      [...path, fieldElement(name)],
      found,
    );
  }
}

/** Nothing, or a list or an object without anything in it. */
export function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

export function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
