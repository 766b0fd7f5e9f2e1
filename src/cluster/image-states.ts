import type { NodeImage } from '../api/node-images.ts';

/** An image that at least one known node has. The same object for as long as one has it. */
export interface ImageView {
  readonly name: string;
  /** Bytes, as the first node said that had it. */
  readonly size: number;
  /** How many nodes have it. */
  readonly nodes: number;
}

export interface ImagesView {
  /** Undefined: no node has an image of this name. */
  image(name: string): ImageView | undefined;
}

interface Image extends ImageView {
  nodes: number;
}

const none: readonly ImageView[] = Object.freeze([]);

/** Which images nodes have, and how many of them. */
export class ImageStates implements ImagesView {
  /** name -> image */
  readonly #images = new Map<string, Image>();

  image(name: string): ImageView | undefined {
    return this.#images.get(name);
  }

  /** A node that had the images `before`, as this answered then, has `now` these. */
  replace(before: readonly ImageView[], now: readonly NodeImage[]): readonly ImageView[] {
    // As in kube-scheduler the old ones go first: one that no other node has takes its size from this node again.
    for (const image of before as readonly Image[]) if (--image.nodes === 0) this.#images.delete(image.name);
    if (now.length === 0) return none;
    const images = new Set<Image>();
    for (const { name, size } of now) {
      let image = this.#images.get(name);
      if (image === undefined) this.#images.set(name, (image = { name, size, nodes: 0 }));
      images.add(image);
    }
    for (const image of images) image.nodes++;
    return [...images];
  }
}
