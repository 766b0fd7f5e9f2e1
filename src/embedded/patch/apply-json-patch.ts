import type { JsonObject, JsonValue } from '../json.ts';
import { deepEqual } from '../deep-equal.ts';
import { PatchError } from './patch-error.ts';

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

/**
 * Applies a JSON patch (RFC 6902): all of its operations in order, or none. As in Kubernetes, a `test` for null holds where
 * the key is absent, and `replace` adds a key that is absent. Never changes its arguments.
 *
 * @throws PatchError malformed, when the operations cannot be read; testFailed; unprocessable, when an operation or a path does
 * not exist.
 */
export function applyJsonPatch(document: JsonValue, operations: unknown): JsonValue {
  if (!Array.isArray(operations)) throw new PatchError('malformed', 'a JSON patch must be an array of operations');
  const parsed = operations.map((operation: unknown, index) => readOperation(operation, index));
  return parsed.reduce<JsonValue>((result, operation, index) => apply(result, operation, index), document);
}

function readOperation(value: unknown, index: number): Operation {
  const fail = (problem: string): never => {
    throw new PatchError('malformed', `operation ${index} of the JSON patch ${problem}`);
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('must be an object');
  const fields = value as Partial<Record<string, JsonValue>>;
  const pointer = (name: 'path' | 'from'): string => {
    const text = fields[name];
    if (typeof text !== 'string' || (text !== '' && !text.startsWith('/'))) {
      return fail(`must have a "${name}" that is empty or begins with a slash`);
    }
    return text;
  };
  const { op } = fields;
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      if (fields.value === undefined) return fail(`("${op}") must have a "value"`);
      return { op, path: pointer('path'), value: fields.value };
    case 'remove':
      return { op, path: pointer('path') };
    case 'move':
    case 'copy':
      return { op, path: pointer('path'), from: pointer('from') };
    default: {
      const known = 'add, remove, replace, move, copy, test';
      throw new PatchError(
        'unprocessable',
        `operation ${index} of the JSON patch must have an "op" that is one of ${known}`,
      );
    }
  }
}

function apply(document: JsonValue, operation: Operation, index: number): JsonValue {
  const missing = (path: string): PatchError =>
    new PatchError('unprocessable', `operation ${index} (${operation.op} ${path}): the path does not exist`);
  const present = (path: string): JsonValue => {
    const value = read(document, segments(path));
    if (value === undefined) throw missing(path);
    return value;
  };
  const put = (target: JsonValue, path: string, value: JsonValue | undefined, insert: boolean): JsonValue => {
    const changed = write(target, segments(path), value, insert);
    if (changed === undefined) throw missing(path);
    return changed;
  };
  switch (operation.op) {
    case 'add':
      return put(document, operation.path, operation.value, true);
    case 'replace':
      return put(document, operation.path, operation.value, false);
    case 'remove':
      present(operation.path);
      if (operation.path === '') return null;
      return put(document, operation.path, undefined, false);
    case 'copy':
      return put(document, operation.path, present(operation.from), true);
    case 'move': {
      const value = present(operation.from);
      if (operation.path === operation.from) return document;
      if (operation.path.startsWith(`${operation.from}/`)) {
        throw new PatchError('unprocessable', `operation ${index} moves ${operation.from} into itself`);
      }
      return put(put(document, operation.from, undefined, false), operation.path, value, true);
    }
    case 'test': {
      const value = read(document, segments(operation.path)) ?? null;
      if (!deepEqual(value, operation.value)) {
        throw new PatchError('testFailed', `operation ${index}: testing value ${operation.path} failed`);
      }
      return document;
    }
  }
}

function segments(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function arrayIndex(segment: string, length: number): number | undefined {
  if (!/^(0|[1-9]\d*)$/.test(segment)) return undefined;
  const index = Number(segment);
  return index < length ? index : undefined;
}

function read(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const segment of path) {
    if (Array.isArray(current)) {
      const index = arrayIndex(segment, current.length);
      current = index === undefined ? undefined : current[index];
    } else if (typeof current === 'object' && current !== null) {
      current = Object.hasOwn(current, segment) ? current[segment] : undefined;
    } else return undefined;
  }
  return current;
}

/**
 * A copy of `target` with `value` at `path`, or without it when `value` is undefined. `insert`: into an array, push the
 * following elements back. Undefined when the path's parent does not exist.
 */
function write(
  target: JsonValue,
  path: readonly string[],
  value: JsonValue | undefined,
  insert: boolean,
): JsonValue | undefined {
  const [segment, ...rest] = path;
  if (segment === undefined) return value;
  if (Array.isArray(target)) return writeElement(target, segment, rest, value, insert);
  if (typeof target !== 'object' || target === null) return undefined;
  return writeKey(target, segment, rest, value, insert);
}

function writeElement(
  target: JsonValue[],
  segment: string,
  rest: readonly string[],
  value: JsonValue | undefined,
  insert: boolean,
): JsonValue | undefined {
  if (rest.length === 0 && insert && value !== undefined) {
    const index = segment === '-' ? target.length : arrayIndex(segment, target.length + 1);
    return index === undefined ? undefined : target.toSpliced(index, 0, value);
  }
  const index = arrayIndex(segment, target.length);
  if (index === undefined) return undefined;
  if (rest.length === 0 && value === undefined) return target.toSpliced(index, 1);
  const changed = write(target[index]!, rest, value, insert);
  return changed === undefined ? undefined : target.with(index, changed);
}

function writeKey(
  target: JsonObject,
  segment: string,
  rest: readonly string[],
  value: JsonValue | undefined,
  insert: boolean,
): JsonValue | undefined {
  // A map, because assigning to a key such as "__proto__" of an object is not what it seems.
  const entries = new Map(Object.entries(target));
  if (rest.length === 0 && value === undefined) {
    entries.delete(segment);
  } else {
    const child = rest.length === 0 ? null : entries.get(segment);
    if (child === undefined) return undefined;
    const changed = write(child, rest, value, insert);
    if (changed === undefined) return undefined;
    entries.set(segment, changed);
  }
  return Object.fromEntries(entries);
}
