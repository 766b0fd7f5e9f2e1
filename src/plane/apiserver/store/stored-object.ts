import type { JsonObject } from '../json.ts';

/**
 * One immutable version of one object. Lists, watches and history share it by reference. Each write creates a new
 * StoredObject.
 */
export class StoredObject {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: number;
  /** The object as stored. Treat it as frozen. */
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

  /** Returns the JSON text of a representation. The first call encodes it; later calls reuse the text. */
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

/** Returns an object's key. Lists are sorted by it. */
export function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
