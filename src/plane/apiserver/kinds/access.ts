import { deepCopy } from '../deep-equal.ts';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';

/** The object at a field, or undefined when there is none (or something else). */
export function objectAt(object: JsonObject | undefined, field: string): JsonObject | undefined {
  const value = object?.[field];
  return isObject(value) ? value : undefined;
}

/** The value of a key that users choose, which may have the name of something that every object inherits. */
export function ownValue(object: JsonObject | undefined, key: string): JsonValue | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The objects in the list at a field; empty when there is none. */
export function objectsAt(object: JsonObject | undefined, field: string): JsonObject[] {
  const value = object?.[field];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The texts in the list at a field; empty when there is none. */
export function textsAt(object: JsonObject | undefined, field: string): string[] {
  const value = object?.[field];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** The text at a field; empty when there is none. */
export function textAt(object: JsonObject | undefined, field: string): string {
  const value = object?.[field];
  return typeof value === 'string' ? value : '';
}

/** The metadata of a stored object, or of one that passed the first checks of a write. */
export function metadataOf(object: JsonObject): JsonObject {
  return object.metadata as JsonObject;
}

/** The object at a field, put there empty when there is none: for filling in defaults in place. */
export function ensureObject(object: JsonObject, field: string): JsonObject {
  const present = objectAt(object, field);
  if (present !== undefined) return present;
  const made: JsonObject = {};
  object[field] = made;
  return made;
}

/** The value at a path such as `spec.volumeName`; undefined when there is none. */
export function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const field of path.split('.')) value = isObject(value) ? ownValue(value, field) : undefined;
  return value;
}

/** Fills in, in place, the fields that an object lacks, also inside of objects that it has. */
export function fillDefaults(object: JsonObject, defaults: JsonObject): void {
  for (const [field, value] of Object.entries(defaults)) {
    object[field] ??= isObject(value) ? {} : deepCopy(value);
    const present = object[field];
    if (isObject(value) && isObject(present)) fillDefaults(present, value);
  }
}
