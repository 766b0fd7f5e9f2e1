import { ComplexityError, nestedTooDeeply, nestingLimit } from '../complexity.ts';
import type { JsonValue } from '../json.ts';
import { PatchError } from './patch-error.ts';

/** A JSON value that can be changed in place. Objects are maps: they know their size, and no key of theirs is special. */
type Tree = null | boolean | number | string | Tree[] | Map<string, Tree>;

/** Where a path leads: the parent, and the last segment in it; the root has none. */
interface Place {
  readonly parent: Tree[] | Map<string, Tree> | undefined;
  readonly segment: string;
}

/** What all copies together may add, in bytes of JSON: as kube-apiserver has it. */
const copiedLimitBytes = 3 * 1024 * 1024;
/** List elements that all operations together may push back or draw up. */
const shiftedLimit = 100_000_000;

/**
 * A document that is changed step by step, each step as cheap as what it touches. Where a path leads nowhere a step answers false and
 * changes nothing, except that `move` may have taken its value away. Throws PatchError (unprocessable) when the steps together copy, move
 * or nest more than is allowed.
 */
export class MutableDocument {
  #root: Tree;
  #copiedBytes = 0;
  #shifted = 0;

  constructor(document: JsonValue) {
    this.#root = toTree(document);
  }

  /** The document as it is now, which must be the end: it is not to be changed any more. */
  toJson(): JsonValue {
    return guarded(() => toJson(this.#root, 0));
  }

  has(path: readonly string[]): boolean {
    return this.#read(path) !== undefined;
  }

  /** Whether the value there is this one; what is not there equals null. */
  equals(path: readonly string[], value: JsonValue): boolean {
    return isEqual(this.#read(path) ?? null, value);
  }

  /** Puts the value there; in a list, before the element of that index, or at the end for "-". */
  insert(path: readonly string[], value: JsonValue): boolean {
    return this.#put(path, toTree(value), true);
  }

  replace(path: readonly string[], value: JsonValue): boolean {
    return this.#put(path, toTree(value), false);
  }

  remove(path: readonly string[]): boolean {
    return this.#take(path) !== undefined;
  }

  move(from: readonly string[], to: readonly string[]): boolean {
    const value = this.#take(from);
    return value !== undefined && this.#put(to, value, true);
  }

  copy(from: readonly string[], to: readonly string[]): boolean {
    const value = this.#read(from);
    if (value === undefined) return false;
    return this.#put(
      to,
      guarded(() => this.#cloned(value, 0)),
      true,
    );
  }

  #cloned(value: Tree, outer: number): Tree {
    this.#countCopied(typeof value === 'string' ? value.length + 2 : 2);
    if (typeof value !== 'object' || value === null) return value;
    if (outer >= nestingLimit) throw nestedTooDeeply(nestingLimit);
    if (Array.isArray(value)) return value.map((element) => this.#cloned(element, outer + 1));
    const entries: [string, Tree][] = [];
    for (const [key, child] of value) {
      this.#countCopied(key.length + 4);
      entries.push([key, this.#cloned(child, outer + 1)]);
    }
    return new Map(entries);
  }

  #countCopied(bytes: number): void {
    this.#copiedBytes += bytes;
    if (this.#copiedBytes > copiedLimitBytes) {
      throw new PatchError(
        'unprocessable',
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${copiedLimitBytes}`,
      );
    }
  }

  #read(path: readonly string[]): Tree | undefined {
    let current: Tree | undefined = this.#root;
    for (const segment of path) {
      if (Array.isArray(current)) {
        const index = arrayIndex(segment, current.length);
        current = index === undefined ? undefined : current[index];
      } else if (current instanceof Map) current = current.get(segment);
      else return undefined;
    }
    return current;
  }

  #place(path: readonly string[]): Place | undefined {
    const segment = path.at(-1);
    if (segment === undefined) return { parent: undefined, segment: '' };
    const parent = this.#read(path.slice(0, -1));
    return typeof parent === 'object' && parent !== null ? { parent, segment } : undefined;
  }

  #put(path: readonly string[], value: Tree, insert: boolean): boolean {
    const place = this.#place(path);
    if (place === undefined) return false;
    const { parent, segment } = place;
    if (parent === undefined) this.#root = value;
    else if (!Array.isArray(parent)) parent.set(segment, value);
    else if (insert) {
      const index = segment === '-' ? parent.length : arrayIndex(segment, parent.length + 1);
      if (index === undefined) return false;
      this.#countShifted(parent.length - index);
      parent.splice(index, 0, value);
    } else {
      const index = arrayIndex(segment, parent.length);
      if (index === undefined) return false;
      parent[index] = value;
    }
    return true;
  }

  /** Takes the value away and gives it; undefined when there is none. */
  #take(path: readonly string[]): Tree | undefined {
    const place = this.#place(path);
    const value = this.#read(path);
    if (place === undefined || value === undefined) return undefined;
    const { parent, segment } = place;
    if (parent === undefined) this.#root = null;
    else if (!Array.isArray(parent)) parent.delete(segment);
    else {
      const index = Number(segment);
      this.#countShifted(parent.length - index);
      parent.splice(index, 1);
    }
    return value;
  }

  #countShifted(elements: number): void {
    this.#shifted += elements;
    if (this.#shifted > shiftedLimit) {
      throw new PatchError(
        'unprocessable',
        'the operations push more list elements about than this API server does: add at the end ("-"), or replace the whole list',
      );
    }
  }
}

function guarded<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof ComplexityError) {
      throw new PatchError('unprocessable', `the patch makes of the object what is not accepted: ${error.message}`);
    }
    throw error;
  }
}

function toTree(value: JsonValue): Tree {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toTree);
  return new Map(Object.entries(value).map(([key, child]) => [key, toTree(child)]));
}

function toJson(tree: Tree, outer: number): JsonValue {
  if (typeof tree !== 'object' || tree === null) return tree;
  // Moves can make what is deep deeper.
  if (outer >= nestingLimit) throw nestedTooDeeply(nestingLimit);
  if (Array.isArray(tree)) return tree.map((element) => toJson(element, outer + 1));
  const entries: [string, JsonValue][] = [];
  for (const [key, child] of tree) entries.push([key, toJson(child, outer + 1)]);
  return Object.fromEntries(entries);
}

/** Costs no more than the value is large, however large the tree is. */
function isEqual(tree: Tree, value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return tree === value;
  if (Array.isArray(value)) {
    if (!Array.isArray(tree) || tree.length !== value.length) return false;
    return value.every((element, index) => isEqual(tree[index]!, element));
  }
  if (!(tree instanceof Map)) return false;
  const entries = Object.entries(value);
  if (entries.length !== tree.size) return false;
  return entries.every(([key, child]) => {
    const own = tree.get(key);
    return own !== undefined && isEqual(own, child);
  });
}

function arrayIndex(segment: string, length: number): number | undefined {
  if (!/^(0|[1-9]\d*)$/.test(segment)) return undefined;
  const index = Number(segment);
  return index < length ? index : undefined;
}
