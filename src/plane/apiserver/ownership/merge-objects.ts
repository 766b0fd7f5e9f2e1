import type { JsonObject, JsonValue } from '../json.ts';
import { isEmpty, listOf, objectOf } from './compare-objects.ts';
import type { PathElement } from './field-set.ts';
import { elementOf, elementsOf } from './list-elements.ts';
import { resolveOpen } from './owned-type.ts';
import type { ListType, MapType, OwnedType } from './owned-type.ts';

/** The live object with what the applied one says; what it does not say stays. Changes neither, and shares parts with both. */
export function mergeObjects(live: JsonObject, applied: JsonObject, type: OwnedType): JsonObject {
  return objectOf(merge(live, applied, type));
}

/** Undefined: nothing is left. */
function merge(live: JsonValue | undefined, applied: JsonValue | undefined, open: OwnedType): JsonValue | undefined {
  if (applied === undefined) return live;
  const type = resolveOpen(open, applied, live);
  if (isEmpty(live) && isEmpty(applied)) return applied;
  switch (type.kind) {
    case 'scalar':
      return applied;
    case 'list':
      if (type.structure.type === 'atomic') return applied;
      return mergeLists(listOf(live), listOf(applied), type);
    case 'map':
      return type.isAtomic ? applied : mergeMaps(objectOf(live), objectOf(applied), type);
  }
}

function mergeMaps(live: JsonObject, applied: JsonObject, type: MapType): JsonValue | undefined {
  const merged = new Map<string, JsonValue>();
  const own = (object: JsonObject, name: string): JsonValue | undefined =>
    Object.hasOwn(object, name) ? object[name] : undefined;
  for (const name of new Set([...Object.keys(live), ...Object.keys(applied)])) {
    const value = merge(own(live, name), own(applied, name), type.field(name) ?? type.element ?? { kind: 'open' });
    if (value !== undefined) merged.set(name, value);
  }
  return merged.size === 0 ? undefined : Object.fromEntries(merged);
}

/**
 * The elements of both. Those of the applied list stand in its order; each element that only the live list has keeps its place
 * before the next one that both have, as far as that is possible.
 */
function mergeLists(live: readonly JsonValue[], applied: readonly JsonValue[], type: ListType): JsonValue | undefined {
  const liveElements = live.map((value) => elementOf(value, type));
  const appliedElements = applied.map((value) => elementOf(value, type));
  const lives = elementsOf(live, type);
  const applieds = elementsOf(applied, type);
  const mergedApplied = new Set<PathElement>();
  const shared = appliedElements.filter((element) => lives.has(element));
  /** Place in `shared` of the first one whose turn is still to come. */
  let turn = 0;
  const merged: JsonValue[] = [];
  const take = (liveValue: JsonValue | undefined, appliedValue: JsonValue | undefined): void => {
    const value = merge(liveValue, appliedValue, type.element);
    if (value !== undefined) merged.push(value);
  };
  const takeApplied = (element: PathElement): void => {
    mergedApplied.add(element);
    const same = lives.get(element);
    // Duplicates of the live list give way to the one element that is applied.
    take(same?.length === 1 ? same[0] : undefined, applieds.get(element)![0]);
    if (shared[turn] === element) turn++;
  };
  let [left, right] = [0, 0];
  while (left < liveElements.length || right < appliedElements.length) {
    const ours = liveElements[left];
    const theirs = appliedElements[right];
    if (ours !== undefined && ours === theirs) {
      takeApplied(ours);
      left++;
      right++;
    } else if (
      ours !== undefined &&
      theirs !== undefined &&
      applieds.has(ours) &&
      turn < shared.length &&
      shared[turn] !== ours
    ) {
      // Both have it, but its turn in the applied order has not come, or has passed.
      left++;
    } else if (ours !== undefined && !applieds.has(ours)) {
      take(live[left], undefined);
      left++;
    } else {
      if (ours !== undefined && mergedApplied.has(ours)) left++;
      if (theirs !== undefined) {
        takeApplied(theirs);
        right++;
      }
    }
  }
  return merged.length === 0 ? undefined : merged;
}
