import type { NodeImage } from '../api/node-images.ts';

/** An image on at least one known node. The object stays the same as long as any node has the image. */
export interface ImageView {
  readonly name: string;
  /** Size in bytes, as reported by the first node that had the image. */
  readonly size: number;
  /** Number of nodes with the image. */
  readonly nodes: number;
}

export interface ImagesView {
  /** Returns undefined if no node has an image of this name. */
  image(name: string): ImageView | undefined;
}

interface Image extends ImageView {
  nodes: number;
}

const none: readonly ImageView[] = Object.freeze([]);

/** The images on nodes, with the number of nodes for each. */
export class ImageStates implements ImagesView {
  /** name -> image */
  readonly #images = new Map<string, Image>();

  image(name: string): ImageView | undefined {
    return this.#images.get(name);
  }

  /** Replaces the images of a node; `before` is the previous result for this node. */
  replace(before: readonly ImageView[], now: readonly NodeImage[]): readonly ImageView[] {
    // As in kube-scheduler, remove the old images first: an image that no other node has gets its size from this node again.
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
