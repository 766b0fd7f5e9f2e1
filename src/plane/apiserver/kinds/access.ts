import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';

/** Returns the object at a field. Undefined if there is none or the value is not an object. */
export function objectAt(object: JsonObject | undefined, field: string): JsonObject | undefined {
  const value = object?.[field];
  return isObject(value) ? value : undefined;
}

/** Returns the value of a user-defined key. The key may have the name of a property that every JavaScript object inherits. */
export function ownValue(object: JsonObject | undefined, key: string): JsonValue | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Returns the objects in the list at a field. Empty if there is no list. */
export function objectsAt(object: JsonObject | undefined, field: string): JsonObject[] {
  const value = object?.[field];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the strings in the list at a field. Empty if there is no list. */
export function textsAt(object: JsonObject | undefined, field: string): string[] {
  const value = object?.[field];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Returns the string at a field. Empty if there is none. */
export function textAt(object: JsonObject | undefined, field: string): string {
  const value = object?.[field];
  return typeof value === 'string' ? value : '';
}

/** Returns the metadata of a stored object, or of an object whose write has passed the first checks. */
export function metadataOf(object: JsonObject): JsonObject {
  return object.metadata as JsonObject;
}

/** Returns the object at a field. Adds an empty object if there is none, so that callers can fill in defaults. */
export function ensureObject(object: JsonObject, field: string): JsonObject {
  const present = objectAt(object, field);
  if (present !== undefined) return present;
  const created: JsonObject = {};
  object[field] = created;
  return created;
}

/** Returns the value at a path such as `spec.volumeName`. Undefined if there is none. */
export function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const field of path.split('.')) value = isObject(value) ? ownValue(value, field) : undefined;
  return value;
}

/** Adds missing fields in place, also to nested objects. */
export function fillDefaults(object: JsonObject, defaults: JsonObject): void {
  for (const [field, value] of Object.entries(defaults)) {
    object[field] ??= isObject(value) ? {} : structuredClone(value);
    const present = object[field];
    if (isObject(value) && isObject(present)) fillDefaults(present, value);
  }
}
