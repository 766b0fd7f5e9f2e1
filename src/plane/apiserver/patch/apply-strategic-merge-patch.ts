import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';
import { PatchError } from './patch-error.ts';
import { patchField } from './patch-strategies.ts';
import type { PatchField } from './patch-strategies.ts';

const patchDirective = '$patch';
const retainKeysDirective = '$retainKeys';
const elementOrderPrefix = '$setElementOrder/';
const deleteFromListPrefix = '$deleteFromPrimitiveList/';

/**
 * Applies a strategic merge patch to a built-in object: merges objects, removes keys whose value is null, and merges or replaces lists
 * according to their field's patch strategy. Supports the directives `$patch`, `$retainKeys`, `$setElementOrder/<field>` and
 * `$deleteFromPrimitiveList/<field>`. `kind` is a model name of the client library, such as "V1Pod". The result has the content that
 * kube-apiserver's result has, but list elements that `$setElementOrder` does not name come last. Never changes its arguments.
 *
 * @throws PatchError malformed for an invalid directive; unprocessable if the patch does not fit the document.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: JsonObject, kind: string): JsonObject {
  if (modelFields(kind) === undefined) throw new Error(`${kind} is not a model of the client library`);
  return mergeObject(document, patch, { kind: 'model', name: kind }, '');
}

function mergeObject(original: JsonObject, patch: JsonObject, type: ValueType | undefined, path: string): JsonObject {
  const { [patchDirective]: directive, [retainKeysDirective]: retained, ...changes } = patch;
  if (directive === 'delete') return {};
  if (directive === 'replace') return withoutDirectives(changes) as JsonObject;
  if (directive !== undefined) throw unknownDirective(path, directive);
  // A map, because assignment to an object's "__proto__" would set its prototype.
  const result = new Map(Object.entries(original));
  if (retained !== undefined) retainKeys(result, changes, retained, path);
  const orders: [string, JsonValue][] = [];
  for (const [key, change] of Object.entries(changes)) {
    if (key.startsWith(elementOrderPrefix)) {
      orders.push([key.slice(elementOrderPrefix.length), change]);
    } else if (key.startsWith(deleteFromListPrefix)) {
      deleteFromList(result, key.slice(deleteFromListPrefix.length), change);
    } else {
      const merged =
        change === null ? undefined : mergeField(result.get(key), change, patchField(type, key), `${path}.${key}`);
      if (merged === undefined) result.delete(key);
      else result.set(key, merged);
    }
  }
  for (const [name, order] of orders) orderList(result, name, order, patchField(type, name), path);
  return Object.fromEntries(result);
}

/** Returns the new value of a field, or undefined to remove the field. */
function mergeField(
  original: JsonValue | undefined,
  change: JsonValue,
  field: PatchField,
  path: string,
): JsonValue | undefined {
  if (isObject(original) && isObject(change)) return mergeObject(original, change, field.type, path);
  if (!Array.isArray(original) || !Array.isArray(change)) return withoutDirectives(change);
  // Keep the directives in a list that is replaced: the object's validation then reports them.
  if (!field.mergeList) return withoutDirectives(change, 'keep');
  const { mergeKey } = field;
  if (mergeKey === undefined) {
    const present = new Set(original);
    return [...change.filter((element) => !present.has(element)), ...original];
  }
  return mergeObjectList(original, change, field, mergeKey, path);
}

function mergeObjectList(
  original: readonly JsonValue[],
  change: readonly JsonValue[],
  field: PatchField,
  mergeKey: string,
  path: string,
): JsonValue[] {
  if (change.some((element) => isObject(element) && element[patchDirective] === 'replace')) {
    return withoutDirectives(
      change.filter((element) => !(isObject(element) && element[patchDirective] === 'replace')),
    ) as JsonValue[];
  }
  const keyOf = (element: JsonValue): JsonValue | undefined => (isObject(element) ? element[mergeKey] : undefined);
  const deleted = new Set<JsonValue | undefined>();
  const changed: JsonObject[] = [];
  for (const element of change) {
    if (!isObject(element)) throw unprocessable(path, 'the elements must be objects');
    const key = keyOf(element);
    if (key === undefined) {
      throw unprocessable(path, `the element ${JSON.stringify(element)} does not have the merge key "${mergeKey}"`);
    }
    const directive = element[patchDirective];
    if (directive !== undefined && directive !== 'delete') throw unknownDirective(path, directive);
    if (directive === 'delete') deleted.add(key);
    else changed.push(element);
  }
  const elementType = field.type?.kind === 'list' ? field.type.element : undefined;
  const added: JsonValue[] = [];
  const merged = original.filter((element) => !deleted.has(keyOf(element)));
  const indexes = firstIndexes(merged.map(keyOf));
  for (const element of changed) {
    const index = indexes.get(keyOf(element));
    if (index === undefined) added.push(withoutDirectives(element)!);
    else merged[index] = mergeObject(merged[index] as JsonObject, element, elementType, `${path}[${index}]`);
  }
  return [...added, ...merged];
}

