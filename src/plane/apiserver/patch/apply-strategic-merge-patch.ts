import type { JsonObject, JsonValue } from '../json.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';
import { deepEqual } from '../deep-equal.ts';
import { elementKey, orderElements } from './element-order.ts';
import { PatchError } from './patch-error.ts';
import { patchField } from './patch-strategies.ts';
import type { PatchField } from './patch-strategies.ts';

const patchDirective = '$patch';
const retainKeysDirective = '$retainKeys';
const elementOrderPrefix = '$setElementOrder';
const deleteFromListPrefix = '$deleteFromPrimitiveList';

/**
 * Applies a strategic merge patch to a built-in object: objects are merged, null removes a key, and lists are merged or
 * replaced as their field's patch strategy says, with the directives `$patch`, `$retainKeys`, `$setElementOrder/<field>` and
 * `$deleteFromPrimitiveList/<field>`. `kind` is the client library's model name, such as "V1Pod". Gives what kubectl and
 * kube-apiserver give, the order of lists included. Never changes its arguments.
 *
 * @throws PatchError malformed for a broken directive; unprocessable where document and patch do not fit together.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: JsonObject, kind: string): JsonObject {
  if (modelFields(kind) === undefined) throw new Error(`${kind} is not a model of the client library`);
  return mergeObject(document, patch, { kind: 'model', name: kind }, '');
}

function mergeObject(original: JsonObject, patch: JsonObject, type: ValueType | undefined, path: string): JsonObject {
  const directive = patch[patchDirective];
  if (directive !== undefined) return replaceOrDelete(directive, patch, path);
  // Maps, because assigning to a key such as "__proto__" of an object is not what it seems.
  const result = new Map(Object.entries(original));
  const changes = new Map(Object.entries(patch));
  retainKeys(result, changes, path);
  orderLists(result, changes, type, path);
  for (const [key, change] of changes) {
    if (key.startsWith(deleteFromListPrefix)) {
      deleteFromList(result, fieldOfDirective(key, deleteFromListPrefix, path), change, path);
    } else if (change === null) {
      result.delete(key);
    } else {
      const merged = mergeField(result.get(key), change, patchField(type, key), `${path}.${key}`);
      if (merged === undefined) result.delete(key);
      else result.set(key, merged);
    }
  }
  return Object.fromEntries(result);
}

function replaceOrDelete(directive: JsonValue, patch: JsonObject, path: string): JsonObject {
  if (directive === 'delete') return {};
  if (directive === 'replace') {
    const rest = Object.entries(patch).filter(([key]) => key !== patchDirective);
    return withoutNulls(Object.fromEntries(rest)) as JsonObject;
  }
  throw malformed(path, `${patchDirective} must be replace or delete, not ${JSON.stringify(directive)}`);
}

/** Undefined: the field is not to be there. */
function mergeField(
  original: JsonValue | undefined,
  change: JsonValue,
  field: PatchField,
  path: string,
): JsonValue | undefined {
  if (isObject(original) && isObject(change)) return mergeObject(original, change, field.type, path);
  if (Array.isArray(original) && Array.isArray(change)) return mergeList(original, change, field, path);
  return withoutDirectives(withoutNulls(change));
}

function mergeList(original: JsonValue[], change: JsonValue[], field: PatchField, path: string): JsonValue[] {
  if (!field.mergeList) return withoutNulls(change) as JsonValue[];
  if (original.length === 0 && change.length === 0) return original;
  if (!sameShape([...original, ...change])) {
    throw unprocessable(path, 'the elements of the document and of the patch are not all of one type');
  }
  if (field.mergeKey === undefined) {
    return orderElements([...new Set([...original, ...change])], change, original, undefined);
  }
  return mergeObjectList(original as JsonObject[], change as JsonObject[], field, field.mergeKey, path);
}

