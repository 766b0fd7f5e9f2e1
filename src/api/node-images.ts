import { WeakInterner } from '../base/weak-interner.ts';

/** One name of an image on a node. */
export interface NodeImage {
  /** The name that the node reports, with tag or digest. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** Images of a v1 Node in JSON. */
export type RawNodeImages = readonly { readonly names?: readonly string[] | null; readonly sizeBytes?: number }[];

export const noImages: readonly NodeImage[] = Object.freeze([]);

/** Reads the images of nodes. Nodes with the same images share the objects. One instance per process. */
export class NodeImages {
  /** size and name -> image, while a node has it */
  readonly #images = new WeakInterner<NodeImage>();

  read(raw: RawNodeImages | null | undefined): readonly NodeImage[] {
    if (raw === undefined || raw === null || raw.length === 0) return noImages;
    return raw.flatMap(({ names, sizeBytes: size = 0 }) =>
      (names ?? []).map((name) => this.#images.intern(`${size} ${name}`, { name, size })),
    );
  }
}

export function sameImages(a: readonly NodeImage[], b: readonly NodeImage[]): boolean {
  return a === b || (a.length === b.length && a.every((image, i) => image === b[i]));
}

/** Returns the image name as nodes report it: adds the tag `latest` if a pod names neither tag nor digest. */
export function normalizedImageName(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}
