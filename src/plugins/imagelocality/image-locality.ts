import type { Pod, PodTemplate } from '../../api/pod.ts';
import type { ImageView } from '../../cluster/image-states.ts';
import type { NodeView } from '../../cluster/node-info.ts';
import type { CycleState } from '../../framework/cycle-state.ts';
import type { ClusterLister } from '../../framework/plugin-handle.ts';
import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { skip } from '../../framework/status.ts';
import type { Status } from '../../framework/status.ts';
import { maxNodeScore } from '../node-score.ts';
import { noArguments } from '../plugin-arguments.ts';

const name = 'ImageLocality';
const mebibyte = 1024 * 1024;
/** Thresholds of the size of present images: the minimum for all images of a pod together, the maximum per image. */
const minBytes = 23 * mebibyte;
const maxBytesPerImage = 1000 * mebibyte;

/** An image of the pod that some node has, and its score in bytes. */
interface PresentImage {
  readonly image: ImageView;
  readonly scaledSize: number;
}

/**
 * Prefers nodes that have the pod's images (of containers, init containers and image volumes), by size. Uses kube-scheduler's formula: an
 * image counts less the fewer nodes have it, so that pods don't all follow the first one.
 */
class ImageLocality implements Plugin {
  readonly name = name;
  readonly readsImages = true;
  readonly #cluster: ClusterLister;
  // Cached for the latest template and cluster generation, because a cycle scores one template on thousands of nodes.
  #template: PodTemplate | undefined;
  #generation = -1;
  #present: readonly PresentImage[] = [];

  constructor(cluster: ClusterLister) {
    this.#cluster = cluster;
  }

  sign(pod: Pod): string {
    const { images } = pod.template;
    return images.length === 0 ? '' : images.join(' ');
  }

  signCluster(pod: Pod): string {
    return this.#find(pod.template)
      .map(({ image, scaledSize }) => `${image.name} ${scaledSize}`)
      .join(' ');
  }

  preScore(_state: CycleState, pod: Pod): Status | undefined {
    return this.#find(pod.template).length === 0 ? skip : undefined;
  }

  score(_state: CycleState, pod: Pod, node: NodeView): number {
    const present = this.#find(pod.template);
    let sum = 0;
    for (let i = 0; i < present.length; i++) if (node.images.includes(present[i]!.image)) sum += present[i]!.scaledSize;
    const maxBytes = maxBytesPerImage * pod.template.images.length;
    const counted = Math.min(Math.max(sum, minBytes), maxBytes);
    return Math.floor((maxNodeScore * (counted - minBytes)) / (maxBytes - minBytes));
  }

  /** Returns the images in the pod's order; an image named twice counts twice. */
  #find(template: PodTemplate): readonly PresentImage[] {
    const { generation, images, nodes } = this.#cluster;
    if (this.#template === template && this.#generation === generation) return this.#present;
    this.#present = template.images.flatMap((imageName) => {
      const image = images.image(imageName);
      if (image === undefined) return [];
      return [{ image, scaledSize: Math.trunc(image.size * (image.nodes / nodes.length)) }];
    });
    this.#template = template;
    this.#generation = generation;
    return this.#present;
  }
}

export const createImageLocality: PluginFactory = (args, { cluster }) => {
  noArguments(name).read(args);
  return new ImageLocality(cluster);
};
