import { WeakInterner } from '../base/weak-interner.ts';

/** One name of an image that a node has. */
export interface NodeImage {
  /** As the node says it: with tag or digest. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** What a v1 Node says of its images, as JSON gives it. */
export type RawNodeImages = readonly { readonly names?: readonly string[] | null; readonly sizeBytes?: number }[];

export const noImages: readonly NodeImage[] = Object.freeze([]);

/** Reads the images of nodes, sharing what nodes have in common; one per process. */
export class NodeImages {
  /** size and name -> the image, while a node has it */
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

/** The name by which nodes know an image that a pod names without tag and digest: with the tag `latest`. */
export function normalizedImageName(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}
