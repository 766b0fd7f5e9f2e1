import type { JsonValue } from '../json.ts';
import { keysElement, valueElement } from './field-set.ts';
import type { PathElement } from './field-set.ts';
import type { ListType } from './owned-type.ts';

/** An element of a list that cannot be told from the others. The message does not name the place. */
export class ElementError extends Error {
  override readonly name = 'ElementError';
}

/** What tells the element of a set or of a list of type map from the others. Throws ElementError. */
export function elementOf(value: JsonValue, type: ListType): PathElement {
  const { structure } = type;
  if (structure.type !== 'map') {
    if (typeof value === 'object')
      throw new ElementError('an element of a set must be a string, a number or a boolean');
    return valueElement(value);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ElementError('associative list with keys may not have non-map elements');
  }
  const keys = new Map<string, JsonValue>();
  for (const key of structure.keys) {
    const own = (Object.hasOwn(value, key) ? value[key] : undefined) ?? type.keyDefault(key);
    if (own !== undefined) keys.set(key, own);
  }
  if (keys.size === 0) {
    throw new ElementError(
      `associative list with keys has an element that omits all key fields ${JSON.stringify(structure.keys)} (and doesn't have default values for any key fields)`,
    );
  }
  return keysElement(Object.fromEntries(keys));
}

/** Element -> the values of the list that it stands for: one, unless the list has duplicates. In order of appearance. */
export function elementsOf(list: readonly JsonValue[], type: ListType): Map<PathElement, JsonValue[]> {
  const found = new Map<PathElement, JsonValue[]>();
  for (const value of list) {
    const element = elementOf(value, type);
    const same = found.get(element);
    if (same === undefined) found.set(element, [value]);
    else same.push(value);
  }
  return found;
}
