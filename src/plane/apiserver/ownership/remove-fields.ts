import type { JsonObject, JsonValue } from '../json.ts';
import { objectOf } from './compare-objects.ts';
import { fieldElement } from './field-set.ts';
import type { FieldSet } from './field-set.ts';
import { elementOf } from './list-elements.ts';
import { resolveOpen } from './owned-type.ts';
import type { OwnedType } from './owned-type.ts';

/** The object without the fields and elements of the set. Never changes its argument. */
export function removeFields(object: JsonObject, set: FieldSet, type: OwnedType): JsonObject {
  return objectOf(remove(object, set, type));
}

/** Undefined: nothing is left. */
function remove(value: JsonValue, set: FieldSet, open: OwnedType): JsonValue | undefined {
  const type = resolveOpen(open, value);
  if (type.kind === 'list' && Array.isArray(value)) {
    if (value.length === 0 || type.structure.type === 'atomic') return undefined;
    const kept: JsonValue[] = [];
    for (const item of value) {
      const element = elementOf(item, type);
      if (set.has(element)) continue;
      const below = set.below(element);
      kept.push(below === undefined ? item : (remove(item, below, type.element) ?? null));
    }
    return kept.length === 0 ? undefined : kept;
  }
  if (type.kind === 'map' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    if (Object.keys(value).length === 0 || type.isAtomic) return undefined;
    const kept = new Map<string, JsonValue>();
    for (const [name, child] of Object.entries(value)) {
      const element = fieldElement(name);
      if (set.has(element)) continue;
      const below = set.below(element);
      const rest =
        below === undefined ? child : remove(child, below, type.field(name) ?? type.element ?? { kind: 'open' });
      kept.set(name, rest ?? null);
    }
    return kept.size === 0 ? undefined : Object.fromEntries(kept);
  }
  return value;
}
