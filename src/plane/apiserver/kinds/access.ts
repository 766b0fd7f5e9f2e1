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

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
