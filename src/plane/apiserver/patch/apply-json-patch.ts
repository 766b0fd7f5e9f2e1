import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../json.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { PatchError } from './patch-error.ts';

/** Maximum number of operations, as in kube-apiserver. */
const maxOperations = 10_000;

/**
 * Applies a JSON patch (RFC 6902) of add, remove, replace and test operations: all of them in order, or none. As in Kubernetes, a
 * `test` for null succeeds if the key is absent, and `replace` adds an absent key. Never changes its arguments.
 *
 * @throws PatchError malformed if the operations cannot be parsed; tooLarge if there are more than 10,000; testFailed if a test fails; unprocessable if an operation is not
 * supported or a path does not exist.
 */
export function applyJsonPatch(document: JsonValue, operations: JsonValue): JsonValue {
  if (!Array.isArray(operations)) throw new PatchError('malformed', 'a JSON patch must be an array of operations');
  if (operations.length > maxOperations) {
    const found = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`;
    throw new PatchError('tooLarge', found);
  }
  // Put the document into a list, so that every value has a parent.
  const holder: JsonValue[] = [structuredClone(document)];
  operations.forEach((operation, index) => apply(holder, operation, `operation ${index}`));
  return holder[0]!;
}

/** Returns a text as it is, and any other value as JSON. */
function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}

function apply(holder: JsonValue[], operation: JsonValue, title: string): void {
  const { op, path, value } = isObject(operation) ? operation : ({} as JsonObject);
  const segments = readPointer(path, title);
  const parent = read(holder, segments.slice(0, -1));
  const place = `${title} (${textOf(op)} ${textOf(path)})`;
  switch (op) {
    case 'test':
      if (isDeepStrictEqual(read(holder, segments) ?? null, value ?? null)) return;
      throw new PatchError('testFailed', `${title}: testing value ${textOf(path)} failed`);
    case 'add':
    case 'replace':
      if (value === undefined) throw new PatchError('malformed', `${title} of the JSON patch must have a "value"`);
      if (put(parent, segments.at(-1)!, structuredClone(value), op === 'add' && segments.length > 1)) return;
      break;
    case 'remove':
      if (take(parent, segments.at(-1)!)) return;
      break;
    default:
      throw new PatchError('unprocessable', `${place}: "op" must be one of add, remove, replace, test`);
  }
  throw new PatchError('unprocessable', `${place}: the path does not exist`);
}

/** Returns the segments of a JSON pointer, from the list that holds the document. */
function readPointer(pointer: JsonValue | undefined, title: string): string[] {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) {
    throw new PatchError(
      'malformed',
      `${title} of the JSON patch must have a "path" that is empty or begins with a slash`,
    );
  }
  return `0${pointer}`.split('/').map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function read(holder: JsonValue, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = holder;
  for (const segment of path) {
    if (Array.isArray(current)) current = current[arrayIndex(segment, current.length) ?? -1];
    else current = isObject(current) && Object.hasOwn(current, segment) ? current[segment] : undefined;
  }
  return current;
}

/** Sets or inserts a value. Returns whether the path exists. "-" is the end of a list. */
function put(parent: JsonValue | undefined, segment: string, value: JsonValue, isInsertion: boolean): boolean {
  if (isObject(parent)) {
    // Assignment would set the prototype for the key "__proto__".
    Object.defineProperty(parent, segment, { value, enumerable: true, configurable: true, writable: true });
    return true;
  }
  if (!Array.isArray(parent)) return false;
  const isEnd = isInsertion && segment === '-';
  const index = isEnd ? parent.length : arrayIndex(segment, parent.length + (isInsertion ? 1 : 0));
  if (index === undefined) return false;
  parent.splice(index, isInsertion ? 0 : 1, value);
  return true;
}

/** Removes a value. Returns whether it existed. */
function take(parent: JsonValue | undefined, segment: string): boolean {
  if (isObject(parent)) return Object.hasOwn(parent, segment) && delete parent[segment];
  const index = Array.isArray(parent) ? arrayIndex(segment, parent.length) : undefined;
  if (index === undefined) return false;
  (parent as JsonValue[]).splice(index, 1);
  return true;
}

function arrayIndex(segment: string, length: number): number | undefined {
  if (!/^(0|[1-9]\d*)$/.test(segment)) return undefined;
  const index = Number(segment);
  return index < length ? index : undefined;
}
