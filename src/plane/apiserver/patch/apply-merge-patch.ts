import { isObject } from '../json.ts';
import type { JsonValue } from '../json.ts';

/**
 * Applies a JSON merge patch (RFC 7386): objects are merged, null removes a key, anything else replaces. Never changes its
 * arguments; parts that stay as they are are shared with the document.
 */
export function applyMergePatch(document: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  // A map, because assigning to a key such as "__proto__" of an object is not what it seems.
  const merged = new Map(isObject(document) ? Object.entries(document) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, applyMergePatch(merged.get(key) ?? null, value));
  }
  return Object.fromEntries(merged);
}
