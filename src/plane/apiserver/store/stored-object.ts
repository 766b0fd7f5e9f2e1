import type { JsonObject } from '../json.ts';

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

/** The key that orders a collection: lists are sorted by it. */
export function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