function mergeObjectList(
  original: readonly JsonObject[],
  change: readonly JsonObject[],
  field: PatchField,
  mergeKey: string,
  path: string,
): JsonValue[] {
  if (!isObject(original[0] ?? change[0])) throw unprocessable(path, 'the elements must be objects');
  for (const element of [...change, ...original]) {
    if (element[mergeKey] === undefined && element[patchDirective] !== 'replace') {
      throw unprocessable(path, `the element ${JSON.stringify(element)} does not have the merge key "${mergeKey}"`);
    }
  }
  const ordinary = change.filter((element) => element[patchDirective] === undefined);
  const deleted = new Set<JsonValue>();
  let replace = false;
  for (const element of change) {
    const directive = element[patchDirective];
    if (directive === 'replace') replace = true;
    else if (directive === 'delete') deleted.add(element[mergeKey]!);
    else if (directive !== undefined) {
      throw malformed(path, `${patchDirective} must be replace or delete, not ${JSON.stringify(directive)}`);
    }
  }
  if (replace) return withoutNulls([...ordinary]) as JsonValue[];
  const kept = original.filter((element) => !deleted.has(element[mergeKey]!));
  const elementType = field.type?.kind === 'list' ? field.type.element : undefined;
  const merged: JsonObject[] = [...kept];
  /** merge key's value -> place in `merged` of the first element that has it */
  const places = new Map<JsonValue | undefined, number>();
  for (const [index, element] of merged.entries()) {
    if (!places.has(element[mergeKey])) places.set(element[mergeKey], index);
  }
  for (const element of ordinary) {
    const index = places.get(element[mergeKey]);
    if (index !== undefined) {
      merged[index] = mergeObject(merged[index]!, element, elementType, `${path}[${index}]`);
      continue;
    }
    places.set(element[mergeKey], merged.length);
    merged.push(withoutNulls(element) as JsonObject);
  }
  return orderElements(merged, ordinary, kept, mergeKey);
}

/** `$retainKeys`: clears every key of the document that is not named. */
function retainKeys(result: Map<string, JsonValue>, changes: Map<string, JsonValue>, path: string): void {
  const names = changes.get(retainKeysDirective);
  if (names === undefined) return;
  changes.delete(retainKeysDirective);
  if (!Array.isArray(names)) throw malformed(path, `${retainKeysDirective} must be a list of field names`);
  const retained = new Set<JsonValue>(names);
  for (const [key, change] of changes) {
    if (change === null || isListDirective(key) || retained.has(key)) continue;
    throw malformed(path, `${retainKeysDirective} must name every field of the patch, and "${key}" is missing`);
  }
  for (const key of result.keys()) if (!retained.has(key)) result.delete(key);
}

/** `$setElementOrder/<field>`: merges the field's list and puts it in order; the field leaves `changes`. */
function orderLists(
  result: Map<string, JsonValue>,
  changes: Map<string, JsonValue>,
  type: ValueType | undefined,
  path: string,
): void {
  for (const [directive, order] of [...changes]) {
    if (!directive.startsWith(elementOrderPrefix)) continue;
    changes.delete(directive);
    const name = fieldOfDirective(directive, elementOrderPrefix, path);
    const field = patchField(type, name);
    const original = result.get(name);
    const change = changes.get(name);
    if (!isList(order) || !isListOrAbsent(original) || !isListOrAbsent(change)) {
      throw malformed(path, `${directive} and the lists that it is for must be lists`);
    }
    if (change !== undefined) checkOrder(change, order, field.mergeKey, `${path}.${name}`);
    if (original === undefined && change === undefined) continue;
    const merged = mergeOrTake(original, change, field, `${path}.${name}`);
    for (const element of [...merged, ...order]) {
      if (elementKey(element, field.mergeKey) !== undefined) continue;
      throw unprocessable(`${path}.${name}`, `${JSON.stringify(element)} does not have the merge key`);
    }
    const documentOrder = orderAfterDeletions(original ?? [], change ?? [], field.mergeKey);
    result.set(name, orderElements(merged, order, documentOrder, field.mergeKey));
    changes.delete(name);
  }
}

function mergeOrTake(
  original: JsonValue[] | undefined,
  change: JsonValue[] | undefined,
  field: PatchField,
  path: string,
): JsonValue[] {
  if (change === undefined) return original ?? [];
  return original === undefined ? (withoutNulls(change) as JsonValue[]) : mergeList(original, change, field, path);
}

/**
 * The document's order as `$setElementOrder` sees it. Upstream merges in place, so that elements new to the document take the
 * places that deletions have freed at the list's end, and are then ordered as if they had been there.
 */
