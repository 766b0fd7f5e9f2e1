import { isDocument, isNode, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml';
import type { Document } from 'yaml';
import { isObject } from './is-object.ts';
import type { Manifest, ManifestObject } from './manifest.ts';

export interface ParsedManifests {
  readonly manifests: readonly Manifest[];
  /** `jobs.yaml, document 2, line 14: metadata.name: must be a non-empty string` */
  readonly problems: readonly string[];
}

/** A value and its path in the document, such as ['items', 0] for the first item of a List. */
interface LocatedValue {
  readonly value: unknown;
  readonly path: readonly (string | number)[];
}

/**
 * Parses the YAML or JSON documents of one file; JSON is parsed as YAML. Skips empty documents and expands Lists into their items. Checks
 * only the fields that are necessary to send an object to the server, which validates the rest.
 */
export function parseManifests(file: string, text: string): ParsedManifests {
  const lines = new LineCounter();
  const manifests: Manifest[] = [];
  const problems: string[] = [];
  // duplicateKeys checks for duplicates, because the library would compare each key with every other key.
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  if (!Array.isArray(documents)) return { manifests, problems }; // an empty file
  for (const [index, document] of documents.entries()) {
    if (!isDocument(document)) continue;
    const where = `${file}, document ${index + 1}`;
    const errors = [
      ...document.errors.map(({ pos, message }) => ({ offset: pos[0], message })),
      ...(document.errors.length > 0 ? [] : duplicateKeys(document)),
    ];
    for (const { offset, message } of errors) {
      problems.push(`${where}, line ${lines.linePos(offset).line}: not valid YAML or JSON: ${wording(message)}`);
    }
    if (errors.length > 0) continue;
    const value = toJson(document, where, problems);
    if (value === undefined || value === null) continue;
    for (const { value: object, path } of objectsIn({ value, path: [] })) {
      const lineOf = (field: string): number =>
        lines.linePos(offsetOf(document, [...path, ...splitFieldPath(field)])).line;
      const prefix = path.length === 0 ? '' : `${path.join('.')}.`;
      const found = problemsOf(object).map(
        ([field, problem]) => `${where}, line ${lineOf(field)}: ${prefix}${field === '' ? '' : `${field}: `}${problem}`,
      );
      problems.push(...found);
      if (found.length === 0) manifests.push({ object: object as ManifestObject, where, lineOf });
    }
  }
  return { manifests, problems };
}

/** Returns the message of an error of the library, whose parser is recursive. */
function wording(message: string): string {
  return message.startsWith('Maximum call stack') ? 'nested too deeply' : message;
}

function toJson(document: Document, where: string, problems: string[]): unknown {
  try {
    const value = document.toJS() as unknown;
    if (!containsItself(value)) return value;
    problems.push(`${where}: not valid YAML or JSON: an alias refers to a node that contains it`);
  } catch (error) {
    problems.push(`${where}: not valid YAML or JSON: ${(error as Error).message}`); // an alias to a missing anchor
  }
  return undefined;
}

function duplicateKeys(document: Document): { readonly offset: number; readonly message: string }[] {
  const found: { offset: number; message: string }[] = [];
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) found.push({ offset: key.range?.[0] ?? 0, message: 'Map keys must be unique' });
        seen.add(key.value);
      }
    },
  });
  return found;
}

/** Returns whether a value contains itself. Visits each nested value once, even if several aliases refer to it. */
function containsItself(value: unknown, ancestors = new Set<unknown>(), visited = new Set<unknown>()): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (ancestors.has(value)) return true;
  if (visited.has(value)) return false;
  visited.add(value);
  ancestors.add(value);
  const found = Object.values(value).some((child) => containsItself(child, ancestors, visited));
  ancestors.delete(value);
  return found;
}

function objectsIn(located: LocatedValue): LocatedValue[] {
  const { value, path } = located;
  if (!isObject(value) || typeof value.kind !== 'string' || !value.kind.endsWith('List')) return [located];
  if (!Array.isArray(value.items)) return [located];
  return value.items.flatMap((item: unknown, index) => objectsIn({ value: item, path: [...path, 'items', index] }));
}

/** Returns pairs of field path and problem. */
function problemsOf(value: unknown): [string, string][] {
  if (!isObject(value))
    return [['', `must be a Kubernetes object, not ${Array.isArray(value) ? 'a list' : 'a single value'}`]];
  const problems: [string, string][] = [];
  const { apiVersion, kind, metadata } = value;
  if (!isNonEmptyString(apiVersion)) problems.push(['apiVersion', 'must be a non-empty string such as v1']);
  if (!isNonEmptyString(kind)) problems.push(['kind', 'must be a non-empty string such as Pod']);
  if (!isObject(metadata)) return [...problems, ['metadata', 'must be an object with a name']];
  const { name, generateName, namespace } = metadata;
  if (!isNonEmptyString(name) && !(name === undefined && isNonEmptyString(generateName))) {
    problems.push(['metadata.name', 'must be a non-empty string']);
  }
  if (namespace !== undefined && !isNonEmptyString(namespace))
    problems.push(['metadata.namespace', 'must be a non-empty string']);
  return problems;
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Splits a path such as `spec.containers[0].resources.limits[cpu]`. */
function splitFieldPath(path: string): (string | number)[] {
  const parts = path.match(/[^.[\]]+|\[[^\]]*\]/g) ?? [];
  return parts.map((part) => {
    const key = part.startsWith('[') ? part.slice(1, -1).replace(/^"(.*)"$/, '$1') : part;
    return /^\d+$/.test(key) ? Number(key) : key;
  });
}

/** Returns the offset of the deepest node that exists on the path. */
function offsetOf(document: Document, path: readonly (string | number)[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return document.range?.[0] ?? 0;
}
