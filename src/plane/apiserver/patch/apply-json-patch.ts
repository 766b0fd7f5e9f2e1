import type { JsonValue } from '../json.ts';
import { MutableDocument } from './mutable-document.ts';
import { PatchError } from './patch-error.ts';

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

/** As kube-apiserver has it. */
const operationsLimit = 10_000;

/**
 * Applies a JSON patch (RFC 6902): all of its operations in order, or none. As in Kubernetes, a `test` for null holds where
 * the key is absent, and `replace` adds a key that is absent. Never changes its arguments; the result shares nothing with them that is not
 * a scalar. Takes time linear in the document and the patch, and as much again as the operations have to move.
 *
 * @throws PatchError malformed, when the operations cannot be read; tooLarge, when there are too many; testFailed; unprocessable,
 * when an operation or a path does not exist, or when the operations would make of the document more than is allowed.
 */
export function applyJsonPatch(document: JsonValue, operations: unknown): JsonValue {
  if (!Array.isArray(operations)) throw new PatchError('malformed', 'a JSON patch must be an array of operations');
  if (operations.length > operationsLimit) {
    throw new PatchError(
      'tooLarge',
      `The allowed maximum operations in a JSON patch is ${operationsLimit}, got ${operations.length}`,
    );
  }
  const parsed = operations.map((operation: unknown, index) => readOperation(operation, index));
  const result = new MutableDocument(document);
  parsed.forEach((operation, index) => apply(result, operation, index));
  return result.toJson();
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

function apply(document: MutableDocument, operation: Operation, index: number): void {
  const { op, path } = operation;
  const existing = (done: boolean, pointer: string): void => {
    if (!done) throw new PatchError('unprocessable', `operation ${index} (${op} ${pointer}): the path does not exist`);
  };
  const at = segments(path);
  switch (operation.op) {
    case 'add':
      existing(document.insert(at, operation.value), path);
      return;
    case 'replace':
      existing(document.replace(at, operation.value), path);
      return;
    case 'remove':
      existing(document.remove(at), path);
      return;
    case 'copy': {
      const from = segments(operation.from);
      existing(document.has(from), operation.from);
      existing(document.copy(from, at), path);
      return;
    }
    case 'move': {
      const from = segments(operation.from);
      existing(document.has(from), operation.from);
      if (path === operation.from) return;
      if (path.startsWith(`${operation.from}/`)) {
        throw new PatchError('unprocessable', `operation ${index} moves ${operation.from} into itself`);
      }
      existing(document.move(from, at), path);
      return;
    }
    case 'test':
      if (document.equals(at, operation.value)) return;
      throw new PatchError('testFailed', `operation ${index}: testing value ${path} failed`);
  }
}

function segments(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