/** Returns value -> index of its first occurrence. */
function firstIndexes<T>(values: readonly T[]): ReadonlyMap<T, number> {
  return new Map(values.map((value, index) => [value, index] as const).toReversed());
}

/** Applies `$retainKeys`: removes every key of the document that it does not name. */
function retainKeys(result: Map<string, JsonValue>, changes: JsonObject, names: JsonValue, path: string): void {
  if (!Array.isArray(names)) throw malformed(path, `${retainKeysDirective} must be a list of field names`);
  const retained = new Set<JsonValue>(names);
  const missing = Object.entries(changes).find(
    ([key, change]) => change !== null && !key.startsWith('$') && !retained.has(key),
  );
  if (missing !== undefined) {
    throw malformed(path, `${retainKeysDirective} must name every field of the patch, and "${missing[0]}" is missing`);
  }
  for (const key of result.keys()) if (!retained.has(key)) result.delete(key);
}

/** Applies `$setElementOrder/<field>`: sorts the field's merged list. */
function orderList(
  result: Map<string, JsonValue>,
  name: string,
  order: JsonValue,
  { mergeKey }: PatchField,
  path: string,
): void {
  if (!Array.isArray(order)) throw malformed(path, `${elementOrderPrefix}${name} must be a list`);
  const list = result.get(name);
  if (!Array.isArray(list)) return;
  const keyOf = (element: JsonValue): JsonValue | undefined =>
    mergeKey !== undefined && isObject(element) ? element[mergeKey] : element;
  const ranks = firstIndexes(order.map(keyOf));
  const rankOf = (element: JsonValue): number => ranks.get(keyOf(element)) ?? order.length;
  result.set(
    name,
    list.toSorted((a, b) => rankOf(a) - rankOf(b)),
  );
}

function deleteFromList(result: Map<string, JsonValue>, name: string, values: JsonValue): void {
  const original = result.get(name);
  if (!Array.isArray(original) || !Array.isArray(values)) return;
  const deleted = new Set(values);
  result.set(
    name,
    original.filter((element) => !deleted.has(element)),
  );
}

/**
 * Returns a part of a patch to add to the object as it is, without nulls, which mean absent fields, and without directives.
 * Undefined for an object with `$patch`, because the value that it changes does not exist.
 */
function withoutDirectives(value: JsonValue, directives: 'drop' | 'keep' = 'drop'): JsonValue | undefined {
  if (Array.isArray(value)) {
    return value.map((element) => withoutDirectives(element, directives)).filter((element) => element !== undefined);
  }
  if (!isObject(value)) return value;
  if (directives === 'drop' && patchDirective in value) return undefined;
  const result = new Map<string, JsonValue>();
  for (const [key, child] of Object.entries(value)) {
    if (child === null || (directives === 'drop' && key.startsWith('$'))) continue;
    const inner = withoutDirectives(child, directives);
    if (inner !== undefined) result.set(key, inner);
  }
  return Object.fromEntries(result);
}

function malformed(path: string, problem: string): PatchError {
  return new PatchError('malformed', `${place(path)}: ${problem}`);
}

function unknownDirective(path: string, directive: JsonValue): PatchError {
  return malformed(path, `${patchDirective} must be replace or delete, not ${JSON.stringify(directive)}`);
}

function unprocessable(path: string, problem: string): PatchError {
  return new PatchError('unprocessable', `${place(path)}: ${problem}`);
}

function place(path: string): string {
  return path === '' ? 'the patch' : path.slice(1);
}
