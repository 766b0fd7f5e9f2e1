import { ComplexityError, nestingLimit, rejectComplexity } from '../complexity.ts';
import { deepCopy, deepEqual } from '../deep-equal.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { PatchError } from './patch-error.ts';

/** The limits of kube-apiserver: operations, and bytes of JSON that all copies together may add. */
const operationsLimit = 10_000;
const copiedLimitBytes = 3 * 1024 * 1024;
/** List elements that all operations together may shift; comparing one value counts as shifting 50. */
const shiftedLimit = 100_000_000;
const comparedCost = 50;

/** What the operations so far have cost. */
interface Work {
  shifted: number;
  copiedBytes: number;
}

/**
 * Applies a JSON patch (RFC 6902): all of its operations in order, or none. As in Kubernetes, a `test` for null holds where
 * the key is absent, and `replace` adds a key that is absent. Never changes its arguments.
 *
 * @throws PatchError malformed, when the operations cannot be read; tooLarge, when there are too many; testFailed; unprocessable,
 * when an operation or a path does not exist, or when the operations shift, copy or nest more than is allowed.
 */
export function applyJsonPatch(document: JsonValue, operations: JsonValue): JsonValue {
  if (!Array.isArray(operations)) throw new PatchError('malformed', 'a JSON patch must be an array of operations');
  if (operations.length > operationsLimit) {
    throw new PatchError(
      'tooLarge',
      `The allowed maximum operations in a JSON patch is ${operationsLimit}, got ${operations.length}`,
    );
  }
  // The root is an element of a list, so that each place has a parent.
  const holder: JsonValue[] = [deepCopy(document)];
  const work: Work = { shifted: 0, copiedBytes: 0 };
  operations.forEach((operation, index) => apply(holder, operation, `operation ${index}`, work));
  accepted(() => rejectComplexity(holder[0]!, nestingLimit));
  return holder[0]!;
}

function apply(holder: JsonValue[], operation: JsonValue, title: string, work: Work): void {
  // Paths are checked when they are read; an operation that is no string ends in the default.
  const { op, path, from, value } = (operation ?? {}) as JsonObject & { op?: string; path?: string; from?: string };
  const at = readPointer(path, title);
  const missing = (pointer: string | undefined): never => {
    throw new PatchError('unprocessable', `${title} (${String(op)} ${String(pointer)}): the path does not exist`);
  };
  switch (op) {
    case 'test':
      if (isEqual(read(holder, at) ?? null, value ?? null, work)) return;
      throw new PatchError('testFailed', `${title}: testing value ${String(path)} failed`);
    case 'add':
    case 'replace':
      if (value === undefined) throw new PatchError('malformed', `${title} of the JSON patch must have a "value"`);
      if (!put(holder, at, deepCopy(value), op === 'add', work)) missing(path);
      return;
    case 'remove':
      if (take(holder, at, work) === undefined) missing(path);
      return;
    case 'move':
    case 'copy': {
      const source = readPointer(from, title);
      const found = read(holder, source) ?? missing(from);
      if (op === 'move' && from === path) return;
      if (op === 'move' && String(path).startsWith(`${String(from)}/`)) {
        throw new PatchError('unprocessable', `${title} moves ${String(from)} into itself`);
      }
      const moved = op === 'copy' ? copyOf(found, work) : take(holder, source, work)!;
      if (!put(holder, at, moved, true, work)) missing(path);
      return;
    }
    default:
      throw new PatchError(
        'unprocessable',
        `${title} of the JSON patch must have an "op" that is one of add, remove, replace, move, copy, test`,
      );
  }
}

/** The segments below the holder of the root. */
function readPointer(pointer: JsonValue | undefined, title: string): string[] {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) {
    throw new PatchError(
      'malformed',
      `${title} of the JSON patch must have paths that are empty or begin with a slash`,
    );
  }
  return `/0${pointer}`
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function read(holder: JsonValue, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = holder;
  for (const segment of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    if (Array.isArray(current)) current = current[arrayIndex(segment, current.length) ?? -1];
    else current = Object.hasOwn(current, segment) ? current[segment] : undefined;
  }
  return current;
}

/** Whether there is such a place; "-" in a list is its end. */
function put(holder: JsonValue[], path: readonly string[], value: JsonValue, insert: boolean, work: Work): boolean {
  const parent = read(holder, path.slice(0, -1)) ?? null;
  const segment = path.at(-1)!;
  if (typeof parent !== 'object' || parent === null) return false;
  if (!Array.isArray(parent)) {
    // Assigning to a key such as "__proto__" would do something else.
    Object.defineProperty(parent, segment, { value, enumerable: true, configurable: true, writable: true });
    return true;
  }
  const inserts = insert && path.length > 1;
  const index = inserts && segment === '-' ? parent.length : arrayIndex(segment, parent.length + (inserts ? 1 : 0));
  if (index === undefined) return false;
  if (inserts) countShifted(parent.length - index, work);
  parent.splice(index, inserts ? 0 : 1, value);
  return true;
}

/** Removes and returns a value; undefined when there is none. */
function take(holder: JsonValue[], path: readonly string[], work: Work): JsonValue | undefined {
  const parent = read(holder, path.slice(0, -1));
  const value = read(holder, path);
  if (value === undefined) return undefined;
  const segment = path.at(-1)!;
  if (path.length === 1) holder[0] = null;
  else if (!Array.isArray(parent)) delete (parent as JsonObject)[segment];
  else {
    countShifted(parent.length - Number(segment), work);
    parent.splice(Number(segment), 1);
  }
  return value;
}

function copyOf(value: JsonValue, work: Work): JsonValue {
  return accepted(() => {
    rejectComplexity(value, nestingLimit);
    work.copiedBytes += JSON.stringify(value).length;
    if (work.copiedBytes <= copiedLimitBytes) return deepCopy(value);
    throw new PatchError(
      'unprocessable',
      `Unable to complete the copy, the accumulated size increase of copy is ${work.copiedBytes}, exceeding the limit ${copiedLimitBytes}`,
    );
  });
}

function isEqual(found: JsonValue, value: JsonValue, work: Work): boolean {
  accepted(() => countShifted(comparedCost * rejectComplexity(found, nestingLimit), work));
  return deepEqual(found, value);
}

function countShifted(elements: number, work: Work): void {
  work.shifted += elements;
  if (work.shifted <= shiftedLimit) return;
  throw new PatchError(
    'unprocessable',
    'the operations shift or compare more values than this API server allows: add at the end ("-"), or replace the whole list',
  );
}

function accepted<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ComplexityError)) throw error;
    throw new PatchError('unprocessable', `the patch makes an object that is not accepted: ${error.message}`);
  }
}

function arrayIndex(segment: string, length: number): number | undefined {
  if (!/^(0|[1-9]\d*)$/.test(segment)) return undefined;
  const index = Number(segment);
  return index < length ? index : undefined;
}
