import type { JsonObject, JsonValue } from '../json.ts';

/**
 * One step of a path through an object, as `fieldsV1` writes it: `f:NAME` a field or a key of a map, `k:{…}` the element of a
 * list with these keys, `v:…` the element of a list that is this value, `i:N` the Nth element.
 */
export type PathElement = string;

/** A set of paths through an object. A path may be in it while the paths before it are not, and the other way round. */
export class FieldSet {
  /** first element of a path of one element */
  readonly #members: Set<PathElement>;
  /** first element of longer paths -> their rest */
  readonly #children: Map<PathElement, FieldSet>;

  constructor(members = new Set<PathElement>(), children = new Map<PathElement, FieldSet>()) {
    this.#members = members;
    this.#children = children;
  }

  get isEmpty(): boolean {
    return this.#members.size === 0 && this.#children.size === 0;
  }

  /** In place, for whoever builds the set. The empty path is in no set. */
  insert(path: readonly PathElement[]): void {
    const [first, ...rest] = path;
    if (first === undefined) return;
    if (rest.length === 0) {
      this.#members.add(first);
      return;
    }
    let below = this.#children.get(first);
    if (below === undefined) this.#children.set(first, (below = new FieldSet()));
    below.insert(rest);
  }

  /** Whether exactly this path is in the set. */
  contains(path: readonly PathElement[]): boolean {
    const [first, ...rest] = path;
    if (first === undefined) return false;
    return rest.length === 0 ? this.has(first) : this.below(first)?.contains(rest) === true;
  }

  /** Whether the path of this one element is in the set. */
  has(element: PathElement): boolean {
    return this.#members.has(element);
  }

  /** The rest of the paths that begin with the element and go on. */
  below(element: PathElement): FieldSet | undefined {
    return this.#children.get(element);
  }

