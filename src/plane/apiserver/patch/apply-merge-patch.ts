import { isObject } from '../json.ts';
import type { JsonValue } from '../json.ts';

/**
 * Applies a JSON merge patch (RFC 7386): merges objects, removes keys whose value is null, and replaces any other value. Never
 * changes its arguments. The result shares its unchanged parts with the document.
 */
export function applyMergePatch(document: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  // A map, because assignment to an object's "__proto__" would set its prototype.
  const merged = new Map(isObject(document) ? Object.entries(document) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, applyMergePatch(merged.get(key) ?? null, value));
  }
  return Object.fromEntries(merged);
}