function orderAfterDeletions(
  original: readonly JsonValue[],
  change: readonly JsonValue[],
  mergeKey: string | undefined,
): readonly JsonValue[] {
  if (mergeKey === undefined) return original;
  const keys = (elements: readonly JsonValue[], deleted: boolean): Set<JsonValue | undefined> =>
    new Set(
      elements
        .filter((element) => isObject(element) && (element[patchDirective] === 'delete') === deleted)
        .map((element) => elementKey(element, mergeKey)),
    );
  const gone = keys(change, true);
  const kept = original.filter((element) => !gone.has(elementKey(element, mergeKey)));
  const known = keys(kept, false);
  const fresh = change.filter((element) => {
    const key = elementKey(element, mergeKey);
    return isObject(element) && !(patchDirective in element) && !known.has(key);
  });
  return [...kept, ...fresh].slice(0, original.length);
}

/** The elements of a list in a patch must stand in its `$setElementOrder`, in the same order; deletions need not. */
function checkOrder(change: JsonValue[], order: JsonValue[], mergeKey: string | undefined, path: string): void {
  if (order.length === 0) return;
  const named = change.filter((element) => !(isObject(element) && element[patchDirective] === 'delete'));
  let next = 0;
  for (let place = 0; place < order.length && next < named.length;) {
    const expected = named[next]!;
    if (isObject(expected) && patchDirective in expected) {
      next++;
      continue;
    }
    const [left, right] = [elementKey(expected, mergeKey), elementKey(order[place]!, mergeKey)];
    if (left !== undefined && right !== undefined && deepEqual(left, right)) next++;
    place++;
  }
  if (next < named.length) {
    throw malformed(path, `the order of the list in the patch does not match its ${elementOrderPrefix} list`);
  }
}

function deleteFromList(result: Map<string, JsonValue>, name: string, values: JsonValue, path: string): void {
  const original = result.get(name);
  if (values === null) {
    result.delete(name);
    return;
  }
  if (!Array.isArray(original) || !Array.isArray(values)) return;
  if (original.some((element) => typeof element === 'object')) {
    throw malformed(path, `${deleteFromListPrefix}/${name} is for lists of scalars only`);
  }
  const deleted = new Set(values);
  result.set(
    name,
    original.filter((element) => !deleted.has(element)),
  );
}

function fieldOfDirective(key: string, prefix: string, path: string): string {
  if (key.startsWith(`${prefix}/`) && key.length > prefix.length + 1) return key.slice(prefix.length + 1);
  throw malformed(path, `the directive ${JSON.stringify(key)} must be ${prefix}/<field>`);
}

function isListDirective(key: string): boolean {
  return key.startsWith(elementOrderPrefix) || key.startsWith(deleteFromListPrefix);
}

/** A part of a patch that is taken as it is; a null in it means an absent field. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((element) => withoutNulls(element));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, child]) => child !== null);
  return Object.fromEntries(kept.map(([key, child]) => [key, withoutNulls(child)]));
}

/**
 * Without the objects that carry a `$patch`, which say how to change something that is not there. Directives anywhere else
 * in a part that is taken as it is stay, as they do upstream, for strict decoding to report.
 */
function withoutDirectives(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) {
    return value.map((element) => withoutDirectives(element)).filter((element) => element !== undefined);
  }
  if (!isObject(value)) return value;
  if (patchDirective in value) return undefined;
  const kept: [string, JsonValue][] = [];
  for (const [key, child] of Object.entries(value)) {
    const cleaned = withoutDirectives(child);
    if (cleaned !== undefined) kept.push([key, cleaned]);
  }
  return Object.fromEntries(kept);
}

function sameShape(elements: readonly JsonValue[]): boolean {
  const shape = (element: JsonValue): string =>
    element === null ? 'null' : Array.isArray(element) ? 'list' : typeof element;
  const [first] = elements;
  if (first === undefined || first === null || Array.isArray(first)) return false;
  return elements.every((element) => shape(element) === shape(first));
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: JsonValue | undefined): value is JsonValue[] {
  return Array.isArray(value);
}

function isListOrAbsent(value: JsonValue | undefined): value is JsonValue[] | undefined {
  return value === undefined || Array.isArray(value);
}

function malformed(path: string, problem: string): PatchError {
  return new PatchError('malformed', `${place(path)}: ${problem}`);
}

function unprocessable(path: string, problem: string): PatchError {
  return new PatchError('unprocessable', `${place(path)}: ${problem}`);
}

function place(path: string): string {
  return path === '' ? 'the patch' : path.slice(1);
}