  union(other: FieldSet): FieldSet {
    const children = new Map(this.#children);
    for (const [element, theirs] of other.#children) {
      const ours = children.get(element);
      children.set(element, ours === undefined ? theirs : ours.union(theirs));
    }
    return new FieldSet(new Set([...this.#members, ...other.#members]), children);
  }

  intersection(other: FieldSet): FieldSet {
    const children = new Map<PathElement, FieldSet>();
    for (const [element, ours] of this.#children) {
      const theirs = other.#children.get(element);
      const both = theirs === undefined ? undefined : ours.intersection(theirs);
      if (both?.isEmpty === false) children.set(element, both);
    }
    return new FieldSet(new Set([...this.#members].filter((element) => other.has(element))), children);
  }

  /** Without exactly the paths of the other; what lies below them stays. */
  difference(other: FieldSet): FieldSet {
    return this.#without(other, (ours, theirs) => ours.difference(theirs));
  }

  /** Without the paths of the other and everything below them. */
  withoutTrees(other: FieldSet): FieldSet {
    const rest = this.#without(other, (ours, theirs) => ours.withoutTrees(theirs));
    for (const element of other.#members) rest.#children.delete(element);
    return rest;
  }

  /** Only the paths of the other and everything below them. */
  onlyTrees(other: FieldSet): FieldSet {
    const kept = new FieldSet();
    for (const [element, ours] of this.#children) {
      const theirs = other.#children.get(element);
      const both = other.has(element) ? ours : theirs === undefined ? undefined : ours.onlyTrees(theirs);
      if (both?.isEmpty === false) kept.#children.set(element, both);
    }
    for (const element of this.#members) if (other.has(element)) kept.#members.add(element);
    return kept;
  }

  /** A copy in which `extend` has had its say about every step; for adding paths. */
  map(
    extend: (element: PathElement, below: FieldSet) => { readonly isMember: boolean; readonly below: FieldSet },
  ): FieldSet {
    const copy = new FieldSet(new Set(this.#members));
    for (const [element, below] of this.#children) {
      const extended = extend(element, below);
      if (extended.isMember) copy.#members.add(element);
      copy.#children.set(element, extended.below);
    }
    return copy;
  }

  /** The paths, sorted. */
  paths(): PathElement[][] {
    const found: PathElement[][] = [];
    for (const element of [...new Set([...this.#members, ...this.#children.keys()])].sort()) {
      if (this.#members.has(element)) found.push([element]);
      for (const rest of this.#children.get(element)?.paths() ?? []) found.push([element, ...rest]);
    }
    return found;
  }

  /** `fieldsV1`: a step is a key, and `.` marks a path that is in the set although longer ones go on from it. */
  toJson(): JsonObject {
    // A plain object: no step is the name of something that objects inherit.
    const json: JsonObject = {};
    for (const element of [...new Set([...this.#members, ...this.#children.keys()])].sort()) {
      const below = this.#children.get(element)?.toJson();
      if (below === undefined) json[element] = {};
      else json[element] = this.#members.has(element) ? { '.': {}, ...below } : below;
    }
    return json;
  }

  #without(other: FieldSet, below: (ours: FieldSet, theirs: FieldSet) => FieldSet): FieldSet {
    const children = new Map<PathElement, FieldSet>();
    for (const [element, ours] of this.#children) {
      const theirs = other.#children.get(element);
      const rest = theirs === undefined ? ours : below(ours, theirs);
      if (!rest.isEmpty) children.set(element, rest);
    }
    return new FieldSet(new Set([...this.#members].filter((element) => !other.has(element))), children);
  }
}

/** Fields that cannot be read: clients may send any. */
export class FieldSetError extends Error {
  override readonly name = 'FieldSetError';
}

/** Deeper than any object that is stored. */
const depthLimit = 128;

/** Reads `fieldsV1`. Throws FieldSetError. */
export function readFieldSet(json: JsonValue | undefined, depth = 0): FieldSet {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new FieldSetError('fields must be an object');
  if (depth > depthLimit) throw new FieldSetError(`fields are nested more than ${depthLimit} deep`);
  const members = new Set<PathElement>();
  const children = new Map<PathElement, FieldSet>();
  for (const [text, below] of Object.entries(json)) {
    if (text === '.') continue;
    const element = canonicalElement(text);
    const rest = readFieldSet(below, depth + 1);
    if (rest.isEmpty || Object.hasOwn(below as JsonObject, '.')) members.add(element);
    if (!rest.isEmpty) children.set(element, rest);
  }
  return new FieldSet(members, children);
}

/** The one way to write an element, so that equal ones are equal texts. */
function canonicalElement(text: string): PathElement {
  const rest = text.slice(2);
  try {
    switch (text.slice(0, 2)) {
      case 'f:':
        return text;
      case 'k:': {
        const keys: unknown = JSON.parse(rest);
        if (typeof keys === 'object' && keys !== null && !Array.isArray(keys)) return keysElement(keys as JsonObject);
        break;
      }
      case 'v:':
        return valueElement(JSON.parse(rest) as JsonValue);
      case 'i:':
        if (/^\d+$/.test(rest)) return text;
        break;
    }
  } catch (error) {
    throw new FieldSetError(`${JSON.stringify(text)} is not an element of a path`, { cause: error });
  }
  throw new FieldSetError(`${JSON.stringify(text)} is not an element of a path`);
}

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** The element of a list that these keys tell from others. */
export function keysElement(keys: JsonObject): PathElement {
  const sorted = Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1));
  return `k:${JSON.stringify(Object.fromEntries(sorted))}`;
}

export function valueElement(value: JsonValue): PathElement {
  return `v:${JSON.stringify(value)}`;
}

/** A path as messages show it: `.spec.containers[name="main"].image`. */
export function pathText(path: readonly PathElement[]): string {
  return path.map(elementText).join('');
}

function elementText(element: PathElement): string {
  const rest = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${rest}`;
    case 'k:': {
      const keys = Object.entries(JSON.parse(rest) as JsonObject);
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    }
    case 'v:':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}
