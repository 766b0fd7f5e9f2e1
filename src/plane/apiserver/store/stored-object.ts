import type { JsonObject, JsonValue } from '../json.ts';

/**
 * One version of one object, never changed once made: lists, watches and history share it by reference. A change of the
 * object makes a new StoredObject.
 */
export class StoredObject {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: number;
  /** The object as stored; to be treated as frozen. */
  readonly object: JsonObject;
  /** representation (such as "v1") -> the object's JSON text in it */
  #texts: Map<string, string> | undefined;

  #ownBytes: number | undefined;

  constructor(object: JsonObject, resourceVersion: number) {
    const metadata = object.metadata as JsonObject;
    this.namespace = (metadata.namespace as string | undefined) ?? '';
    this.name = metadata.name as string;
    this.uid = metadata.uid as string;
    this.resourceVersion = resourceVersion;
    this.object = object;
  }

  get key(): string {
    return objectKey(this.namespace, this.name);
  }

  /** About how much memory it holds, with the texts that were made of it so far. Parts that it shares with other versions count. */
  get bytes(): number {
    let bytes = (this.#ownBytes ??= approximateBytes(this.object));
    for (const text of this.#texts?.values() ?? []) bytes += text.length;
    return bytes;
  }

  /** The text of a representation, made by `encode` at the first call and shared by everyone who asks later. */
  text(representation: string, encode: (object: JsonObject) => string): string {
    this.#texts ??= new Map();
    let text = this.#texts.get(representation);
    if (text === undefined) {
      text = encode(this.object);
      this.#texts.set(representation, text);
    }
    return text;
  }
}

/** What V8 needs for an object, or for a list, and for each entry in it: measured, and rounded. */
const headBytes = 32;
const entryBytes = 16;

function approximateBytes(value: JsonValue): number {
  if (typeof value === 'string') return headBytes + value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = headBytes;
  if (Array.isArray(value)) for (const element of value) bytes += entryBytes + approximateBytes(element);
  else for (const key in value) bytes += entryBytes + approximateBytes(value[key]!);
  return bytes;
}

/** The key that orders a collection: lists are sorted by it. */
export function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
